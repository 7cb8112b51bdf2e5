/*
 * The functions of GCC's OpenMP runtime that the compiler puts calls of into programs.
 *
 * What a team runs is a function and its data: the runtime is given one of ours, which says
 * when a member begins and ends. A static loop calls nothing but the barrier at its end, which
 * looks like any other; where single blocks end nobody says, so that a call of "single" is only
 * how long a thread took to be told whether the block is for it.
 *
 * The runtime is the one that the program would have called without us: the next in the order
 * in which symbols are looked for, or, where none is in that, the one that the caller was
 * linked with (a module of Python may bring its own).
 */
#include "complain.h"
#include "memory.h"
#include "openmp.h"
#include "stack.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))
#define RUNS __attribute__((section("snag_runs"))) /* calls functions of the program */
#define MAX_CALLERS 1024                           /* a power of two */
#define MAX_PROBES 32                              /* that are looked at for one of them */

extern const char __start_snag_runs[] __attribute__((visibility("hidden")));
extern const char __stop_snag_runs[] __attribute__((visibility("hidden")));

/* Where the program has called us, or, when the compiler made that call a jump, its caller was;
 * NULL: a function that we have called did that last. */
static inline const void *place_of(const void *site)
{
    site = (const void *)stack_address((uintptr_t)site);
    return (const char *)site >= __start_snag_runs && (const char *)site < __stop_snag_runs
               ? NULL
               : site;
}

static void run_member(void *data);

/* ------------------------------------------------------------------------- the real functions
 */

struct real {
    const char *name;
    void *_Atomic function; /* of all callers; NULL: not known, or it depends on the caller */
};

struct caller {
    const void *site;
    const struct real *of;
    void *function;
};

static struct caller *_Atomic callers[MAX_CALLERS];

/* LLVM's runtime has these functions too, and tells what it does by itself. */
static _Atomic int has_ompt;

static void look_for_ompt(void *function)
{
    Dl_info info;
    void *runtime;

    if (atomic_load(&has_ompt) || dladdr(function, &info) == 0)
        return;
    runtime = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (runtime && dlsym(runtime, "__kmpc_fork_call"))
        atomic_store(&has_ompt, 1);
    if (runtime)
        dlclose(runtime);
}

/* The function of that name that is found from an object that is loaded; NULL if it is ours. */
static void *from_object(const char *path, const char *name)
{
    void *object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD), *function = NULL;
    Dl_info of_it, of_us;

    if (object) {
        function = dlsym(object, name);
        dlclose(object);
    }
    if (function == NULL || dladdr(function, &of_it) == 0 ||
        dladdr((void *)run_member, &of_us) == 0 || of_it.dli_fbase == of_us.dli_fbase)
        return NULL;
    return function;
}

static void *of_caller(const char *name, const void *site)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (dladdr1(site, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return NULL;
    return from_object(map->l_name, name);
}

struct paths {
    char **path;
    size_t n, cap;
};

static int add_path(struct dl_phdr_info *object, size_t bytes, void *ctx)
{
    struct paths *paths = ctx;

    (void)bytes;
    if (object->dlpi_name == NULL || *object->dlpi_name == '\0')
        return 0;
    if (memory_grow(&paths->path, paths->n, paths->cap))
        paths->path[paths->n++] = memory_copy(object->dlpi_name);
    return 0;
}

/* Calls that are jumps come from somewhere else: then it is the first that there is. Objects
 * must not be opened while they are gone through. */
static void *of_anybody(const char *name)
{
    struct paths paths = {0};
    void *function = NULL;

    dl_iterate_phdr(add_path, &paths);
    for (size_t i = 0; i < paths.n; i++) {
        if (function == NULL)
            function = from_object(paths.path[i], name);
        memory_free(paths.path[i]);
    }
    memory_free(paths.path);
    return function;
}

static struct caller *_Atomic *caller_at(const struct caller *wanted, size_t probe)
{
    uint64_t key = (uint64_t)(uintptr_t)wanted->site ^ (uint64_t)(uintptr_t)wanted->of >> 4;

    return &callers[((key * 0x9e3779b97f4a7c15u >> 32) + probe) & (MAX_CALLERS - 1)];
}

/* The function that was found for such a caller; NULL if none was, or it had no place. */
static void *found_for(const struct caller *wanted)
{
    for (size_t i = 0; i < MAX_PROBES; i++) {
        const struct caller *caller = atomic_load(caller_at(wanted, i));

        if (caller == NULL)
            return NULL;
        if (caller->site == wanted->site && caller->of == wanted->of)
            return caller->function;
    }
    return NULL;
}

/* Others may read it as soon as it is there: it stays. */
static void remember(const struct caller *found)
{
    struct caller *caller = memory_resize(NULL, 1, sizeof *caller);

    *caller = *found;
    for (size_t i = 0; i < MAX_PROBES; i++) {
        struct caller *nobody = NULL;

        if (atomic_compare_exchange_strong(caller_at(found, i), &nobody, caller))
            return;
    }
    memory_free(caller);
}

/* NULL if nothing that is loaded has it. */
static __attribute__((noinline)) void *look_for(struct real *real, const void *site)
{
    struct caller caller = {.site = site, .of = real};
    void *function = found_for(&caller);

    if (function)
        return function;
    function = dlsym(RTLD_NEXT, real->name);
    if (function) {
        look_for_ompt(function);
        atomic_store(&real->function, function);
        return function;
    }
    function = of_caller(real->name, site);
    if (function == NULL)
        function = of_anybody(real->name);
    if (function == NULL)
        return NULL;
    look_for_ompt(function);
    caller.function = function;
    remember(&caller);
    return function;
}

static inline void *find_if_any(struct real *real, const void *site)
{
    void *function = atomic_load_explicit(&real->function, memory_order_relaxed);

    return __builtin_expect(function != NULL, 1) ? function : look_for(real, site);
}

static inline void *find(struct real *real, const void *site)
{
    void *function = find_if_any(real, site);

    if (__builtin_expect(function == NULL, 0)) {
        complain("no %s is loaded that the program could call", real->name);
        abort();
    }
    return function;
}

/* REAL -- the function of that name that the caller means: a pointer of the type of ours. */
#define REAL(name) ((__typeof__(&name))find(&real_##name, caller))
#define SITE place_of(caller)
#define BEFORE(name)                                                                           \
    static struct real real_##name = {#name, NULL};                                            \
    const void *caller = __builtin_return_address(0)

/* Whether somebody else tells what this runtime does. Asked once its function is known. */
static inline int is_told_by_ompt(void)
{
    return __builtin_expect(atomic_load_explicit(&has_ompt, memory_order_relaxed), 0);
}

/* ---------------------------------------------------------------------------- parallel regions
 */

/* What the members of a team are given in place of the program's function. */
struct gomp_region {
    struct openmp_fork fork;
    void (*function)(void *);
    void *data;
};

/* GCC's runtime says which member of its team the calling thread is; another that has its
 * functions need not. */
static void number_member(const struct openmp_fork *fork)
{
    static struct real number = {"omp_get_thread_num", NULL},
                       size = {"omp_get_team_size", NULL};
    int (*thread_num)(void) = find_if_any(&number, fork->site);
    int (*team_size)(int) = find_if_any(&size, fork->site);
    int index = thread_num ? thread_num() : 0, n = team_size ? team_size(1) : 0;

    openmp_number(fork, index > 0 ? (uint32_t)index : 0, n > 0 ? (uint32_t)n : 0);
}

RUNS static void run_member(void *data)
{
    const struct gomp_region *region = data;

    if (__builtin_expect(recorder_self == NULL && region->fork.team, 0))
        number_member(&region->fork);
    openmp_begin(&region->fork);
    region->function(region->data);
    if (openmp_is_by_this_thread(&region->fork))
        openmp_wait(&region->fork);
    else
        openmp_end(&region->fork);
}

static void region_ends(const struct gomp_region *region)
{
    openmp_end(&region->fork);
    openmp_join(&region->fork);
}

/* PARALLEL -- a function that runs a team; `more` are its arguments after the first three. */
#define PARALLEL(name, more, call)                                                             \
    EXPORTED void name more;                                                                   \
    void name more                                                                             \
    {                                                                                          \
        struct gomp_region region = {.function = function, .data = data};                      \
        BEFORE(name);                                                                          \
        __typeof__(&name) real = REAL(name);                                                   \
                                                                                               \
        if (is_told_by_ompt()) {                                                               \
            real call(function, data);                                                         \
            return;                                                                            \
        }                                                                                      \
        openmp_fork(&region.fork, SITE, n_threads);                                            \
        real call(run_member, &region);                                                        \
        region_ends(&region);                                                                  \
    }

#define TEAM void (*function)(void *), void *data, unsigned n_threads
#define PLAIN (TEAM, unsigned flags)
#define PLAIN_CALL(f, d) (f, d, n_threads, flags)
#define SECTIONS (TEAM, unsigned count, unsigned flags)
#define SECTIONS_CALL(f, d) (f, d, n_threads, count, flags)
#define CHUNKS (TEAM, long start, long end, long step, long chunk, unsigned flags)
#define CHUNKS_CALL(f, d) (f, d, n_threads, start, end, step, chunk, flags)
#define RUNTIME (TEAM, long start, long end, long step, unsigned flags)
#define RUNTIME_CALL(f, d) (f, d, n_threads, start, end, step, flags)

PARALLEL(GOMP_parallel, PLAIN, PLAIN_CALL)
PARALLEL(GOMP_parallel_sections, SECTIONS, SECTIONS_CALL)
PARALLEL(GOMP_parallel_loop_static, CHUNKS, CHUNKS_CALL)
PARALLEL(GOMP_parallel_loop_dynamic, CHUNKS, CHUNKS_CALL)
PARALLEL(GOMP_parallel_loop_guided, CHUNKS, CHUNKS_CALL)
PARALLEL(GOMP_parallel_loop_nonmonotonic_dynamic, CHUNKS, CHUNKS_CALL)
PARALLEL(GOMP_parallel_loop_nonmonotonic_guided, CHUNKS, CHUNKS_CALL)
PARALLEL(GOMP_parallel_loop_runtime, RUNTIME, RUNTIME_CALL)
PARALLEL(GOMP_parallel_loop_nonmonotonic_runtime, RUNTIME, RUNTIME_CALL)
PARALLEL(GOMP_parallel_loop_maybe_nonmonotonic_runtime, RUNTIME, RUNTIME_CALL)

/* ------------------------------------------------------------------------------ within regions
 */

/* AROUND, AROUND_FOR -- a function that is a construct, without and with a result. */
#define AROUND(construct, name, parameters, arguments)                                         \
    EXPORTED void name parameters;                                                             \
    void name parameters                                                                       \
    {                                                                                          \
        BEFORE(name);                                                                          \
        __typeof__(&name) real = REAL(name);                                                   \
        uint32_t region = begin(OPENMP_##construct, SITE);                                     \
                                                                                               \
        real arguments;                                                                        \
        openmp_leave(region);                                                                  \
    }

#define AROUND_FOR(type, construct, name, parameters, arguments)                               \
    EXPORTED type name parameters;                                                             \
    type name parameters                                                                       \
    {                                                                                          \
        BEFORE(name);                                                                          \
        __typeof__(&name) real = REAL(name);                                                   \
        uint32_t region = begin(OPENMP_##construct, SITE);                                     \
        type result = real arguments;                                                          \
                                                                                               \
        openmp_leave(region);                                                                  \
        return result;                                                                         \
    }

static uint32_t begin(enum openmp_construct construct, const void *site)
{
    return is_told_by_ompt() ? REGION_FILTERED : openmp_enter(construct, site);
}

AROUND(BARRIER, GOMP_barrier, (void), ())
AROUND_FOR(bool, BARRIER, GOMP_barrier_cancel, (void), ())
AROUND_FOR(bool, SINGLE, GOMP_single_start, (void), ())
AROUND_FOR(void *, SINGLE, GOMP_single_copy_start, (void), ())
AROUND(TASKWAIT, GOMP_taskwait, (void), ())
AROUND(TASKWAIT, GOMP_taskwait_depend, (void **depend), (depend))

/* BEGINS -- a function that begins a construct which another one ends. */
#define BEGINS(construct, type, name, parameters, arguments)                                   \
    EXPORTED type name parameters;                                                             \
    type name parameters                                                                       \
    {                                                                                          \
        BEFORE(name);                                                                          \
        __typeof__(&name) real = REAL(name);                                                   \
                                                                                               \
        if (!is_told_by_ompt())                                                                \
            openmp_hold(OPENMP_##construct, SITE);                                             \
        return real arguments;                                                                 \
    }

/* ENDS_AT_BARRIER, ENDS -- the functions that end it, after a barrier or at once. */
#define ENDS_AT_BARRIER(construct, name)                                                       \
    EXPORTED void name(void);                                                                  \
    void name(void)                                                                            \
    {                                                                                          \
        BEFORE(name);                                                                          \
        __typeof__(&name) real = REAL(name);                                                   \
        uint32_t region = begin(OPENMP_IMPLICIT_BARRIER, SITE);                                \
                                                                                               \
        real();                                                                                \
        openmp_leave(region);                                                                  \
        openmp_let_go(OPENMP_##construct);                                                     \
    }

#define ENDS(construct, name)                                                                  \
    EXPORTED void name(void);                                                                  \
    void name(void)                                                                            \
    {                                                                                          \
        BEFORE(name);                                                                          \
        __typeof__(&name) real = REAL(name);                                                   \
                                                                                               \
        real();                                                                                \
        openmp_let_go(OPENMP_##construct);                                                     \
    }

#define LOOP(name)                                                                             \
    BEGINS(FOR, bool, GOMP_loop_##name##_start,                                                \
           (long start, long end, long step, long chunk, long *from, long *to),                \
           (start, end, step, chunk, from, to))
#define LOOP_AT_RUNTIME(name)                                                                  \
    BEGINS(FOR, bool, GOMP_loop_##name##_start,                                                \
           (long start, long end, long step, long *from, long *to),                            \
           (start, end, step, from, to))

typedef unsigned long long wide;
#define WIDE_LOOP(name)                                                                        \
    BEGINS(FOR, bool, GOMP_loop_ull_##name##_start,                                            \
           (bool is_up, wide start, wide end, wide step, wide chunk, wide *from, wide *to),    \
           (is_up, start, end, step, chunk, from, to))
#define WIDE_LOOP_AT_RUNTIME(name)                                                             \
    BEGINS(FOR, bool, GOMP_loop_ull_##name##_start,                                            \
           (bool is_up, wide start, wide end, wide step, wide *from, wide *to),                \
           (is_up, start, end, step, from, to))

#define LOOPS(kind)                                                                            \
    kind(static) kind(dynamic) kind(guided) kind(nonmonotonic_dynamic)                         \
        kind(nonmonotonic_guided) kind(ordered_static) kind(ordered_dynamic)                   \
            kind(ordered_guided)
#define LOOPS_AT_RUNTIME(kind)                                                                 \
    kind(runtime) kind(nonmonotonic_runtime) kind(maybe_nonmonotonic_runtime)                  \
        kind(ordered_runtime)

LOOPS(LOOP)
LOOPS_AT_RUNTIME(LOOP_AT_RUNTIME)
LOOPS(WIDE_LOOP)
LOOPS_AT_RUNTIME(WIDE_LOOP_AT_RUNTIME)
ENDS_AT_BARRIER(FOR, GOMP_loop_end)
ENDS(FOR, GOMP_loop_end_nowait)
BEGINS(SECTIONS, unsigned, GOMP_sections_start, (unsigned count), (count))
ENDS_AT_BARRIER(SECTIONS, GOMP_sections_end)
ENDS(SECTIONS, GOMP_sections_end_nowait)
BEGINS(ORDERED, void, GOMP_ordered_start, (void), ())
ENDS(ORDERED, GOMP_ordered_end)
BEGINS(TASKGROUP, void, GOMP_taskgroup_start, (void), ())
ENDS(TASKGROUP, GOMP_taskgroup_end)

/* Around a critical region is what it waits for others, in it what is done then. */
#define CRITICAL(begins, ends, parameters, arguments)                                          \
    EXPORTED void begins parameters;                                                           \
    void begins parameters                                                                     \
    {                                                                                          \
        BEFORE(begins);                                                                        \
        __typeof__(&begins) real = REAL(begins);                                               \
        bool is_told = is_told_by_ompt();                                                      \
                                                                                               \
        if (!is_told)                                                                          \
            openmp_hold(OPENMP_CRITICAL, SITE);                                                \
        real arguments;                                                                        \
        if (!is_told)                                                                          \
            openmp_hold(OPENMP_CRITICAL_BLOCK, SITE);                                          \
    }                                                                                          \
    EXPORTED void ends parameters;                                                             \
    void ends parameters                                                                       \
    {                                                                                          \
        BEFORE(ends);                                                                          \
        __typeof__(&ends) real = REAL(ends);                                                   \
                                                                                               \
        openmp_let_go(OPENMP_CRITICAL_BLOCK);                                                  \
        real arguments;                                                                        \
        openmp_let_go(OPENMP_CRITICAL);                                                        \
    }

CRITICAL(GOMP_critical_start, GOMP_critical_end, (void), ())
CRITICAL(GOMP_critical_name_start, GOMP_critical_name_end, (void **name), (name))

/* --------------------------------------------------------------------------------------- tasks
 */

#define TASK_IS_DETACHED (1u << 13) /* the runtime writes into what it is given */

/* What the runtime keeps for a task in place of the program's data, which are behind it. */
struct gomp_task {
    void (*function)(void *);
    const void *site;
    size_t data_at; /* bytes from here */
};

/* Where to get it from, while the task is made. */
struct new_task {
    struct gomp_task task;
    void *data;
    void (*copy)(void *to, void *from);
    size_t bytes;
};

static void copy_task(void *to, void *from)
{
    const struct new_task *new = from;
    char *data = (char *)to + new->task.data_at;

    memcpy(to, &new->task, sizeof new->task);
    if (new->copy)
        new->copy(data, new->data);
    else if (new->bytes > 0)
        memcpy(data, new->data, new->bytes);
}

RUNS static void run_task(void *at)
{
    const struct gomp_task *task = at;

    openmp_hold(OPENMP_TASK, task->site);
    task->function((char *)at + task->data_at);
    openmp_let_go(OPENMP_TASK);
}

#define TASK                                                                                   \
    (void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes,           \
     long alignment, bool is_deferred, unsigned flags, void **depend, int priority,            \
     void *detached)

EXPORTED void GOMP_task TASK;

/* Older programs pass fewer arguments; then the last ones are whatever is there, as for the
 * runtime, which looks at them by the flags. */
void GOMP_task TASK
{
    size_t align = alignment > (long)_Alignof(struct gomp_task) ? (size_t)alignment
                                                                : _Alignof(struct gomp_task);
    struct new_task new = {.data = data, .copy = copy, .bytes = (size_t)bytes};
    BEFORE(GOMP_task);
    __typeof__(&GOMP_task) real = REAL(GOMP_task);

    if (is_told_by_ompt() || function == NULL || flags & TASK_IS_DETACHED) {
        real(function, data, copy, bytes, alignment, is_deferred, flags, depend, priority,
             detached);
        return;
    }
    new.task = (struct gomp_task){function, SITE,
                                  (sizeof(struct gomp_task) + align - 1) / align * align};
    real(run_task, &new, copy_task, (long)new.task.data_at + bytes, (long)align, is_deferred,
         flags, depend, priority, detached);
}

#define TASKLOOP(name, number)                                                                 \
    AROUND(                                                                                    \
        TASKLOOP, name,                                                                        \
        (void (*function)(void *), void *data, void (*copy)(void *, void *), long bytes,       \
         long alignment, unsigned flags, unsigned long n_tasks, int priority, number start,    \
         number end, number step),                                                             \
        (function, data, copy, bytes, alignment, flags, n_tasks, priority, start, end, step))

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, wide)
