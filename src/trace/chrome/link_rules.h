/*
 * link_rules -- which calls of a trace belong together, where it does not record that: the ends
 * of a message, the members of a collective. By name and arguments.
 *
 * A rule is a line; words are parted by blanks, those with blanks stand in double quotes:
 *
 *     # LABEL  WHAT        NAME          KEYS
 *     forward  send        forward-send  rank "thread:PP rank"+1 step
 *     forward  receive     forward-recv  rank "thread:PP rank"   step
 *     params   all-to-all  *-all-gather  "thread:PP rank" step
 *
 * NAME is a shell pattern. Calls belong together whose rules have the same label and whose keys
 * have equal values; of several with equal values, the first of each member, the second, and so
 * on. WHAT is send, receive, barrier, all-to-all, one-to-all, all-to-one; `sizes` says what the
 * collectives of its label and keys carry, in their order, where these do not say it; `none`
 * leaves out calls that a rule below it would take. The first of these rules that fits a call
 * holds.
 *
 *     next  before  forward-compute  rank "thread:PP rank" step seq_id+1
 *     next  after   forward-recv     rank "thread:PP rank" step seq_id
 *
 * A call of `after` does not begin before one of `before` has ended that has the same label and
 * keys: of several, the last whose middle was over when it began. All rules of these kinds hold
 * that fit a call.
 *
 *     KEY           its value
 *     ARG           of this name in "args"; "ARG"? where it may be missing
 *     ARG=PATTERN   none: the rule is only for calls with a value that fits
 *     pid, tid      as the trace has them
 *     rank          of the process
 *     thread:TEXT   the number that stands behind TEXT in the name of the thread
 *     process:TEXT  likewise of the process
 *     KEY+N, KEY-N  a number, N more or less
 *
 * `sent:ARG`, `received:ARG` and `bytes:ARG` (both) say how many bytes go by; ARG*TYPE, that
 * ARG counts elements of a type that TYPE names. Of a list of lists it is the product of the
 * first that is not empty. `members:ARG` says how many take part in a collective, where some
 * may not be in the trace. `each:rank` has collectives counted by rank, whatever thread they
 * are on. `with:NAME` has the rule hold only in a trace that has calls of this name (a shell
 * pattern), `without:NAME` in one that has none; elsewhere nothing holds of its calls.
 */
#ifndef SNAG_TRACE_LINK_RULES_H
#define SNAG_TRACE_LINK_RULES_H

#include "base/arena.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINK_MAX_KEYS 8
#define LINK_MAX_CONDITIONS 4

enum link_what {
    LINK_NONE,
    LINK_SEND,
    LINK_RECEIVE,
    LINK_COLLECTIVE,
    LINK_SIZES,
    LINK_BEFORE,
    LINK_AFTER,
};

enum link_key_kind { LINK_ARG, LINK_PID, LINK_TID, LINK_RANK, LINK_THREAD, LINK_PROCESS };

struct link_key {
    enum link_key_kind kind;
    uint32_t arg;       /* of LINK_ARG: index into struct link_rules arg */
    const char *text;   /* of LINK_THREAD and LINK_PROCESS: what the number stands behind */
    const char *wanted; /* what the value of a call must fit; NULL: it is a key */
    uint32_t place;     /* among the keys of its rule: those of one place are compared */
    int64_t plus;
    bool may_be_missing;
};

#define LINK_NO_ARG UINT32_MAX

struct link_bytes {
    uint32_t arg, type; /* indices into struct link_rules arg, or LINK_NO_ARG */
};

/* What calls a trace must have for a rule to hold, or must not have. */
struct link_condition {
    const char *pattern;
    bool is_wanted;
};

struct link_rule {
    const char *label, *pattern;
    enum link_what what;
    enum collective_kind collective;
    struct link_key key[LINK_MAX_KEYS]; /* [n_keys] */
    uint32_t n_keys;
    struct link_condition condition[LINK_MAX_CONDITIONS]; /* [n_conditions] all must be met */
    uint32_t n_conditions;
    struct link_bytes sent, received, members;
    bool is_each_rank;
    const char *from; /* where it stands: the file, or the name of a set that is built in */
};

struct link_rules {
    struct link_rule *rule; /* [n] */
    size_t n, cap;
    const char **arg; /* [n_args] names within "args" that rules speak of */
    uint32_t n_args;
    size_t arg_cap;
    uint32_t most_args; /* a rule with more is an error */
    struct arena arena;
};

void link_rules_release(struct link_rules *rules);

/* link_rules_arg -- the index of this name in "args", LINK_NO_ARG when there are too many. */
uint32_t link_rules_arg(struct link_rules *rules, const char *name);

/*
 * link_rules_add -- the rules of a text, behind those that are there.
 *   from  what a message calls the text
 * Returns 0, or ERR_FORMAT naming the line that makes no sense.
 */
int link_rules_add(struct link_rules *rules, const char *text, const char *from);

/* link_rules_read -- likewise those of a file. Returns 0, ERR_IO or ERR_FORMAT. */
int link_rules_read(struct link_rules *rules, const char *path);

/* link_rules_built_in -- adds those for traces that are known: see link_rules.c. */
void link_rules_built_in(struct link_rules *rules);

/* link_rules_find -- the first rule from `at` on whose pattern fits, rules->n for none. */
size_t link_rules_find(const struct link_rules *rules, size_t at, const char *name);

#endif
