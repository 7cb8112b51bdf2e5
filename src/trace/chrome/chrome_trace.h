/*
 * chrome_trace -- a trace of one or several files of Chrome JSON, as it is read: who recorded
 * (processes, their threads), a mark for each call, and what "args" of calls hold, which are
 * kept one behind the other, in a file without a name as soon as that is worth it
 * (base/paged.h). A part is what one process of a job wrote, or a file of many. Numbers of
 * processes, flows and so on are of their part.
 */
#ifndef SNAG_TRACE_CHROME_TRACE_H
#define SNAG_TRACE_CHROME_TRACE_H

#include "base/idmap.h"
#include "base/names.h"
#include "base/paged.h"
#include "trace/chrome/async_spans.h"
#include "trace/chrome/chrome_json.h"
#include "trace/chrome/flow_ends.h"
#include "trace/chrome/links.h"
#include "trace/chrome/marks.h"
#include "trace/chrome/record_name.h"
#include "trace/event.h"
#include "trace/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHROME_DEVICE 8 /* "GPU", "TPU" */

/*
 * chrome_device -- whether a process is a device of XLA, which is under JAX and TensorFlow: "/device:GPU:1 (NVIDIA A100)".
 *   kind, number  out: "GPU" and 1; either may be NULL; untouched when it is none
 */
bool chrome_device(const char *process, char kind[CHROME_DEVICE], uint32_t *number);

/* chrome_goes_back -- whether a function of this name is autograd's, which goes back through one
 * operation in it. */
bool chrome_goes_back(const char *name);

struct chrome_trace;

/* chrome_trace_end_launches -- once all is read: which operations have a call that launched them,
 * and which launches have operations. Those of XLA that are on no GPU are calls that launch. */
void chrome_trace_end_launches(struct chrome_trace *t);

#define KEPT_ARGS_NONE UINT64_MAX
#define KEPT_ARGS_NAMES 4096u /* different names that are kept of a trace */

/* A zeroed struct is empty and ready. */
struct kept_args {
    struct paged *paged; /* the owner's */
    char *data;          /* [n] */
    size_t n, cap;
};

/* kept_args_next -- the next of those that are at *at, which moves on. False behind the last. A
 * text stays as long as what is kept. */
bool kept_args_next(const struct kept_args *kept, uint64_t *at, struct argument_value *value);

struct chrome_part {
    char *path; /* of its file */
    struct chrome_document document;
    int64_t first_ns,
        last_ns; /* of its marks, by the common clock; first > last: it has none */
    uint32_t rank;
};

struct chrome_process {
    uint32_t part;
    uint64_t pid;
    char *name;  /* "" when it has none */
    bool is_gpu; /* its label or its name says so: its threads are streams */
};

struct chrome_thread {
    uint32_t process;
    uint64_t tid;
    char *name;
    uint64_t n_marks;
    uint64_t
        n_forward; /* relations that start here: of operations that autograd goes back to */
    uint64_t n_evaluated;       /* calls of autograd that go back through one */
    bool is_gpu, is_python;     /* by its calls, whatever process it is of */
    bool is_async;              /* a track of async_spans */
    bool has_spans, has_begins; /* X; B */
    bool is_tangled; /* B and E are not in order of time, or do not nest as they are */
    uint32_t *begun; /* [n_begun] regions of the B that have no E yet, until it is tangled */
    size_t n_begun, begun_cap;
    int64_t last_ns; /* of the last B or E */
};

/* Where a message was sent and received: threads, or CHROME_NOWHERE. */
struct chrome_flow {
    uint32_t from, to;
};

/* From the call of a CPU that launched something to where it runs: threads and times. Where both
 * say their number ("correlation") all operations are known, else the arrow that leads there; an
 * arrow's head without its tail is one to nowhere. */
struct chrome_launch {
    uint32_t from, to;
    uint32_t region; /* of the call with that number, or ANY_REGION */
    int64_t from_ns, to_ns;
    bool has_tail;
    bool is_called; /* a call had that number: of this process */
    uint32_t caller;
    bool is_ambiguous;   /* calls of several processes have it: files were joined */
    bool has_operations; /* that began because of it, by their number */
};

/* What ran on a GPU, and says what launched it. */
struct chrome_operation {
    uint32_t launch, thread, region;
    int64_t begin_ns;
    bool is_of_xla; /* it may be the call that launched it: processes have their names later */
};

/* The numbers that the names of a region's calls have had. */
struct chrome_steps {
    uint32_t region;
    uint64_t first, last;
};

#define CHROME_NOWHERE UINT32_MAX

/* Arguments that we look at, whatever the rules. */
enum chrome_own_arg {
    ARG_NAME,
    ARG_LABELS,
    ARG_STEP,
    ARG_CORRELATION,    /* Kineto's */
    ARG_CORRELATION_ID, /* XLA's */
    N_OWN_ARGS
};

struct chrome_trace {
    struct definitions *defs;
    struct quality *quality;
    struct link_rules rules;
    struct links *links;
    struct marks *marks;

    struct chrome_part *part; /* [n_parts] the last is the one that is being read */
    size_t n_parts, part_cap;
    struct idmap process_id; /* of (part, pid) */
    struct chrome_process *process;
    size_t process_cap;
    struct idmap thread_id; /* of (process, tid) */
    struct chrome_thread *thread;
    size_t thread_cap;
    struct flow_ends flow_ends; /* until all are known */
    struct chrome_flow *flow;   /* [n_flows] */
    size_t n_flows, flow_cap;
    struct async_spans *async;
    struct idmap launch_id; /* of (part, id) */
    struct chrome_launch *launch;
    size_t launch_cap;
    struct chrome_operation
        *operation; /* [n_operations] of GPUs, that say what launched them */
    size_t n_operations, operation_cap;
    struct names text;           /* pids, tids and ids that are strings */
    struct counter_value *value; /* of 'C', paged */
    size_t n_values, value_cap;
    bool wants_counters, wants_arguments;
    struct paged *paged; /* of the two that are as long as the trace: */
    struct kept_args args;
    uint32_t n_marks;
    struct chrome_steps *steps; /* [n_steps] */
    size_t n_steps, steps_cap;
};

/*
 * chrome_trace_init -- empty, with the rules that are built in behind those of a file.
 *   links  the file, or NULL
 * Returns 0, or what link_rules_read does. Release in any case.
 */
int chrome_trace_init(struct chrome_trace *trace, struct source *source, const char *links);
void chrome_trace_release(struct chrome_trace *trace);

/* chrome_trace_read -- one more file. Returns as chrome_json_read does. */
int chrome_trace_read(struct chrome_trace *trace, const char *path);

/* chrome_trace_end -- there are no more: flows and async spans become marks. Returns 0 or
 * ERR_IO. */
int chrome_trace_end(struct chrome_trace *trace);

#endif
