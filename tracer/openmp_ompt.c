/*
 * The tool that a runtime with OMPT asks for when it begins: LLVM's, Intel's, AMD's.
 *
 * The numbers and types are those of OpenMP 5.0, section 4; no header of a compiler is needed.
 * What a thread other than the forking one does at the end of a region is over when it comes to
 * the barrier there: that it has left it, the runtime only says when it has the next one to do.
 *
 * What we keep in the runtime's data: of a region its fork; of an implicit task its region, of
 * an explicit one where it was made.
 */
#include "complain.h"
#include "memory.h"
#include "openmp.h"

#include <link.h>
#include <stdlib.h>

union ompt_data {
    uint64_t value;
    void *ptr;
};

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback)(int which, ompt_function callback);

struct ompt_result {
    int (*initialize)(ompt_lookup lookup, int device, union ompt_data *tool);
    void (*finalize)(union ompt_data *tool);
    union ompt_data tool;
};

enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };
enum { TASK_INITIAL = 1, TASK_EXPLICIT = 4 }; /* flags of a task */
enum { STATUS_COMPLETE = 1, STATUS_CANCEL = 3, STATUS_DETACH = 4 };
enum { MUTEX_CRITICAL = 5, MUTEX_ORDERED = 7 };
enum { WORK_LOOP = 1, WORK_SECTIONS = 2, WORK_SINGLE_EXECUTOR = 3 };
enum {
    SYNC_BARRIER = 1,
    SYNC_IMPLICIT = 2,
    SYNC_EXPLICIT = 3,
    SYNC_TASKWAIT = 5,
    SYNC_TASKGROUP = 6,
    SYNC_IMPLICIT_WORKSHARE = 8,
    SYNC_IMPLICIT_PARALLEL = 9,
};

/* In the data of a task: what it is, and shifted, the region that it is an implicit task of, or
 * where the explicit task was made. */
enum { NO_TASK, IS_MEMBER, IS_WAITING, IS_MADE, IS_RUNNING, TASK_BITS = 3 };

static uint64_t task_value(const void *of, unsigned state)
{
    return (uint64_t)(uintptr_t)of << TASK_BITS | state;
}

static unsigned task_state(const union ompt_data *task)
{
    return task ? task->value & ((1u << TASK_BITS) - 1) : NO_TASK;
}

static const void *task_of(const union ompt_data *task)
{
    return (const void *)(uintptr_t)(task->value >> TASK_BITS);
}

struct ompt_region {
    struct openmp_fork fork;
    const void *site; /* as the runtime says it */
};

/* The runtime's own code: what compilers made a jump there seems to come from it. */
static uintptr_t runtime_begin, runtime_end;

static int find_runtime(struct dl_phdr_info *object, size_t bytes, void *inside)
{
    (void)bytes;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD || (uintptr_t)inside - begin >= part->p_memsz)
            continue;
        runtime_begin = begin;
        runtime_end = begin + part->p_memsz;
        return 1;
    }
    return 0;
}

/* Where the program is, or NULL. */
static const void *place_of(const void *site)
{
    return (uintptr_t)site >= runtime_begin && (uintptr_t)site < runtime_end ? NULL : site;
}

/* ---------------------------------------------------------------------------------- teams */

static void on_parallel_begin(union ompt_data *task, const void *frame,
                              union ompt_data *parallel, unsigned n_threads, int flags,
                              const void *site)
{
    struct ompt_region *region;

    (void)task, (void)frame, (void)flags;
    parallel->ptr = NULL;
    if (!atomic_load(&recorder_switch.is_on)) /* a child of a fork, say */
        return;
    region = memory_resize(NULL, 1, sizeof *region);
    openmp_fork(&region->fork, place_of(site), n_threads);
    region->site = site;
    parallel->ptr = region;
}

static void on_parallel_end(union ompt_data *parallel, union ompt_data *task, int flags,
                            const void *site)
{
    struct ompt_region *region = parallel->ptr;

    (void)task, (void)flags, (void)site;
    if (region == NULL)
        return;
    openmp_join(&region->fork);
    memory_free(region);
    parallel->ptr = NULL;
}

/* The thread that forked ends its part when all have come, the others have ended theirs. */
static void on_implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *task,
                             unsigned n_threads, unsigned index, int flags)
{
    const struct ompt_region *region;

    (void)n_threads;
    if (flags & TASK_INITIAL)
        return;
    if (endpoint == SCOPE_BEGIN && parallel && parallel->ptr) {
        region = parallel->ptr;
        if (recorder_self == NULL)
            openmp_number(&region->fork, index, 0);
        openmp_begin(&region->fork);
        task->value = task_value(region, IS_MEMBER);
    } else if (endpoint == SCOPE_END && index == 0 && task_state(task) == IS_WAITING) {
        region = task_of(task);
        openmp_end(&region->fork);
        task->value = NO_TASK;
    }
}

/* ------------------------------------------------------------------------------ within teams
 */

/* Whether a member comes to the barrier at the end of its region. Older runtimes call it as any
 * other, and say that it is where the region is, or nowhere. */
static bool is_last_barrier(int kind, const union ompt_data *task, const void *site)
{
    const struct ompt_region *region;

    if (task_state(task) != IS_MEMBER)
        return false;
    region = task_of(task);
    return kind == SYNC_IMPLICIT_PARALLEL ||
           (kind == SYNC_IMPLICIT && (site == NULL || site == region->site));
}

static void end_member(union ompt_data *task)
{
    const struct ompt_region *region = task_of(task);

    if (openmp_is_by_this_thread(&region->fork)) {
        task->value = task_value(region, IS_WAITING);
        openmp_wait(&region->fork);
    } else {
        task->value = NO_TASK;
        openmp_end(&region->fork);
    }
}

static int construct_of(int kind)
{
    switch (kind) {
    case SYNC_BARRIER:
    case SYNC_EXPLICIT:
        return OPENMP_BARRIER;
    case SYNC_IMPLICIT:
    case SYNC_IMPLICIT_WORKSHARE:
        return OPENMP_IMPLICIT_BARRIER;
    case SYNC_TASKWAIT:
        return OPENMP_TASKWAIT;
    case SYNC_TASKGROUP:
        return OPENMP_TASKGROUP;
    default:
        return N_OPENMP_CONSTRUCTS;
    }
}

static void on_sync_region(int kind, int endpoint, union ompt_data *parallel,
                           union ompt_data *task, const void *site)
{
    int construct = construct_of(kind);

    (void)parallel;
    if (endpoint == SCOPE_BEGIN && is_last_barrier(kind, task, site))
        end_member(task);
    else if (construct == N_OPENMP_CONSTRUCTS || task_state(task) == IS_WAITING)
        return;
    else if (endpoint == SCOPE_BEGIN)
        openmp_hold((enum openmp_construct)construct, place_of(site));
    else
        openmp_let_go((enum openmp_construct)construct);
}

static void on_work(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task,
                    uint64_t count, const void *site)
{
    static const enum openmp_construct constructs[] = {
        [WORK_LOOP] = OPENMP_FOR,
        [WORK_SECTIONS] = OPENMP_SECTIONS,
        [WORK_SINGLE_EXECUTOR] = OPENMP_SINGLE,
    };

    (void)parallel, (void)task, (void)count;
    if (kind < WORK_LOOP || kind > WORK_SINGLE_EXECUTOR)
        return;
    if (endpoint == SCOPE_BEGIN)
        openmp_hold(constructs[kind], place_of(site));
    else
        openmp_let_go(constructs[kind]);
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned how, uint64_t id,
                             const void *site)
{
    (void)hint, (void)how, (void)id;
    if (kind == MUTEX_CRITICAL || kind == MUTEX_ORDERED)
        openmp_hold(kind == MUTEX_CRITICAL ? OPENMP_CRITICAL : OPENMP_ORDERED, place_of(site));
}

static void on_mutex_acquired(int kind, uint64_t id, const void *site)
{
    (void)id;
    if (kind == MUTEX_CRITICAL)
        openmp_hold(OPENMP_CRITICAL_BLOCK, place_of(site));
}

static void on_mutex_released(int kind, uint64_t id, const void *site)
{
    (void)id, (void)site;
    if (kind == MUTEX_CRITICAL)
        openmp_let_go(OPENMP_CRITICAL_BLOCK);
    if (kind == MUTEX_CRITICAL || kind == MUTEX_ORDERED)
        openmp_let_go(kind == MUTEX_CRITICAL ? OPENMP_CRITICAL : OPENMP_ORDERED);
}

/* ------------------------------------------------------------------------------------- tasks
 */

static void on_task_create(union ompt_data *task, const void *frame, union ompt_data *made,
                           int flags, int has_dependences, const void *site)
{
    (void)task, (void)frame, (void)has_dependences;
    if (flags & TASK_EXPLICIT)
        made->value = task_value(place_of(site), IS_MADE);
}

/* A task that waits is under the one that runs meanwhile. */
static void on_task_schedule(union ompt_data *prior, int status, union ompt_data *next)
{
    bool is_done =
        status == STATUS_COMPLETE || status == STATUS_CANCEL || status == STATUS_DETACH;

    if (is_done && task_state(prior) == IS_RUNNING) {
        openmp_let_go(OPENMP_TASK);
        prior->value = NO_TASK;
    }
    if (task_state(next) == IS_MADE) {
        openmp_hold(OPENMP_TASK, task_of(next));
        next->value = task_value(task_of(next), IS_RUNNING);
    }
}

/* ------------------------------------------------------------------------------------- begin
 */

static int initialize(ompt_lookup lookup, int device, union ompt_data *tool)
{
    static const struct {
        int which;
        ompt_function function;
    } row[] = {
        {3, (ompt_function)on_parallel_begin}, {4, (ompt_function)on_parallel_end},
        {5, (ompt_function)on_task_create},    {6, (ompt_function)on_task_schedule},
        {7, (ompt_function)on_implicit_task},  {17, (ompt_function)on_mutex_released},
        {20, (ompt_function)on_work},          {23, (ompt_function)on_sync_region},
        {26, (ompt_function)on_mutex_acquire}, {27, (ompt_function)on_mutex_acquired},
    };
    ompt_set_callback set = (ompt_set_callback)lookup("ompt_set_callback");

    (void)device, (void)tool;
    dl_iterate_phdr(find_runtime, (void *)lookup);
    for (size_t i = 0; set && i < sizeof row / sizeof *row; i++)
        set(row[i].which, row[i].function);
    return set != NULL;
}

static void finalize(union ompt_data *tool)
{
    (void)tool;
}

__attribute__((visibility("default"))) struct ompt_result *ompt_start_tool(unsigned version,
                                                                           const char *runtime);

struct ompt_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_result result = {initialize, finalize, {0}};

    (void)version, (void)runtime;
    return &result;
}
