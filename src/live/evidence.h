/*
 * evidence -- all that a record says beside the verdict: how the call came about, what it did
 * and what others did meanwhile, as far as this step and what is kept of those before show it;
 * on which node, and how that was (memory, load, network); which call on the processor started
 * what runs on a GPU.
 *
 * Which counters say how the node is, is said by a prefix of their names, or by a list as
 * Chimbuko reads it. They belong to the node, not to the call that was running when they were
 * read.
 *
 *     [["monitoring: Memory Footprint (VmRSS) (KB)", "memory_kb"], ...]      counter, field
 *
 * Of a launch and what it started tracers give the same number, the counter "Correlation ID".
 * The activity is often reported long after the launch, or before it, so the last launches are
 * kept with their callers: LAUNCHES_KEPT of them, and those that share a place in the table
 * drive each other out.
 */
#ifndef SNAG_LIVE_EVIDENCE_H
#define SNAG_LIVE_EVIDENCE_H

#include "base/arena.h"
#include "base/names.h"
#include "explain/cause.h"
#include "live/ad.h"
#include "live/call_history.h"
#include "live/partners.h"
#include "live/step_view.h"
#include "prov/prov_record.h"
#include "prov/prov_store.h"

#include <stdbool.h>
#include <stdint.h>

struct hosts {
    struct names name;  /* 0 is that of processes which say nothing of it */
    uint32_t *of_group; /* [n_groups] index into name */
    uint32_t n_groups;
    size_t cap;
    size_t n_metadata; /* rows that were looked at */
};

/* hosts_step -- what is new in the metadata; rows go to the store too. O(new rows). */
void hosts_step(struct hosts *hosts, struct call_histories *h, const struct definitions *defs,
                struct prov_store *store);

#define LAUNCHES_COUNTER "Correlation ID"
#define LAUNCHES_KEPT 16384u /* a power of two */
#define LAUNCHES_DEPTH 16u   /* callers that are kept of each */

struct launch {
    int64_t correlation;
    uint32_t group; /* process */
    uint32_t thread;
    uint32_t n_stack;                       /* 0: there is none here */
    struct prov_call stack[LAUNCHES_DEPTH]; /* the launch first */
};

struct launches {
    struct launch *launch; /* [LAUNCHES_KEPT] NULL until there is one */
};

#define NODE_STATE_MAX_FIELDS 256u /* of a node; further ones are not kept */

/* The last values on one node. */
struct node {
    uint64_t time_ns;
    struct prov_counter *field; /* [n_fields] */
    size_t n_fields, cap;
};

struct node_state {
    char *prefix;         /* NULL: a list says which */
    struct names counter; /* of the list */
    struct names field;   /* field name of counter i of the list: list_field[i] */
    uint32_t *list_field;
    size_t list_cap;
    const char *
        *watched; /* [n_known] field of a counter of the definitions, NULL: not watched */
    uint32_t n_known;
    size_t known_cap;
    struct node *node; /* [n_nodes] */
    uint32_t n_nodes;
    size_t node_cap;
};

/* node_state_is_watched -- a counter of which values were taken. */
static inline bool node_state_is_watched(const struct node_state *state, uint32_t counter)
{
    return counter < state->n_known && state->watched[counter] != NULL;
}

#define EVIDENCE_MAX_PARTNERS 12u  /* of whom what they did is kept, */
#define EVIDENCE_MAX_OTHER_ENDS 4u /* of these for messages; the rest are of the cause */
#define EVIDENCE_MAX_COUNTERS 64u
#define EVIDENCE_MAX_CAUSES 64u /* chains that are followed in a step: the worst calls' */
#define EVIDENCE_MAX_STACK 256u /* callers that are kept; the outermost are left out */

/* A record in the making. */
struct evidence_record {
    struct verdict call;
    struct prov_record record; /* arrays are in the arena, but for those of the windows */
    struct around around, partner[EVIDENCE_MAX_PARTNERS];
    uint32_t partner_location[EVIDENCE_MAX_PARTNERS];
    struct far_partner far[EVIDENCE_MAX_OTHER_ENDS]; /* [n_far] that others were asked about */
    size_t n_far;
    bool has_correlation; /* it runs on a GPU, and this is its number: */
    int64_t correlation;
};

void evidence_record_release(struct evidence_record *record);

struct evidence {
    bool is_inclusive, is_by_path;
    struct call_histories histories;
    struct hosts hosts;
    struct launches launches;
    struct node_state nodes;
    struct step_view view;
    struct partners *partners; /* not its own; NULL: nobody is asked */
    struct stretch stretch;
    struct arena arena;    /* of the records of a step */
    double least_severity; /* of calls whose cause is looked for in this step */
    const double *lost_ns; /* [n_lost] by evidence_take_whole, while it is at it */
    uint32_t n_lost;
    double *severity; /* scratch */
    size_t severity_cap;
};

/* What evidence_open wants to know. */
struct evidence_opts {
    bool is_inclusive, is_by_path; /* as in struct ad_opts */
    uint32_t window;
    const char *watchlist, *counter_prefix, *hostname;
    struct partners *partners;
};

/* evidence_open -- returns 0 or what node_state_open does. Release in any case. */
int evidence_open(struct evidence *evidence, const struct evidence_opts *opts);
void evidence_release(struct evidence *evidence);

/* evidence_begin -- a step is there: names, matches, counters. O(locations + messages). */
void evidence_begin(struct evidence *evidence, const struct ad_step *step);

/* evidence_end -- it is over. What was made in its arena is not: see live_recorder.c. */
void evidence_end(struct evidence *evidence, const struct ad_step *step);

/* evidence_take -- all of a call of this step. The verdict is for the caller to fill in. */
void evidence_take(struct evidence *evidence, const struct ad_step *step,
                   const struct verdict *call, struct evidence_record *out);

/*
 * evidence_take_whole -- likewise, when it is about all that happened in the call, whatever the
 * calls are judged by.
 *   lost_ns  (n_lost) of it and all in it, exclusive time over what is typical; where these are
 *            not as many (0: not known), it is what that is for calls of their function
 */
void evidence_take_whole(struct evidence *evidence, const struct ad_step *step,
                         const struct verdict *call, const double *lost_ns, uint32_t n_lost,
                         struct evidence_record *out);

/* evidence_take_stack -- only what and where the call is, and its callers. O(callers). */
void evidence_take_stack(struct evidence *evidence, const struct ad_step *step,
                         const struct verdict *call, struct evidence_record *out);

/* evidence_take_late -- what is known of a call of an earlier step: its name and times. */
void evidence_take_late(struct evidence *evidence, const struct ad_step *step,
                        const struct verdict *call, struct evidence_record *out);

/* evidence_continue -- the step after: complete the windows, and look for the launch again. */
void evidence_continue(struct evidence *evidence, const struct ad_step *step,
                       struct evidence_record *record);

/* evidence_is_complete -- the next step has nothing to add. */
bool evidence_is_complete(const struct evidence *evidence,
                          const struct evidence_record *record);

/* evidence_place -- who and where a call is: the fields of a record that every call has. */
void evidence_place(const struct evidence *evidence, const struct ad_step *step,
                    const struct verdict *call, const struct entered *entered,
                    struct prov_record *record);

#endif
