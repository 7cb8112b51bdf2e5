/*
 * prov_record -- all one needs to judge a verdict later: the call, the calls that led to it,
 * what happened around it on its thread and on those it waited for, and what judged it.
 *
 * As bytes, numbers are variable-length, times are differences to the one before, and a name
 * that occurs again is its number; all of it is one zstd frame with a checksum, so a part of a
 * record, or a damaged one, is never taken for a record.
 *
 * As JSON it has the field names of Chimbuko's provenance database (its schema, version 2), so
 * that scripts written for it go on working. What has one of those names has its unit too:
 * microseconds, with three decimals. What is ours says its unit in its name.
 */
#ifndef SNAG_PROV_PROV_RECORD_H
#define SNAG_PROV_PROV_RECORD_H

#include "base/arena.h"
#include "base/pack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <zstd.h>

/* What Chimbuko writes as "rank:step:index". */
struct prov_event {
    uint32_t rank;
    uint64_t step, index;
};

/* A call of the stack or of a window. */
struct prov_call {
    struct prov_event event;
    struct prov_event parent; /* of a call in a window, when has_parent */
    bool has_parent, is_anomaly;
    uint32_t fid;                /* number of the function in the whole job */
    const char *func;            /* its name */
    uint64_t enter_ns, leave_ns; /* leave_ns 0: not over yet */
};

struct prov_message {
    bool is_send;
    struct prov_event call;  /* innermost around it */
    uint32_t source, target; /* ranks */
    uint32_t tag;
    uint64_t bytes, time_ns;
};

/* Calls and messages of one thread, each in order of time. */
struct prov_window {
    struct prov_call *call; /* [n_calls] */
    size_t n_calls;
    struct prov_message *message; /* [n_messages] */
    size_t n_messages;
};

struct prov_partner {
    uint32_t rank, thread;
    struct prov_window window;
    const char *not_known; /* why the window, and the thread, are not; NULL: they are */
};

struct prov_counter {
    uint32_t id;
    const char *name;
    int64_t value;
    uint64_t time_ns;
};

/* One call of the chain that explains a delay, the last being its cause. */
struct prov_link {
    uint32_t rank, thread;
    const char *func;
    const char *waits_for; /* kind of waiting; NULL where it does not wait */
    uint64_t begin_ns, end_ns, time_ns;
};

struct prov_gpu {
    uint32_t context, device, stream, thread;
    bool has_parent;
    struct prov_event parent; /* the call on the processor that started it */
    uint32_t parent_thread;
    struct prov_call *parent_stack; /* [n_parent_stack] that call first */
    size_t n_parent_stack;
};

/* The last values of what is watched on the node. */
struct prov_node {
    uint64_t time_ns;
    struct prov_counter *field; /* [n_fields], id and time_ns unused */
    size_t n_fields;
};

/* An execution of a function of interest; what it is compared with are its like. */
struct prov_execution {
    uint32_t index;               /* #RANK-INDEX */
    uint64_t n_calls, n_messages; /* inside it, itself included; the window has some of them */
    double threshold;             /* of the score */
    uint64_t typical_ns;          /* median of the durations so far */
    const char *why;              /* of a strange one, a sentence; NULL: none */
};

struct prov_record {
    bool is_late; /* nothing is known of what was around it; not stored, only counted */
    struct prov_event event; /* with its rank and step */
    uint32_t program, thread, fid;
    const char *func, *hostname;
    uint64_t enter_ns, leave_ns;
    uint64_t inclusive_ns, exclusive_ns;
    uint64_t step_begin_ns, step_end_ns;
    double score, p; /* p: how likely a normal call is as strange */
    uint64_t severity_ns;
    const char *algorithm;   /* that judged it */
    uint64_t model_version;  /* in the collection ad_model */
    struct prov_call *stack; /* [n_stack] the call itself first */
    size_t n_stack;
    struct prov_window window;
    struct prov_counter *counter; /* [n_counters] */
    size_t n_counters;
    struct prov_link *cause; /* [n_cause], 0: not known */
    size_t n_cause;
    struct prov_partner *partner; /* [n_partners] */
    size_t n_partners;
    bool is_gpu, has_node, is_execution;
    struct prov_gpu gpu;             /* when is_gpu */
    struct prov_node node;           /* when has_node */
    struct prov_execution execution; /* when is_execution: the record is of its root */
};

/* Of a record that is read: a recorder writes some 11,000 elements at most (live_recorder.h).
 */
#define PROV_MAX_BYTES (16u << 20)      /* before compression */
#define PROV_MAX_ELEMENTS 65536u        /* of all its lists */
#define PROV_MAX_TEXT_BYTES (32u << 20) /* bytes of all names, where they stand */

/*
 * prov_record_pack -- append to a pack, uncompressed. NULL names are "". O(size of the record).
 */
void prov_record_pack(const struct prov_record *record, struct pack *pack);

/*
 * prov_partner_pack, prov_partner_unpack -- a partner alone, likewise: what one process tells
 * another. unpack returns 0 or ERR_FORMAT; takes anything, within the limits below.
 */
void prov_partner_pack(const struct prov_partner *partner, struct pack *pack);
int prov_partner_unpack(struct pack *pack, struct arena *arena, struct prov_partner *partner);

/*
 * prov_record_unpack -- the reverse.
 *   record  out: names and arrays are in the arena
 * Returns 0 or ERR_FORMAT. Takes anything; allocates at most some 100 bytes per byte of it, and
 * no more than the limits above allow.
 */
int prov_record_unpack(struct pack *pack, struct arena *arena, struct prov_record *record);

/*
 * prov_compress -- bytes as one zstd frame with a checksum, appended to out.
 *   context  from prov_compressor, for one thread; free it with ZSTD_freeCCtx
 */
ZSTD_CCtx *prov_compressor(void);
void prov_compress(ZSTD_CCtx *context, const void *data, size_t bytes, struct pack *out);

/*
 * prov_record_read -- the reverse, into the arena, and prov_record_unpack. ERR_FORMAT also for
 * what is not one whole undamaged frame of at most PROV_MAX_BYTES.
 */
int prov_record_read(const void *data, size_t bytes, struct arena *arena,
                     struct prov_record *record);

/* What a store knows of a record that the record does not. */
struct prov_final {
    int64_t run;        /* that wrote it, from 1; 0: not known */
    const char *run_id; /* likewise; NULL: not known */
    uint64_t stored_ns; /* since 1970; 0: not known */
    bool is_judged;     /* by the final model; the rest is void when not */
    bool is_pruned;     /* an anomaly that is normal by it, or the reverse */
    double score, p;
    bool has_cost; /* what it cost the program is known */
    int64_t cost_ns;
    bool cost_is_bound; /* it is at most that */
};

#define PROV_EXECUTION_ID_SIZE 48

/* prov_execution_id -- "#4-40", "#4.1-40" off the master thread. Returns out. */
char *prov_execution_id(uint32_t rank, uint32_t thread, uint64_t index,
                        char out[PROV_EXECUTION_ID_SIZE]);

/* prov_record_to_json -- a new object. O(size of the record). */
json_t *prov_record_to_json(const struct prov_record *record, const struct prov_final *final);

#endif
