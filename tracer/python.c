/*
 * Which of an interpreter's ways is the cheapest was measured (README.md, Python). PEP 523 has
 * a price besides time: where the interpreter would go on in a frame of its own stack, it now
 * calls itself, and takes some of the thread's. A program that may recurse deeply would run out
 * of that, so we take at most half: what is called further inside is not told us, nor, until
 * that returns, what other threads call.
 */
#include "python.h"

#include "budget.h"
#include "hooks.h"
#include "loaded.h"
#include "memory.h"
#include "quiet.h"
#include "recorder.h"
#include "regions.h"
#include "structure.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OLDEST 9           /* 3.9 */
#define FIRST_MONITORED 12 /* 3.12 */
#define GIVEN_AT_ONCE 0x80 /* METH_FASTCALL */
/* CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR */
#define OF_GENERATOR (0x20 | 0x80 | 0x200)

struct python_object; /* PyObject */
struct thread;        /* PyThreadState */

/* A frame of 3.11, as far as it matters: _PyInterpreterFrame. Earlier ones are objects. */
struct python_frame {
    struct python_object *function, *globals, *builtins, *locals, *code, *of_python;
    struct python_frame *previous;
    const void *instruction;
    int top;
    bool is_entry;
    char owner; /* 0: a call; 1: a generator that goes on */
};

typedef struct python_object *(*evaluation)(struct thread *thread, struct python_frame *frame,
                                            int throws);
typedef struct python_object *(*callback)(struct python_object *self,
                                          struct python_object *const *given, ptrdiff_t n);

struct module { /* struct _inittab */
    const char *name;
    struct python_object *(*make)(void);
};

struct method { /* PyMethodDef */
    const char *name;
    callback call;
    int flags;
    const char *about;
};

/* What we need of the interpreter, by its names: of all versions, up to 3.11, and since 3.12.
 */
#define OF_ALL(X)                                                                              \
    X(struct python_object *, PyInterpreterState_Get, (void))                                  \
    X(struct python_object *, PyInterpreterState_Main, (void))                                 \
    X(struct python_object *, PyObject_GetAttrString, (struct python_object *, const char *))  \
    X(const char *, PyUnicode_AsUTF8, (struct python_object *))                                \
    X(long, PyLong_AsLong, (struct python_object *))                                           \
    X(struct python_object *, PySys_GetObject, (const char *))                                 \
    X(ptrdiff_t, PyList_Size, (struct python_object *))                                        \
    X(struct python_object *, PyList_GetItem, (struct python_object *, ptrdiff_t))             \
    X(void, PyErr_Fetch,                                                                       \
      (struct python_object **, struct python_object **, struct python_object **))             \
    X(void, PyErr_Restore,                                                                     \
      (struct python_object *, struct python_object *, struct python_object *))                \
    X(void, PyErr_Clear, (void))                                                               \
    X(void, Py_IncRef, (struct python_object *))                                               \
    X(void, Py_DecRef, (struct python_object *))                                               \
    X(ptrdiff_t, _PyEval_RequestCodeExtraIndex, (void (*)(void *)))                            \
    X(int, _PyCode_GetExtra, (struct python_object *, ptrdiff_t, void **))                     \
    X(int, _PyCode_SetExtra, (struct python_object *, ptrdiff_t, void *))                      \
    X(struct python_object *, Py_CompileStringExFlags,                                         \
      (const char *, const char *, int, void *, int))                                          \
    X(struct python_object *, PyEval_EvalCode,                                                 \
      (struct python_object *, struct python_object *, struct python_object *))                \
    X(struct python_object *, PyEval_GetBuiltins, (void))                                      \
    X(struct python_object *, PyDict_New, (void))                                              \
    X(int, PyDict_SetItemString,                                                               \
      (struct python_object *, const char *, struct python_object *))                          \
    X(struct python_object *, PyDict_GetItemString, (struct python_object *, const char *))    \
    X(struct python_object *, PyObject_CallObject,                                             \
      (struct python_object *, struct python_object *))                                        \
    X(struct python_object *, PyCFunction_NewEx,                                               \
      (struct method *, struct python_object *, struct python_object *))                       \
    X(const char *, PyGILState_GetThisThreadState, (void))                                     \
    X(int, PyCode_Addr2Line, (struct python_object *, int))                                    \
    X(struct python_object, _Py_NoneStruct, )
#define OF_EVALUATION(X)                                                                       \
    X(evaluation, _PyInterpreterState_GetEvalFrameFunc, (struct python_object *))              \
    X(void, _PyInterpreterState_SetEvalFrameFunc, (struct python_object *, evaluation))        \
    X(struct python_object *, PyFrame_GetCode, (struct python_frame *))
#define OF_MONITORING(X)                                                                       \
    X(struct python_object *, PyObject_CallMethod,                                             \
      (struct python_object *, const char *, const char *, ...))

#define AS_MEMBER(type, name, arguments) type(*name) arguments;
static struct {
    OF_ALL(AS_MEMBER)
    OF_EVALUATION(AS_MEMBER)
    OF_MONITORING(AS_MEMBER)
} py;

static int version;     /* 11 of 3.11 */
static ptrdiff_t extra; /* which of a code object's is ours */
static struct python_object *(*make_module)(void);
static atomic_bool is_recorded;
static bool is_measuring; /* what is filtered is told all the same */
static double call_ns;

bool python_is_recorded(void)
{
    return atomic_load(&is_recorded);
}

double python_call_ns(void)
{
    return call_ns;
}

/* ------------------------------------------------------------------------------ names */

/* What comes with a code object is never freed before it. */
static const char *text_of(struct python_object *owner, const char *attribute)
{
    struct python_object *text = py.PyObject_GetAttrString(owner, attribute);
    const char *chars = text ? py.PyUnicode_AsUTF8(text) : NULL;

    if (chars == NULL)
        py.PyErr_Clear();
    if (text)
        py.Py_DecRef(text);
    return chars;
}

static long number_of(struct python_object *owner, const char *attribute)
{
    struct python_object *object = py.PyObject_GetAttrString(owner, attribute);
    long number = object ? py.PyLong_AsLong(object) : 0;

    py.PyErr_Clear();
    if (object)
        py.Py_DecRef(object);
    return number;
}

/* A path without ".", "..", and "//", as far as its text says. What is too long is cut. */
static void plain_path(const char *path, char out[PATH_MAX])
{
    size_t n = 0, length;

    for (; *path && n + 2 < PATH_MAX; path += length + (path[length] == '/')) {
        length = strcspn(path, "/");
        if (length == 2 && strncmp(path, "..", 2) == 0 && n > 1) {
            while (n > 0 && out[n - 1] != '/')
                n--;
            n -= n > 1;
        } else if (length > 0 ? strncmp(path, ".", length) != 0 : n == 0) {
            if (n > 0 && out[n - 1] != '/')
                out[n++] = '/';
            if (length == 0)
                out[n++] = '/';
            for (size_t i = 0; i < length && n + 1 < PATH_MAX; i++)
                out[n++] = path[i];
        }
    }
    out[n] = '\0';
}

/*
 * A file as its module is imported: behind the longest directory of sys.path that it is in,
 * "torch/optim/sgd.py". The program's own may be in none of it as it is said on the command
 * line: then it is the last part. Stays until the next call: stacks of threads may be small.
 */
static const char *module_file(const char *file)
{
    static char plain[PATH_MAX], directory[PATH_MAX]; /* guarded by the interpreter */
    struct python_object *path = py.PySys_GetObject("path");
    ptrdiff_t n = path ? py.PyList_Size(path) : 0;
    const char *shown;

    if (*file == '<')
        return file;
    plain_path(file, plain);
    shown = strrchr(plain, '/') ? plain : NULL;
    for (ptrdiff_t i = 0; i < n; i++) {
        const char *text = py.PyUnicode_AsUTF8(py.PyList_GetItem(path, i));
        size_t length;

        plain_path(text ? text : "", directory);
        length = strlen(directory);
        if (length > 0 && strncmp(plain, directory, length) == 0 && plain[length] == '/' &&
            plain + length + 1 > shown)
            shown = plain + length + 1;
    }
    py.PyErr_Clear();
    return shown == plain ? strrchr(plain, '/') + 1 : shown ? shown : plain;
}

/* Those of "<frozen importlib._bootstrap>" and the like have no file: REGION_FILTERED. */
static uint32_t region_of_new(struct python_object *code)
{
    const char *file = text_of(code, "co_filename");
    const char *function = text_of(code, version >= 11 ? "co_qualname" : "co_name");
    const char *shown;
    char *name;
    size_t n;
    uint32_t region;

    if (file == NULL || function == NULL || strncmp(file, "<frozen ", 8) == 0)
        return REGION_FILTERED;
    shown = module_file(file);
    n = strlen(shown) + strlen(function) + sizeof ":";
    name = memory_resize(NULL, n, 1);
    if (name == NULL)
        return REGION_FILTERED;
    snprintf(name, n, "%s:%s", shown, function);
    region = region_of_python(name, file, (uint32_t)number_of(code, "co_firstlineno"));
    memory_free(name);
    return region;
}

/* What is kept in a code object: 0 nothing yet. */
struct known {
    uint32_t region;
    bool makes_generator;
};

static void *pack(struct known known)
{
    return (void *)(((uintptr_t)known.region + 1) << 1 | known.makes_generator);
}

static struct known unpack(const void *packed)
{
    return (struct known){(uint32_t)(((uintptr_t)packed >> 1) - 1), (uintptr_t)packed & 1};
}

/* Where there is no room in it, it is looked for again the next time. */
static __attribute__((noinline)) struct known meet(struct python_object *code)
{
    struct python_object *type, *value, *traceback; /* of an exception that is on its way */
    struct known known;
    struct quiet q;

    quiet_begin(&q);
    py.PyErr_Fetch(&type, &value, &traceback);
    known.region = region_of_new(code);
    known.makes_generator = number_of(code, "co_flags") & OF_GENERATOR;
    if (py._PyCode_SetExtra(code, extra, pack(known)) != 0)
        py.PyErr_Clear();
    py.PyErr_Restore(type, value, traceback);
    quiet_end(&q);
    return known;
}

/* Where nothing is recorded any more nothing new is met: a child of a fork shares our journal,
 * in which regions are numbered as they come. */
static inline struct known known_of(struct python_object *code)
{
    void *packed = NULL;

    if (py._PyCode_GetExtra(code, extra, &packed) == 0 && packed)
        return unpack(packed);
    if (!atomic_load_explicit(&recorder_switch.is_on, memory_order_relaxed))
        return (struct known){.region = REGION_FILTERED};
    return meet(code);
}

/* ------------------------------------------------------------------------------ calls */

static void enter(uint32_t region)
{
    struct recorder *r = recorder_begin();

    if (r == NULL) {
        recorder_missed();
        return;
    }
    r->budget->n_dearer++;
    hooks_enter(r, region);
    recorder_end(r);
}

static void leave(uint32_t region)
{
    struct recorder *r = recorder_begin();

    if (r == NULL)
        return;
    hooks_leave(r, region);
    recorder_end(r);
}

/* ------------------------------------------------------------------------------ PEP 523 */

static evaluation interpreter; /* which there was before us */
static unsigned n_deep;        /* calls in which we are not told; guarded by the interpreter */

/* The half of a thread's stack that we leave to others. */
static _Thread_local struct {
    uintptr_t low, middle; /* both 0: not known yet */
} stack;

static bool is_deep(void)
{
    uintptr_t here = recorder_here();
    struct quiet q;

    if (__builtin_expect(stack.low == 0, 0)) {
        quiet_begin(&q);
        loaded_stack(&stack.low, &stack.middle);
        stack.middle -= (stack.middle - stack.low) / 2;
        quiet_end(&q);
    }
    return here >= stack.low && here < stack.middle;
}

static struct python_object *evaluate(struct thread *thread, struct python_frame *frame,
                                      int throws);

static struct python_object *evaluate_untold(struct thread *thread, struct python_frame *frame,
                                             int throws)
{
    struct python_object *result;

    if (n_deep++ == 0)
        py._PyInterpreterState_SetEvalFrameFunc(py.PyInterpreterState_Get(), interpreter);
    result = interpreter(thread, frame, throws);
    if (--n_deep == 0)
        py._PyInterpreterState_SetEvalFrameFunc(py.PyInterpreterState_Get(), evaluate);
    return result;
}

static inline struct python_object *code_of(struct python_frame *frame)
{
    struct python_object *code;

    if (version >= 11)
        return frame->code;
    code = py.PyFrame_GetCode(frame);
    py.Py_DecRef(code); /* the frame has it */
    return code;
}

/* A call of a function that makes a generator only makes it: in 3.11 that is a frame, too. */
static struct python_object *evaluate(struct thread *thread, struct python_frame *frame,
                                      int throws)
{
    struct known known = {.region = REGION_FILTERED};
    struct python_object *result;

    if (atomic_load_explicit(&recorder_switch.is_on, memory_order_relaxed))
        known = known_of(code_of(frame));
    if (known.makes_generator && version == 11 && frame->owner == 0)
        known.region = REGION_FILTERED;
    if (known.region != REGION_FILTERED)
        enter(known.region);
    result =
        (__builtin_expect(is_deep(), 0) ? evaluate_untold : interpreter)(thread, frame, throws);
    if (known.region != REGION_FILTERED)
        leave(known.region);
    return result;
}

static bool tell_by_evaluation(bool is_on)
{
    struct python_object *of = py.PyInterpreterState_Get();

    if (interpreter == NULL)
        interpreter = py._PyInterpreterState_GetEvalFrameFunc(of);
    py._PyInterpreterState_SetEvalFrameFunc(of, is_on ? evaluate : interpreter);
    return true;
}

/* ------------------------------------------------------------------------------ monitoring */

static struct python_object *monitoring, *not_again; /* sys.monitoring, and its DISABLE */
static int tool = -1, all_events;

static inline struct python_object *told(struct python_object *const *given,
                                         void (*record)(uint32_t region), bool may_disable)
{
    struct known known = known_of(given[0]);

    if (known.region != REGION_FILTERED)
        record(known.region);
    /* What is filtered need not be told again, where the interpreter can leave that out. */
    if (known.region != REGION_FILTERED || !may_disable || is_measuring)
        return (struct python_object *)py._Py_NoneStruct;
    py.Py_IncRef(not_again);
    return not_again;
}

static struct python_object *begins(struct python_object *self,
                                    struct python_object *const *given, ptrdiff_t n)
{
    (void)self, (void)n;
    return told(given, enter, true);
}

static struct python_object *ends(struct python_object *self,
                                  struct python_object *const *given, ptrdiff_t n)
{
    (void)self, (void)n;
    return told(given, leave, true);
}

static struct python_object *is_thrown_into(struct python_object *self,
                                            struct python_object *const *given, ptrdiff_t n)
{
    (void)self, (void)n;
    return told(given, enter, false);
}

static struct python_object *is_unwound(struct python_object *self,
                                        struct python_object *const *given, ptrdiff_t n)
{
    (void)self, (void)n;
    return told(given, leave, false);
}

static struct {
    const char *name;
    struct method method;
} events[] = {
    {"PY_START", {"begins", begins, GIVEN_AT_ONCE, NULL}},
    {"PY_RESUME", {"begins", begins, GIVEN_AT_ONCE, NULL}},
    {"PY_THROW", {"is_thrown_into", is_thrown_into, GIVEN_AT_ONCE, NULL}},
    {"PY_RETURN", {"ends", ends, GIVEN_AT_ONCE, NULL}},
    {"PY_YIELD", {"ends", ends, GIVEN_AT_ONCE, NULL}},
    {"PY_UNWIND", {"is_unwound", is_unwound, GIVEN_AT_ONCE, NULL}},
};

/* One of the numbers for tools that are nobody's. */
static bool take_tool(void)
{
    for (int free = 4; tool < 0 && free >= 3; free--) {
        if (py.PyObject_CallMethod(monitoring, "use_tool_id", "is", free, "snag"))
            tool = free;
        py.PyErr_Clear();
    }
    return tool >= 0;
}

static bool begin_monitoring(void)
{
    struct python_object *names;

    monitoring = py.PySys_GetObject("monitoring");
    names = monitoring ? py.PyObject_GetAttrString(monitoring, "events") : NULL;
    if (names == NULL || !take_tool())
        return false;
    not_again = py.PyObject_GetAttrString(monitoring, "DISABLE");
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        int event = (int)number_of(names, events[i].name);

        all_events |= event;
        py.PyObject_CallMethod(monitoring, "register_callback", "iiN", tool, event,
                               py.PyCFunction_NewEx(&events[i].method, NULL, NULL));
    }
    return true;
}

static bool tell_by_monitoring(bool is_on)
{
    return (tool >= 0 || begin_monitoring()) &&
           py.PyObject_CallMethod(monitoring, "set_events", "ii", tool,
                                  is_on ? all_events : 0) != NULL;
}

/* ------------------------------------------------------------------------------ places */

/* What is tried when the interpreter begins. */
#define N_CALLS "300"
#define N_TIMES 5
#define TRIED_LINE 2
static const char tried_text[] = "def nothing(): pass\n"
                                 "def tried(): look_for(tried.__code__)\n"
                                 "def calls():\n"
                                 " for _ in (None,) * " N_CALLS ": nothing()\n";

#define INSTRUCTION 56 /* where a frame says which was executed last, or is next */

/* Where versions have what they execute. MPI is called by threads that do not hold the
 * interpreter, which no function says it to; what a minor version has stays as it is. */
static const struct python_layout {
    size_t frame;    /* of a thread's state: the address of its frame, */
    bool has_struct; /* or of a struct that has it */
    size_t in_struct;
    size_t code; /* of a frame */
} layouts[] = {
    [11] = {56, true, 8, 32},
    [12] = {56, true, 0, 0},
    [13] = {72, false, 0, 0},
};

static bool has_places;     /* it was found to be so */
static size_t instructions; /* of a code object: where they begin */

static const char *pointer_at(const char *place, size_t bytes)
{
    const char *pointer = NULL;

    if (place)
        memcpy(&pointer, place + bytes, sizeof pointer);
    return pointer;
}

/* The line that the calling thread is on, in a function; 0: in none. */
static uint32_t line_now(struct python_object **code)
{
    const struct python_layout *l = &layouts[version];
    const char *frame = pointer_at(py.PyGILState_GetThisThreadState(), l->frame);
    const char *at;
    int line;

    if (l->has_struct)
        frame = pointer_at(frame, l->in_struct);
    *code = (struct python_object *)(uintptr_t)pointer_at(frame, l->code);
    at = pointer_at(frame, INSTRUCTION);
    if (*code == NULL || at < (const char *)*code + instructions)
        return 0;
    line =
        py.PyCode_Addr2Line(*code, (int)(at - (const char *)*code - (ptrdiff_t)instructions));
    return line > 0 ? (uint32_t)line : 0;
}

uintptr_t python_place(void)
{
    struct python_object *code;
    void *packed = NULL;
    uint32_t line;

    if (!has_places || !python_is_recorded())
        return 0;
    line = line_now(&code);
    if (line == 0 || py._PyCode_GetExtra(code, extra, &packed) != 0 || packed == NULL)
        return 0;
    return region_line(unpack(packed).region, line);
}

/* A function of Python, by which another one asks whether it is there, given its code. */
static struct python_object *look_for(struct python_object *self,
                                      struct python_object *const *given, ptrdiff_t n)
{
    struct python_object *code = NULL;
    struct python_object *none = (struct python_object *)py._Py_NoneStruct;

    (void)self;
    has_places = n == 1 && line_now(&code) == TRIED_LINE && code == given[0];
    py.Py_IncRef(none);
    return none;
}

/* ------------------------------------------------------------------------------ trying */

static bool tell(bool is_on)
{
    return version < FIRST_MONITORED ? tell_by_evaluation(is_on) : tell_by_monitoring(is_on);
}

/* The least that calls of a function that does nothing take together. */
static double time_calls(struct python_object *function)
{
    uint64_t least_ns = UINT64_MAX;

    for (int i = 0; i < N_TIMES; i++) {
        uint64_t begin_ns = clock_ns(), took_ns;
        struct python_object *result = py.PyObject_CallObject(function, NULL);

        took_ns = clock_ns() - begin_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
        if (result)
            py.Py_DecRef(result);
    }
    return (double)least_ns / atof(N_CALLS);
}

/* A call of what is filtered takes longer by so much, as nothing is recorded of it. */
static void measure(struct python_object *calls)
{
    double alone_ns = time_calls(calls);

    is_measuring = true;
    if (tell(true))
        call_ns = time_calls(calls) - alone_ns;
    call_ns = call_ns > 0 ? call_ns : 0;
    tell(false);
    is_measuring = false;
}

static void look_for_places(struct python_object *names, struct python_object *code,
                            struct python_object *tried)
{
    static struct method method = {"look_for", look_for, GIVEN_AT_ONCE, NULL};
    bool is_known =
        (size_t)version < sizeof layouts / sizeof *layouts && layouts[version].frame > 0;
    struct python_object *type = py.PyObject_GetAttrString(code, "__class__");

    instructions = (size_t)number_of(type, "__basicsize__");
    py.Py_DecRef(type);
    py.PyDict_SetItemString(names, "look_for", py.PyCFunction_NewEx(&method, NULL, NULL));
    if (is_known)
        py.PyObject_CallObject(tried, NULL);
}

/* Some functions of our own are run: what is told costs, and whether places are where we think.
 */
static void try_out(void)
{
    struct python_object *names = py.PyDict_New();
    struct python_object *code =
        py.Py_CompileStringExFlags(tried_text, "<frozen snag>", 257, NULL, -1);
    struct python_object *result;

    py.PyDict_SetItemString(names, "__builtins__", py.PyEval_GetBuiltins());
    result = code ? py.PyEval_EvalCode(code, names, names) : NULL;
    if (result) {
        measure(py.PyDict_GetItemString(names, "calls"));
        look_for_places(names, code, py.PyDict_GetItemString(names, "tried"));
        py.Py_DecRef(result);
    }
    if (code)
        py.Py_DecRef(code);
    py.Py_DecRef(names);
    py.PyErr_Clear();
}

/* ------------------------------------------------------------------------------ beginning */

/* The main interpreter of the process is there, and has run nothing. */
static void begin(void)
{
    static bool is_done;

    if (is_done || py.PyInterpreterState_Get() != py.PyInterpreterState_Main() ||
        !structure_is(STRUCTURE_FUNCTIONS))
        return;
    is_done = true;
    extra = py._PyEval_RequestCodeExtraIndex(NULL);
    if (extra < 0)
        return;
    try_out();
    atomic_store(&is_recorded, tell(true));
    py.PyErr_Clear();
}

static struct python_object *make_after_begin(void)
{
    begin();
    return make_module();
}

/* Since 3.12 it has another name. */
static void *find(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    char newer[64];

    if (found == NULL && strncmp(name, "_Py", 3) == 0) {
        snprintf(newer, sizeof newer, "PyUnstable_%s", name + 3);
        found = dlsym(RTLD_DEFAULT, newer);
    }
    return found;
}

static bool find_all(void)
{
    bool has_all = true;

#define AS_SEARCH(type, name, arguments)                                                       \
    *(void **)&py.name = find(#name);                                                          \
    has_all &= py.name != NULL;
    OF_ALL(AS_SEARCH)
    if (version < FIRST_MONITORED) {
        OF_EVALUATION(AS_SEARCH)
    } else {
        OF_MONITORING(AS_SEARCH)
    }
    return has_all;
}

/* Python that is a part of another program is that program's own business, if it is not said
 * that functions are wanted. */
static bool is_wanted(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *slash;

    path[n > 0 ? n : 0] = '\0';
    slash = strrchr(path, '/');
    return structure_is_said(STRUCTURE_FUNCTIONS) ||
           (slash && strncmp(slash + 1, "python", strlen("python")) == 0);
}

static bool is_known_version(void)
{
    const char *(*ask)(void) = (const char *(*)(void))(uintptr_t)find("Py_GetVersion");
    const char *text = ask ? ask() : "";

    return sscanf(text, "3.%d", &version) == 1 && version >= OLDEST &&
           strstr(text, "free-threading") == NULL; /* where nothing guards a code object */
}

/* Before the interpreter copies its table. */
__attribute__((constructor)) static void wait_for_python(void)
{
    struct module *const *table = (struct module *const *)find("PyImport_Inittab");

    if (table == NULL || !is_wanted() || !is_known_version() || !find_all())
        return;
    for (struct module *m = *table; m->name; m++)
        if (strcmp(m->name, "posix") == 0) {
            make_module = m->make;
            m->make = make_after_begin;
        }
}
