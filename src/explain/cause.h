/*
 * cause -- from a call that lost time by waiting, across ranks, to the call it waited for.
 *
 *     rank 4   [ MPI_Wait .................. ]      waits for a message of rank 7, which was
 *     rank 7   [ MPI_Wait ......... ][ MPI_Send ]   late as it waited itself for rank 5,
 *     rank 5   [ FLUSH .... ][ MPI_Send ]           which wrote out its trace: there it ends
 *
 * One link: whom the call waits for, and until when (waiting.h); then, on that rank, what made
 * it late: the call path it spent more time on than the waiting rank did since the two were
 * last in step (struct stretch). Where they never were, or nothing differs enough, the path
 * that took most of the wait itself. A wait found there is the next link; anything else is the
 * end.
 *
 * Time is conserved: a link explains at most what the link before it explains, at most the time
 * its call took, and at most what the waiting call waited before the other was there. What is
 * left over is transfer, or spread over calls too small to name. Where that alone is as long as
 * the delay, and the wait is not, the chain ends: who was waited for was as late as ever.
 *
 * In a step of a running program much of what made a rank late may lie before the step
 * (call_view.known_ns). So a call is named only if it explains more than the time of which nothing
 * is known; and where two ranks cannot be compared, only by what it took beyond typical
 * (trace_view.typical_ns).
 *
 * `snag show --json` has it as the array "cause", one object per link:
 *     {"rank", "thread", "call" (row in calls/ of the location), "function", "path" [names],
 *      "begin_ns", "end_ns" (the part of the call that is looked at), "time_ns" (in the call
 *      and its like, without those inside), "calls", "explained_ns", "waits_for" (null, "sender",
 *      "receiver", "collective", "unknown"), "peer" (rank or null), "late" (false: it was there
 *      in time, but took long), "guessed", "delay_ns" (waited for the peer), "bytes", "tag"}
 * and beside it "cause_end", one of the names of cause_end_name.
 *
 * Source: Boehme et al., ACM TOPC 3(2), 2016 (see struct stretch). Departs from it: not costs
 * summed per call path, but the one largest cause of one execution's delay, link by link.
 */
#ifndef SNAG_EXPLAIN_CAUSE_H
#define SNAG_EXPLAIN_CAUSE_H

#include "explain/trace_view.h"
#include "explain/waiting.h"
#include "features/context.h"
#include "stack/calls.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * stretch -- what a location did between two moments, by call path, and how that compares with
 * what another location did meanwhile.
 *
 * Two ranks that leave a synchronisation together and do the same arrive together at the next
 * one. So what the late one did more of than the one that waits is what made it late: not the
 * most time, but the largest difference. Ordinary work that the late rank was still busy with
 * when the other began to wait cancels out.
 *
 * Source: Boehme, Geimer, Arnold, Voigtlaender, Wolf. Identifying the Root Causes of Wait
 * States in Large-Scale Parallel Applications. ACM TOPC 3(2), 2016: delays in synchronisation
 * intervals. Departs from it: paths in which a rank waits are compared too, but what is named
 * is the longest single wait in them, as that is what can be followed further.
 */

/* One call path. */
struct stretch_path {
    uint64_t total_ns; /* time in its calls but not in their children, clipped */
    uint64_t other_ns; /* the same of the other location */
    uint64_t longest_ns;
    uint32_t longest; /* row of the call that took longest_ns */
    uint32_t n_calls;
    uint32_t generation; /* of the stretch this was last used for */
};

struct stretch {
    struct context paths;      /* of all stretches so far */
    struct stretch_path *path; /* [paths.n] */
    size_t path_cap;
    uint32_t *used; /* [n_used] paths of this stretch */
    size_t n_used, used_cap;
    uint32_t generation;
    struct stretch_open *open; /* calls open at the sweep */
    size_t open_cap;
};

void stretch_release(struct stretch *stretch);

#define CAUSE_MAX_LINKS 32
#define CAUSE_SIZE 512
#define STRETCH_MAX_CALLS 32768 /* in a stretch: about a millisecond's work */

enum cause_end {
    CAUSE_NOT_WAITING, /* the last call is not waiting: it is the cause */
    CAUSE_TRACER,      /* the same, and it is not the program's but the tracer's */
    CAUSE_NO_DATA,     /* the rank waited for has no events */
    CAUSE_UNMATCHED,   /* the other end of the message is not in the trace */
    CAUSE_UNKNOWN,     /* MPI, but no record says what it waits for */
    CAUSE_IN_TIME,     /* the other was there in time, or so late only that what the call took
                          behind that is all of the delay: the operation itself was slow */
    CAUSE_UNEXPLAINED, /* the other was late, but did nothing that explains it */
    CAUSE_CYCLE,       /* the call waited for is one of the chain */
    CAUSE_TOO_LONG,    /* more than CAUSE_MAX_LINKS */
    CAUSE_STOPPED,     /* the other was there in time and waited as well: it was stopped itself
                          (exchange.h) */
    N_CAUSE_ENDS
};

struct cause_link {
    uint32_t location, call;   /* row among its calls */
    uint32_t n_calls;          /* of the same path in that time; the longest is `call` */
    uint64_t begin_ns, end_ns; /* of the call, clipped to the time that matters */
    uint64_t time_ns;          /* of all n_calls, but not of what they call */
    uint64_t explained_ns;     /* of the delay of the first link; never grows */
    bool is_longer;         /* than typical of these calls on a GPU, by explained_ns or more */
    struct waiting waiting; /* kind WAITING_NOT in the last link only */
};

struct cause {
    struct cause_link link[CAUSE_MAX_LINKS];
    uint32_t n;
    enum cause_end end;
};

/*
 * cause_of -- the chain that begins with a call.
 *   row      of the call, on this location
 *   lost_ns  what it took over what is typical of it; INFINITY: not known, all that it took
 *   stretch  scratch, kept from chain to chain
 * O(links x (log n + calls since the ranks were last in step)), bounded by STRETCH_MAX_CALLS.
 */
void cause_of(const struct trace_view *view, uint32_t location, uint32_t row, double lost_ns,
              struct stretch *stretch, struct cause *out);

/*
 * cause_first -- the call of a tree where a chain should begin: that which lost most, or the
 * one that lost most by waiting where that is at least half as much.
 *   root     row of the tree
 *   lost_ns  (subtree_len of root) exclusive time over what is typical
 * Returns a row, or NO_CALL when no time was lost. O(calls in the tree).
 */
uint32_t cause_first(const struct trace_view *view, uint32_t location, uint32_t root,
                     const double *lost_ns);

/* cause_has_news -- it says more than that a call took long by itself. */
bool cause_has_news(const struct cause *cause);

/*
 * cause_sentence -- "MPI_Wait 10.2 ms <- rank 7 MPI_Wait 9.90 ms <- rank 5 solve 9.60 ms", and
 * in brackets why it ends where that is not at a call that does not wait, or at one of the
 * tracer. Returns out.
 */
char *cause_sentence(const struct trace_view *view, const struct cause *cause,
                     char out[CAUSE_SIZE]);

/*
 * cause_end_sentence -- why the chain ends, for people.
 *   is_blamed  the time that the chain explains was lost; else it only waited, as others do, and
 *              nothing is called a delay, or its cause
 * Returns out.
 */
char *cause_end_sentence(const struct trace_view *view, const struct cause *cause,
                         bool is_blamed, char out[CAUSE_SIZE]);

/* cause_end_name -- "not_waiting", "tracer", "no_data", "unmatched", ... */
const char *cause_end_name(enum cause_end end);

#endif
