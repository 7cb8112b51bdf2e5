/*
 * links -- the calls of a trace that rules take for ends of messages or members of collectives,
 * and which of them belong together.
 *
 *     link = links_add(links, region, record, &call);   for each call; MARKS_NO_LINK: none
 *     links_end(links, threads, defs);                  when all calls and names are known
 *     links_of(links, link)                             what the call takes part in
 */
#ifndef SNAG_TRACE_LINKS_H
#define SNAG_TRACE_LINKS_H

#include "trace/chrome/chrome_json.h"
#include "trace/chrome/link_rules.h"
#include "trace/definitions.h"

#include <stdint.h>

/* The call that a record is of. */
struct link_call {
    uint32_t region;
    const char *name; /* of the region */
    uint32_t thread;  /* of the source's */
    uint64_t pid, tid;
    int64_t time_ns, end_ns;
};

/* What a thread is, once all of the trace has been read. */
struct link_thread {
    uint32_t rank;
    uint32_t location; /* its index in the definitions */
    uint32_t n_ranks;  /* of the job, 0 when not known: members of a collective `each:rank` */
    const char *name, *process; /* "" where they have none */
    int64_t shift_ns;           /* added to its times */
    bool is_left_out;           /* it is no location: its calls take part in nothing */
};

/* What a call takes part in. */
struct link {
    enum link_what what; /* LINK_NONE: nothing after all */
    enum collective_kind kind;
    uint32_t comm, peer; /* peer: rank at the other end of a message */
    uint32_t number;     /* its tag; or the number of the collective on its communicator */
    uint32_t n_members;  /* of the collective, as the call says; 0 when it does not */
    uint64_t sent_bytes, received_bytes;
};

struct links;

/* links_new -- the rules must outlive it. */
struct links *links_new(const struct link_rules *rules);
void links_free(struct links *links);

/* links_add -- the link of a call, or MARKS_NO_LINK when no rule is for it. */
uint32_t links_add(struct links *links, const struct chrome_record *record,
                   const struct link_call *call);

/*
 * links_end -- find out which belong together; defines their communicators, and what rules were
 * used (definitions_linking).
 *   thread  by number; O(n log n) of the links
 */
void links_end(struct links *links, const struct link_thread *thread, struct definitions *defs);

/* links_of -- after links_end. */
const struct link *links_of(const struct links *links, uint32_t link);

#endif
