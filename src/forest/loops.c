/*
 * Of one location: the sequence of calls of every long caller is cut by all headers that many
 * votes are for. Cuts of nearly as many iterations are one level; of the levels that last as
 * long the outermost is the step of the program, but for those that are only a step that
 * differs now and then:
 *
 *     a a a a a b a a a a a b       b is less than one a, and its share small: a is the step
 *     a a a B a a a a a a B a a     B is a level of its own, with an inner loop a
 */
#include "forest/loops.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "forest/loop_cut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEADERS 12u
#define LONG_SHARE 0.05 /* of the location's time: calls in which loops are looked for */
#define MIN_CALLS 8u    /* on a level */
#define SAME_LEVEL 1.3  /* ratio of iterations */
#define AS_LONG 0.7     /* of the longest: cuts that compete for being the step */
#define ENOUGH 20u      /* iterations: fewer make no step if there is a level inside */
#define FEW 10u
#define MAX_STAGES 4u     /* rounds that are stages or directions, not steps, if they are ... */
#define NEARLY_ALL 0.75   /* ... so many in this share of the steps */
#define OWN_CALLS 3.0     /* in calls of the inner loop */
#define OWN_SHARE 0.5     /* of its time */
#define OWN_NS 4.0        /* in iterations of an inner loop whose number varies */
#define VARIES 0.1        /* standard deviation over mean */
#define CLEARLY_ALIKE 0.7 /* likeness; where there is such a loop, no other is looked at */
#define CLEAR_SHARE 0.3   /* of the time is in typical iterations */
#define EVEN 0.5          /* median over mean: less is uneven */
#define EXCHANGE_CALLS 4u
#define MAX_EXCHANGES 16u   /* of a step */
#define IS_THE_FUNCTION 0.9 /* share of a call that comes once in every iteration */
#define AT_THE_ENDS 2u      /* iterations by which locations may differ */
#define OTHER_LEVEL 0.25    /* weight of what is not held for the step of the program */

struct loop_finder {
    const struct call_view *calls;
    const struct definitions *defs;
    struct loops_found *out;
    bool goes_on;
    uint64_t least_ns; /* that a loop lasts, and a call with one */
    uint32_t caller;
    struct loop_sequence sequence;
    struct loop_cut cut[2 * MAX_HEADERS]; /* [n_cuts] those that are loops */
    uint32_t n_cuts;
};

/* --------------------------------------------------------------------------------- levels */

/* Of the same number, what the loop alone has comes first, then what has most votes. */
static int by_n(const void *a, const void *b)
{
    const struct loop_cut *p = a, *q = b;

    return ORDER(p->n, q->n) ?:
           ORDER(q->is_exact, p->is_exact) ?:
           ORDER(q->votes, p->votes) ?:
           ORDER(p->begin[0], q->begin[0]);
}

/* Cuts of the same number of iterations: the first has the votes of all. */
static uint32_t pool_votes(struct loop_cut **cut, uint32_t n)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (left > 0 && cut[left - 1]->n == cut[i]->n)
            cut[left - 1]->votes += cut[i]->votes;
        else
            cut[left++] = cut[i];
    }
    return left;
}

/* Its iterations are alike, and not most of the time is in few of them, or in unusual ones:
 * that is so of one exchange of several in a step. */
static bool is_clear(const struct loop_cut *cut)
{
    return cut->likeness >= CLEARLY_ALIKE &&
           (double)cut->typical_ns * cut->n >= CLEAR_SHARE * (double)cut->ns;
}

/* Those that are not clear, unless none is. */
static uint32_t drop_vague(struct loop_cut **cut, uint32_t n)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < n; i++)
        if (is_clear(cut[i]))
            left++;
    if (left == 0)
        return n;
    left = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_clear(cut[i]))
            cut[left++] = cut[i];
    return left;
}

/* The other has more iterations than the one with most votes: by more than the ends make, then
 * the one with most votes lacks some; or by one or two, then its header reaches into the next.
 */
static bool is_better(const struct loop_cut *other, const struct loop_cut *most)
{
    if (other->n > 1.02 * most->n + 2)
        return 4 * other->votes >= most->votes;
    return other->n > most->n && other->n <= most->n + 2 && other->is_exact && most->is_exact &&
           2 * other->votes >= most->votes;
}

/* One of cuts that are one level. */
static struct loop_cut *pick_of_level(struct loop_cut **cut, uint32_t n)
{
    struct loop_cut *most = cut[0], *best;

    for (uint32_t i = 1; i < n; i++)
        if (cut[i]->votes > most->votes)
            most = cut[i];
    best = most;
    for (uint32_t i = 0; i < n; i++)
        if (is_better(cut[i], most) && (best == most || cut[i]->votes > best->votes))
            best = cut[i];
    return best;
}

/* What an iteration of the outer loop has, on average; but for the first and the last, which
 * may not be whole. */
struct rounds {
    double n, variation; /* of the inner loop */
    bool is_fixed;       /* twice or a few times, nearly always the same */
    double calls;
};

static struct rounds count_rounds(const struct loop_cut *outer, const struct loop_cut *inner)
{
    double sum = 0, squares = 0, calls = 0, n = outer->n - 2, variance;
    uint32_t n_with[MAX_EXCHANGES + 1] = {0}, k = 0, common = 2;
    /* few calls, sometimes with computing after them and sometimes without: not all of a step */
    bool is_exchange = inner->typical_calls <= EXCHANGE_CALLS && inner->evenness < EVEN;
    uint32_t most = is_exchange ? MAX_EXCHANGES : MAX_STAGES;

    for (uint32_t i = 1; i < outer->n - 1; i++) {
        uint32_t first;

        while (k < inner->n && inner->begin[k] < outer->begin[i])
            k++;
        for (first = k; k < inner->n && inner->begin[k] < outer->end[i];)
            k++;
        sum += k - first;
        squares += (double)(k - first) * (k - first);
        calls += outer->end[i] - outer->begin[i];
        if (k - first <= most)
            n_with[k - first]++;
    }
    for (uint32_t i = common; i <= most; i++)
        common = n_with[i] > n_with[common] ? i : common;
    variance = squares / n - sum / n * (sum / n);
    return (struct rounds){
        .n = sum / n,
        .variation = sum > 0 && variance > 0 ? sqrt(variance) / (sum / n) : 0,
        .is_fixed = n_with[common] >= NEARLY_ALL * n,
        .calls = calls / n,
    };
}

/* The outer one is more than an iteration of the inner one that differs now and then. */
static bool is_own_level(const struct loop_cut *outer, const struct loop_cut *inner)
{
    struct rounds rounds = count_rounds(outer, inner);
    double ns = (double)outer->ns / outer->n;
    double own_ns = ns - rounds.n * (double)inner->typical_ns;
    double own_calls = rounds.calls - rounds.n * inner->typical_calls;

    if (outer->n < FEW && inner->n >= ENOUGH)
        return false;
    return rounds.is_fixed || own_ns > OWN_SHARE * ns ||
           own_calls > OWN_CALLS * inner->typical_calls ||
           (rounds.variation > VARIES && own_ns > OWN_NS * (double)inner->typical_ns);
}

/* Of the levels step, step + 1 ... none is more than iterations of `inner` that differ. */
static bool is_step_of_all(struct loop_cut *const *level, uint32_t step, uint32_t inner)
{
    for (uint32_t i = step; i < inner; i++)
        if (is_own_level(level[i], level[inner]))
            return false;
    return true;
}

/* ----------------------------------------------------------------------------------- parts */

/* True when one function is called in every iteration and is nearly all of its time: that is the
 * better one to look at. One that is the only call, but a small part, is merely where the caller's
 * own computing is seen to begin again; where there is no caller, nothing is known to be between. */
static bool is_a_function(const struct loop_finder *f, const struct loop_cut *cut)
{
    const struct call_view *calls = f->calls;
    uint32_t n_regions = f->defs->names.n;
    uint64_t *ns = mem_alloc(n_regions, sizeof *ns);
    uint32_t *n = mem_alloc(n_regions, sizeof *n);
    bool is = false;

    for (uint32_t i = 0; i < cut->n; i++)
        for (uint32_t k = cut->begin[i]; k < cut->end[i]; k++) {
            uint32_t row = f->sequence.row[k], region = calls->region[row];

            n[region]++;
            ns[region] += calls->inclusive_ns[row];
        }
    for (uint32_t r = 0; r < n_regions && !is; r++)
        is = n[r] > 0 && n[r] <= 1.1 * cut->n && f->defs->region[r].kind == REGION_USER &&
             ((f->caller == NO_CALL && cut->typical_calls == 1) ||
              (double)ns[r] > IS_THE_FUNCTION * (double)cut->ns);
    free(ns);
    free(n);
    return is;
}

static void add_part(struct loop_finder *f, const struct loop_cut *cut, bool is_step)
{
    const struct loop_sequence *s = &f->sequence;
    struct loop_part *part;

    if (f->out->n == sizeof f->out->part / sizeof *f->out->part || cut->ns < f->least_ns ||
        is_a_function(f, cut))
        return;
    part = &f->out->part[f->out->n++];
    *part = (struct loop_part){.calls = {.n = cut->n, .typical_ns = cut->typical_ns},
                               .begin_ns = mem_alloc(cut->n, sizeof *part->begin_ns),
                               .ns = mem_alloc(cut->n, sizeof *part->ns),
                               .caller = f->caller,
                               .first = f->calls->region[s->row[cut->begin[0]]],
                               .n_odd = cut->n_odd,
                               .is_step = is_step};
    part->calls.begin = mem_alloc(cut->n, sizeof *part->calls.begin);
    part->calls.end = mem_alloc(cut->n, sizeof *part->calls.end);
    for (uint32_t i = 0; i < cut->n; i++) {
        uint32_t last = s->row[cut->end[i] - 1];

        part->calls.begin[i] = s->row[cut->begin[i]];
        part->calls.end[i] = last + f->calls->subtree_len[last];
        part->begin_ns[i] = f->calls->enter_ns[part->calls.begin[i]];
    }
    for (uint32_t i = 0; i < cut->n; i++)
        part->ns[i] = insertion_ns(f->calls, &part->calls, i);
}

/* ---------------------------------------------------------------------------------- choice */

/* The levels of cuts, outermost first. */
static uint32_t levels_of(struct loop_cut **cut, uint32_t n, struct loop_cut **level)
{
    uint32_t n_levels = 0;

    n = pool_votes(cut, n);
    n = drop_vague(cut, n);
    for (uint32_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && cut[k]->n <= SAME_LEVEL * cut[k - 1]->n;)
            k++;
        level[n_levels++] = pick_of_level(cut + i, k - i);
    }
    return n_levels;
}

static bool overlap(const struct loop_cut *a, const struct loop_cut *b)
{
    uint64_t begin = a->begin_ns > b->begin_ns ? a->begin_ns : b->begin_ns;
    uint64_t end = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;
    uint64_t shorter = a->ns < b->ns ? a->ns : b->ns;

    return a->begin_ns == b->begin_ns ||
           (end > begin && (double)(end - begin) > 0.1 * (double)shorter);
}

static const struct loop_cut *longest_cut(const struct loop_finder *f)
{
    const struct loop_cut *longest = &f->cut[0];

    for (uint32_t i = 1; i < f->n_cuts; i++)
        longest = f->cut[i].ns > longest->ns ? &f->cut[i] : longest;
    return longest;
}

/* The step, and the other levels, of the cuts that last about as long as the longest. */
static void add_levels(struct loop_finder *f, const struct loop_cut *longest)
{
    struct loop_cut *cut[2 * MAX_HEADERS], *level[2 * MAX_HEADERS] = {NULL};
    uint32_t n = 0, n_levels, step = 0;

    for (uint32_t i = 0; i < f->n_cuts; i++)
        if ((double)f->cut[i].ns >= AS_LONG * (double)longest->ns &&
            overlap(&f->cut[i], longest))
            cut[n++] = &f->cut[i];
    n_levels = levels_of(cut, n, level);
    for (uint32_t i = 1; i < n_levels; i++)
        if (is_step_of_all(level, step, i))
            step = i;
    add_part(f, level[step], true);
    for (uint32_t i = 0; i < n_levels; i++)
        if (i != step && is_clear(level[i]) && level[i]->typical_calls > 1)
            add_part(f, level[i], false);
}

/* Done with what is at the same time as the longest. */
static void drop_cuts(struct loop_finder *f, const struct loop_cut *longest)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < f->n_cuts; i++) {
        struct loop_cut cut = f->cut[i];

        if (overlap(&cut, longest))
            loop_cut_release(&cut);
        else
            f->cut[left++] = cut;
    }
    f->n_cuts = left;
}

static void cut_by_headers(struct loop_finder *f)
{
    struct loop_header header[MAX_HEADERS];
    size_t n = loop_headers(&f->sequence, header, MAX_HEADERS);

    for (size_t i = 0; i < n; i++) {
        struct loop_cut *cut = &f->cut[f->n_cuts];

        loop_cut_make(cut, &f->sequence, f->calls, &header[i], f->goes_on);
        if (cut->n > 0)
            f->n_cuts++;
        else
            loop_cut_release(cut);
    }
    if (f->n_cuts > 0)
        qsort(f->cut, f->n_cuts, sizeof *f->cut, by_n);
}

/* A long call: its region, or NO_CALL for the whole location, and the rows inside it. */
struct long_call {
    uint32_t region, begin, end;
};

/* From the first call inside to the end of the last. */
static uint64_t time_inside(const struct call_view *calls, const struct long_call *call)
{
    uint32_t last = call->end - 1;

    return calls->enter_ns[last] + calls->inclusive_ns[last] - calls->enter_ns[call->begin];
}

static void cut_calls(struct loop_finder *f, const struct long_call *call, size_t n,
                      bool has_partners)
{
    loop_sequence_clear(&f->sequence);
    for (size_t i = 0; i < n; i++)
        loop_sequence_add(&f->sequence, f->calls, f->defs, call[i].begin, call[i].end,
                          has_partners);
    if (f->sequence.n >= MIN_CALLS)
        cut_by_headers(f);
}

/* What they do with whom; where that does not repeat, what they do. */
static void find_in(struct loop_finder *f, const struct long_call *call, size_t n)
{
    uint64_t ns = 0;

    f->caller = call->region;
    for (size_t i = 0; i < n; i++)
        ns += time_inside(f->calls, &call[i]);
    cut_calls(f, call, n, true);
    if (f->n_cuts == 0 || longest_cut(f)->ns < ns / 2)
        cut_calls(f, call, n, false);
    /* The step of what lasts longest; then the same for what comes before or after it: the
     * program may have several phases. */
    while (f->n_cuts > 0) {
        const struct loop_cut longest = *longest_cut(f); /* a copy, for its times */

        add_levels(f, &longest);
        drop_cuts(f, &longest);
    }
}

static int by_region(const void *a, const void *b)
{
    const struct long_call *p = a, *q = b;

    return ORDER(p->region, q->region) ?: ORDER(p->begin, q->begin);
}

/* Between two operations of a GPU, or two turns of a thread in a team, there is nothing to do:
 * these have no iterations of their own. */
static bool is_helper(const struct location *where, const struct call_view *calls,
                      const struct definitions *defs)
{
    if (where->is_gpu || where->thread == 0)
        return where->is_gpu;
    for (uint32_t i = 0; i < calls->n; i += calls->subtree_len[i]) {
        const struct region *region = &defs->region[calls->region[i]];

        if (region->kind == REGION_OPENMP && !region_is_autograd_wait(region))
            return true;
    }
    return false;
}

/* All that last long, and the location itself if it is not a helper. */
static size_t long_calls(const struct loop_finder *f, const struct location *where,
                         struct long_call **list)
{
    const struct call_view *calls = f->calls;
    size_t n_long = 0, n_kept = 0, cap = 0;

    if (!is_helper(where, calls, f->defs)) {
        mem_grow(list, &cap, 1);
        (*list)[n_long++] = (struct long_call){NO_CALL, 0, calls->n};
    }
    for (uint32_t i = 0; i < calls->n;) {
        uint32_t len = calls->subtree_len[i];
        bool is_tracers = f->defs->region[calls->region[i]].kind == REGION_TRACER;

        if (calls->inclusive_ns[i] < f->least_ns || len == 1 || is_tracers) {
            i += len;
            continue;
        }
        mem_grow(list, &cap, n_long + 1);
        (*list)[n_long++] = (struct long_call){calls->region[i], i + 1, i + len};
        i++;
    }
    if (n_long > 0)
        qsort(*list, n_long, sizeof **list, by_region);
    for (size_t i = 0; i < n_long; i++) { /* not what is inside another call of its region */
        const struct long_call *last = n_kept > 0 ? &(*list)[n_kept - 1] : NULL;

        if (last == NULL || last->region != (*list)[i].region || last->end <= (*list)[i].begin)
            (*list)[n_kept++] = (*list)[i];
    }
    return n_kept;
}

void loops_find(const struct call_view *calls, const struct location *where,
                const struct definitions *defs, bool goes_on, struct loops_found *out)
{
    struct loop_finder f = {.calls = calls, .defs = defs, .goes_on = goes_on, .out = out};
    struct long_call *list = NULL;
    size_t n;

    out->n = 0;
    if (calls->n == 0)
        return;
    f.least_ns = (uint64_t)(LONG_SHARE * (double)time_inside(
                                             calls, &(struct long_call){NO_CALL, 0, calls->n}));
    n = long_calls(&f, where, &list);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && list[k].region == list[i].region;)
            k++;
        find_in(&f, list + i, k - i);
    }
    loop_sequence_release(&f.sequence);
    free(list);
}

static void part_release(struct loop_part *part)
{
    free(part->calls.begin);
    free(part->calls.end);
    free(part->begin_ns);
    free(part->ns);
    *part = (struct loop_part){0};
}

void loops_found_release(struct loops_found *found)
{
    for (uint32_t i = 0; i < found->n; i++)
        part_release(&found->part[i]);
    found->n = 0;
}

void loops_found_pack(const struct loops_found *found, struct pack *pack)
{
    pack_u32(pack, found->n);
    for (uint32_t i = 0; i < found->n; i++) {
        const struct loop_part *part = &found->part[i];
        const struct insertion *calls = &part->calls;

        pack_u32(pack, calls->region);
        pack_array(pack, calls->begin, calls->n, sizeof *calls->begin);
        pack_array(pack, calls->end, calls->n, sizeof *calls->end);
        pack_u64(pack, calls->typical_ns);
        pack_array(pack, part->begin_ns, calls->n, sizeof *part->begin_ns);
        pack_array(pack, part->ns, calls->n, sizeof *part->ns);
        pack_u32(pack, part->caller);
        pack_u32(pack, part->first);
        pack_u32(pack, part->n_odd);
        pack_u32(pack, part->is_step);
    }
}

static void unpack_part(struct loop_part *part, struct pack *pack)
{
    struct insertion *calls = &part->calls;

    calls->region = unpack_u32(pack);
    calls->n = (uint32_t)unpack_count(pack, sizeof *calls->begin);
    calls->begin = unpack_array(pack, calls->n, sizeof *calls->begin);
    calls->end = unpack_array(pack, calls->n, sizeof *calls->end);
    calls->typical_ns = unpack_u64(pack);
    part->begin_ns = unpack_array(pack, calls->n, sizeof *part->begin_ns);
    part->ns = unpack_array(pack, calls->n, sizeof *part->ns);
    part->caller = unpack_u32(pack);
    part->first = unpack_u32(pack);
    part->n_odd = unpack_u32(pack);
    part->is_step = unpack_u32(pack) != 0;
}

int loops_found_unpack(struct loops_found *found, struct pack *pack)
{
    uint32_t n = unpack_u32(pack);

    *found = (struct loops_found){.n = 0};
    while (found->n < n && n <= MAX_LOOPS * 2)
        unpack_part(&found->part[found->n++], pack);
    return pack->is_bad || found->n < n ? err_set(ERR_FORMAT, "these are no loops") : 0;
}

/* ---------------------------------------------------------------------------- all locations */

/*
 * The parts of one loop have the same caller and the same number of iterations: on most
 * locations, and there with most time. They are at the same time, which tells them from those of
 * another loop with as many. A location that has one or two more or fewer saw the ends otherwise;
 * then all keep the iterations that they have in common, by their times.
 */

/* What locations found, as votes. */
struct caller_vote {
    uint32_t caller, n;
    double weight;
    double part_weight;        /* of the part that weighs most */
    uint64_t begin_ns, end_ns; /* of that, by the common clock */
};

static int by_loop(const void *a, const void *b)
{
    const struct caller_vote *p = a, *q = b;

    return ORDER(p->caller, q->caller) ?: ORDER(p->n, q->n);
}

static double weight_of(const struct loop_part *part)
{
    double sum = 0;

    for (uint32_t i = 0; i < part->calls.n; i++)
        sum += (double)part->ns[i];
    return sum * (part->is_step ? 1 : OTHER_LEVEL);
}

static struct caller_vote vote_for(const struct loop_part *part, const struct clock_fix *fix)
{
    uint32_t last = part->calls.n - 1;
    double weight = weight_of(part);

    return (struct caller_vote){
        .caller = part->caller,
        .n = part->calls.n,
        .weight = weight,
        .part_weight = weight,
        .begin_ns = clock_fixed(fix, part->begin_ns[0]),
        .end_ns = clock_fixed(fix, part->begin_ns[last] + part->ns[last]),
    };
}

static void add_vote(struct caller_vote *sum, const struct caller_vote *vote)
{
    sum->weight += vote->weight;
    if (vote->part_weight <= sum->part_weight)
        return;
    sum->part_weight = vote->part_weight;
    sum->begin_ns = vote->begin_ns;
    sum->end_ns = vote->end_ns;
}

/* False when nothing is left to vote for. */
static bool elect(const struct loops_found *found, const struct clock_fix *fix,
                  const struct definitions *defs, struct caller_vote *winner)
{
    struct caller_vote *vote =
        mem_alloc((size_t)defs->n_locations * MAX_LOOPS * 2, sizeof *vote);
    size_t n = 0;

    for (uint32_t l = 0; l < defs->n_locations; l++)
        for (uint32_t i = 0; i < found[l].n; i++)
            if (found[l].part[i].calls.n > 0)
                vote[n++] = vote_for(&found[l].part[i], &fix[defs->location[l].rank]);
    if (n > 0)
        qsort(vote, n, sizeof *vote, by_loop);
    *winner = (struct caller_vote){0};
    for (size_t i = 0, k; i < n; i = k) {
        struct caller_vote sum = vote[i];

        for (k = i + 1; k < n && by_loop(&vote[i], &vote[k]) == 0; k++)
            add_vote(&sum, &vote[k]);
        if (winner->n == 0 || sum.weight > winner->weight)
            *winner = sum;
    }
    free(vote);
    return n > 0;
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* For how long two are at the same time; below 0: not at all. Clocks may be corrected to before
 * 0. */
static int64_t together_ns(const struct caller_vote *a, const struct caller_vote *b)
{
    int64_t begin = (int64_t)(b->begin_ns - a->begin_ns),
            end = (int64_t)(b->end_ns - a->begin_ns),
            length = (int64_t)(a->end_ns - a->begin_ns);

    return (end < length ? end : length) - (begin > 0 ? begin : 0);
}

/* Whether a part fits better than another: it is there at the same time, or has as many. */
static bool fits_better(const struct caller_vote *winner, const struct caller_vote *part,
                        const struct caller_vote *than)
{
    int64_t ns = together_ns(winner, part), other_ns = together_ns(winner, than);

    if (ns > 0 || other_ns > 0)
        return ns > other_ns;
    return apart(part->n, winner->n) < apart(than->n, winner->n);
}

/* Moves the part that fits best, if there is one. */
static void take_part(struct loops_found *found, const struct clock_fix *fix,
                      const struct caller_vote *winner, struct loop_part *out)
{
    struct loop_part *best = NULL;
    struct caller_vote best_vote = {0};

    for (uint32_t i = 0; i < found->n; i++) {
        struct loop_part *part = &found->part[i];
        struct caller_vote vote;

        if (part->calls.n == 0 || part->caller != winner->caller ||
            apart(part->calls.n, winner->n) > AT_THE_ENDS)
            continue;
        vote = vote_for(part, fix);
        if (best && !fits_better(winner, &vote, &best_vote))
            continue;
        best = part;
        best_vote = vote;
    }
    if (best) {
        *out = *best;
        *best = (struct loop_part){0};
    }
}

/* ------------------------------------------------------------------- the same iterations */

/* How many iterations of a are before the first of b: the number at which they are nearest. */
static uint32_t lag(const struct loop_part *a, const struct clock_fix *fix_a,
                    const struct loop_part *b, const struct clock_fix *fix_b)
{
    double least = -1;
    uint32_t best = 0;

    for (uint32_t k = 0; k + b->calls.n <= a->calls.n; k++) {
        double sum = 0;

        for (uint32_t i = 0; i < b->calls.n; i++) {
            uint64_t x = clock_fixed(fix_a, a->begin_ns[k + i]);
            uint64_t y = clock_fixed(fix_b, b->begin_ns[i]);

            sum += (double)(x > y ? x - y : y - x);
        }
        if (least < 0 || sum < least) {
            least = sum;
            best = k;
        }
    }
    return best;
}

/* All locations get as many iterations as the one with fewest. */
static void align(struct loop *loop, const struct definitions *defs,
                  const struct clock_fix *fix)
{
    const struct loop_part *fewest = NULL;
    const struct clock_fix *fewest_fix = NULL;

    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (loop->part[l].calls.n > 0 &&
            (fewest == NULL || loop->part[l].calls.n < fewest->calls.n)) {
            fewest = &loop->part[l];
            fewest_fix = &fix[defs->location[l].rank];
        }
    for (uint32_t l = 0; l < defs->n_locations; l++) {
        struct loop_part *part = &loop->part[l];
        uint32_t first, n = fewest->calls.n;

        if (part->calls.n <= n)
            continue;
        first = lag(part, &fix[defs->location[l].rank], fewest, fewest_fix);
        mem_to_front(part->calls.begin, first, n, sizeof *part->calls.begin);
        mem_to_front(part->calls.end, first, n, sizeof *part->calls.end);
        mem_to_front(part->begin_ns, first, n, sizeof *part->begin_ns);
        mem_to_front(part->ns, first, n, sizeof *part->ns);
        part->calls.n = n;
    }
}

/* ---------------------------------------------------------------------------- as a region */

const char *loop_name(const struct loop *loop, const struct definitions *defs,
                      char out[LOOP_NAME_SIZE])
{
    const struct loop_part *any = loop->part;

    while (any->calls.n == 0)
        any++;
    snprintf(out, LOOP_NAME_SIZE, "loop@%.480s",
             defs->region[any->caller == NO_CALL ? any->first : any->caller].short_name);
    return out;
}

void loop_define(struct loop *loop, struct definitions *defs)
{
    char name[LOOP_NAME_SIZE];
    size_t n = strlen(loop_name(loop, defs, name));

    for (int i = 2; names_find(&defs->names, name) != NAMES_NONE; i++)
        snprintf(name + n, sizeof name - n, "#%d", i);
    loop->region = definitions_region(defs, name);
    defs->region[loop->region].kind = REGION_LOOP;
}

static struct profile_row row_of(const struct loop *loop, uint32_t n_locations)
{
    struct profile_row row = {.min_ns = UINT64_MAX};

    for (uint32_t l = 0; l < n_locations; l++) {
        const struct loop_part *part = &loop->part[l];

        row.n_locations += part->calls.n > 0;
        row.n_outermost += part->calls.n;
        for (uint32_t i = 0; i < part->calls.n; i++) {
            row.inclusive_ns += part->ns[i];
            row.min_ns = part->ns[i] < row.min_ns ? part->ns[i] : row.min_ns;
            row.max_ns = part->ns[i] > row.max_ns ? part->ns[i] : row.max_ns;
            row.sum_squares += (unsigned __int128)part->ns[i] * part->ns[i];
            row.n_vertices += part->calls.end[i] - part->calls.begin[i] + 1;
        }
    }
    row.n_calls = row.n_outermost;
    return row;
}

void loops_elect(struct loops_found *found, const struct clock_fix *fix,
                 const struct definitions *defs, struct loops *out)
{
    struct caller_vote winner;

    *out = (struct loops){.n_locations = defs->n_locations};
    while (out->n < MAX_LOOPS && elect(found, fix, defs, &winner)) {
        struct loop loop = {.part = mem_alloc(defs->n_locations, sizeof *loop.part)};

        for (uint32_t l = 0; l < defs->n_locations; l++)
            take_part(&found[l], &fix[defs->location[l].rank], &winner, &loop.part[l]);
        align(&loop, defs, fix);
        out->loop[out->n++] = loop;
    }
}

void loops_agree(struct loops_found *found, const struct clock_fix *fix,
                 struct definitions *defs, struct profile *profile, struct loops *out)
{
    loops_elect(found, fix, defs, out);
    for (uint32_t i = 0; i < out->n; i++) {
        struct loop *loop = &out->loop[i];

        loop_define(loop, defs);
        profile_extend(profile, defs->names.n);
        profile->row[loop->region] = row_of(loop, defs->n_locations);
    }
}

void loops_release(struct loops *loops)
{
    for (uint32_t i = 0; i < loops->n; i++) {
        for (uint32_t l = 0; l < loops->n_locations; l++)
            part_release(&loops->loop[i].part[l]);
        free(loops->loop[i].part);
    }
    *loops = (struct loops){0};
}

const struct loop *loops_of_region(const struct loops *loops, uint32_t region)
{
    for (uint32_t i = 0; i < loops->n; i++)
        if (loops->loop[i].region == region)
            return &loops->loop[i];
    return NULL;
}
