/*
 * Two passes over the iterations: the first counts in how many of them each symbol is, the
 * second compares each with those that are in half of them.
 */
#include "forest/loop_cut.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define MIN_LIKENESS 0.5
#define USUAL_SHARE 0.95
#define NEARLY_ALL 0.9
#define SET_UP_SHARE 0.5 /* of the calls of an iteration */
#define MAX_AT_AN_END 3u /* iterations that a warm-up may have */

/* The symbols of iterations. */
struct census {
    uint32_t *n_with;   /* [n_symbols] iterations that have it */
    uint32_t *n_once;   /* [n_symbols] ... just once */
    uint32_t *seen;     /* [n_symbols] 1 + the last iteration that has it */
    uint32_t *times;    /* [n_symbols] in that one */
    uint32_t *distinct; /* [n_distinct] of the iteration in hand */
    size_t distinct_cap;
    uint32_t n_distinct;
    uint32_t n_typical; /* symbols that are in half of the iterations */
    uint32_t stamp;     /* of the iteration in hand */
};

static void census_init(struct census *c, uint32_t n_symbols)
{
    *c = (struct census){0};
    c->n_with = mem_alloc(n_symbols + 1, sizeof *c->n_with);
    c->n_once = mem_alloc(n_symbols + 1, sizeof *c->n_once);
    c->seen = mem_alloc(n_symbols + 1, sizeof *c->seen);
    c->times = mem_alloc(n_symbols + 1, sizeof *c->times);
}

static void census_release(struct census *c)
{
    free(c->n_with);
    free(c->n_once);
    free(c->seen);
    free(c->times);
    free(c->distinct);
}

static void see(struct census *c, uint32_t symbol)
{
    if (symbol == LOOP_BREAK)
        return;
    if (c->seen[symbol] == c->stamp) {
        c->times[symbol]++;
        return;
    }
    c->seen[symbol] = c->stamp;
    c->times[symbol] = 1;
    mem_grow(&c->distinct, &c->distinct_cap, c->n_distinct + 1, sizeof *c->distinct);
    c->distinct[c->n_distinct++] = symbol;
}

static void look_at(struct census *c, const struct loop_sequence *s, uint32_t begin,
                    uint32_t end)
{
    c->stamp++;
    c->n_distinct = 0;
    for (uint32_t i = begin; i < end; i++)
        see(c, s->symbol[i]);
}

static bool is_typical(const struct census *c, const struct loop_cut *cut, uint32_t symbol)
{
    return symbol != LOOP_BREAK && 2 * (uint64_t)c->n_with[symbol] >= cut->n;
}

/* In most iterations that have it, it is there once. */
static bool is_single(const struct census *c, uint32_t symbol)
{
    return 10 * (uint64_t)c->n_once[symbol] >= 9 * (uint64_t)c->n_with[symbol];
}

static void count(struct census *c, const struct loop_cut *cut, const struct loop_sequence *s)
{
    for (uint32_t i = 0; i < cut->n; i++) {
        look_at(c, s, cut->begin[i], cut->end[i]);
        for (uint32_t k = 0; k < c->n_distinct; k++) {
            c->n_with[c->distinct[k]]++;
            c->n_once[c->distinct[k]] += c->times[c->distinct[k]] == 1;
        }
    }
    for (uint32_t symbol = 1; symbol <= s->n_symbols; symbol++)
        c->n_typical += c->n_with[symbol] > 0 && is_typical(c, cut, symbol);
}

/* How much the iteration in hand is like the typical one: what both have of what one has. */
static double likeness(const struct census *c, const struct loop_cut *cut)
{
    uint32_t n_both = 0;

    for (uint32_t k = 0; k < c->n_distinct; k++)
        n_both += is_typical(c, cut, c->distinct[k]);
    return (double)n_both / (double)(c->n_distinct + c->n_typical - n_both);
}

/* It does something that no other iteration does. */
static bool is_singular(const struct census *c)
{
    for (uint32_t k = 0; k < c->n_distinct; k++)
        if (c->n_with[c->distinct[k]] == 1)
            return true;
    return false;
}

/* ------------------------------------------------------------------------------ the ends */

/* The k-th smallest, by partitions around the middle (Hoare, Algorithm 65: Find, 1961). */
static uint64_t find_smallest(uint64_t *x, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;

    while (low < high) {
        uint64_t pivot = x[low + (high - low) / 2];
        int64_t i = low, j = high;

        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                uint64_t swap = x[i];

                x[i++] = x[j];
                x[j--] = swap;
            }
        }
        if (k > j && k < i)
            break;
        low = k >= i ? i : low;
        high = k <= j ? j : high;
    }
    return x[k];
}

static uint32_t median_calls(const struct loop_cut *cut)
{
    uint64_t *x = mem_alloc(cut->n, sizeof *x);
    uint32_t typical;

    for (uint32_t i = 0; i < cut->n; i++)
        x[i] = cut->end[i] - cut->begin[i];
    typical = (uint32_t)find_smallest(x, cut->n, cut->n / 2);
    free(x);
    return typical;
}

static bool matches(const uint32_t *a, const uint32_t *b, uint32_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

static uint32_t find_break(const struct loop_sequence *s, uint32_t begin, uint32_t end)
{
    while (begin < end && s->symbol[begin] != LOOP_BREAK)
        begin++;
    return begin;
}

/* Where the header is, up to the next or to a break. */
static void cut_at_headers(struct loop_cut *cut, const struct loop_sequence *s,
                           const struct loop_header *header)
{
    const uint32_t *head = s->symbol + header->first;

    cut->begin = mem_alloc(header->count, sizeof *cut->begin);
    cut->end = mem_alloc(header->count, sizeof *cut->end);
    for (uint32_t i = header->first; i <= header->last && cut->n < header->count; i++)
        if (matches(s->symbol + i, head, header->length))
            cut->begin[cut->n++] = i;
    for (uint32_t i = 0; i < cut->n; i++)
        cut->end[i] = find_break(s, cut->begin[i], i + 1 < cut->n ? cut->begin[i + 1] : s->n);
}

/* Where an iteration after which the header does not come again ends: after the last typical
 * symbol before one that the loop does not have, or that it has had already. */
static uint32_t end_of(struct census *c, const struct loop_cut *cut,
                       const struct loop_sequence *s, uint32_t begin, uint32_t end)
{
    uint32_t last = begin;

    look_at(c, s, begin, begin);
    for (uint32_t i = begin; i < end && c->n_with[s->symbol[i]] > 1; i++) {
        uint32_t symbol = s->symbol[i];

        if (!is_typical(c, cut, symbol))
            continue;
        if (c->seen[symbol] == c->stamp && is_single(c, symbol))
            break;
        see(c, symbol);
        last = i;
    }
    return last + 1;
}

/* Typical symbols directly before the loop that the iteration in hand lacks: the header is in
 * the middle of the loop, and the first iteration began before it. */
static void see_missing_before(struct census *c, const struct loop_cut *cut,
                               const struct loop_sequence *s)
{
    for (uint32_t i = cut->begin[0]; i-- > 0 && is_typical(c, cut, s->symbol[i]);) {
        if (c->seen[s->symbol[i]] == c->stamp && is_single(c, s->symbol[i]))
            break;
        see(c, s->symbol[i]);
    }
}

/* How many calls before an iteration, which follows a usual one, the last iteration lacks. The
 * last one is in hand. */
static uint32_t n_lacked(const struct loop_cut *cut, const struct census *c,
                         const struct loop_sequence *s, uint32_t i, uint32_t typical_calls)
{
    uint32_t last = cut->n - 1, n = cut->end[last] - cut->begin[last];
    uint32_t most = typical_calls > n ? typical_calls - n : 0, k = 0;

    while (k < typical_calls - 1) {
        uint32_t symbol = s->symbol[cut->begin[i] - 1 - k];

        if (!is_typical(c, cut, symbol) || (k >= most && c->seen[symbol] == c->stamp))
            break;
        k++;
    }
    return k;
}

/* Whether what is k calls before the first iteration is before most others, too. */
static bool is_entered(const struct loop_cut *cut, const struct loop_sequence *s, uint32_t k)
{
    uint32_t symbol = s->symbol[cut->begin[0] - k], n_same = 0;

    for (uint32_t i = 1; i < cut->n; i++)
        n_same +=
            cut->begin[i] - cut->begin[i - 1] > k && s->symbol[cut->begin[i] - k] == symbol;
    return symbol != LOOP_BREAK && 2 * n_same > cut->n - 1;
}

static uint32_t n_entered(const struct loop_cut *cut, const struct loop_sequence *s,
                          uint32_t typical_calls)
{
    uint32_t k = 0;

    while (k + 1 < typical_calls && k < cut->begin[0] && is_entered(cut, s, k + 1))
        k++;
    return k;
}

/* The loop is not always entered where the header is: then iterations begin before it. That is
 * told by what all of them end with but the last; or, while the loop goes on and nothing is
 * known of the last, by what is before the first. */
static void move_begins(struct loop_cut *cut, const struct census *c,
                        const struct loop_sequence *s, bool goes_on)
{
    uint32_t typical_calls = median_calls(cut), usual = 1, n = 0;
    const uint32_t *before = s->symbol + cut->begin[0];

    while (usual < cut->n && cut->begin[usual] - cut->begin[usual - 1] != typical_calls)
        usual++;
    if (goes_on) {
        n = n_entered(cut, s, typical_calls);
    } else if (usual < cut->n) {
        n = n_lacked(cut, c, s, usual, typical_calls);
        before = s->symbol + cut->begin[usual];
    }
    for (uint32_t i = cut->n; i-- > 0 && n > 0;) {
        uint32_t at = cut->begin[i], most = i > 0 ? at - cut->begin[i - 1] - 1 : at, k = 0;

        while (k < n && k < most && s->symbol[at - 1 - k] == *(before - 1 - k))
            k++;
        if (i > 0 && cut->end[i - 1] == at)
            cut->end[i - 1] -= k;
        cut->begin[i] -= k;
    }
}

/* Ends the iterations that end with a break, or with the sequence. Returns whether the last is
 * one, with what is before the first: else the header was called once more after the loop. */
static bool end_last(struct loop_cut *cut, struct census *c, const struct loop_sequence *s)
{
    uint32_t last = cut->n - 1;

    for (uint32_t i = 0; i < cut->n; i++)
        if (i == last || s->symbol[cut->end[i]] == LOOP_BREAK)
            cut->end[i] = end_of(c, cut, s, cut->begin[i], cut->end[i]);
    if (2 * c->n_distinct >= c->n_typical)
        move_begins(cut, c, s, false);
    see_missing_before(c, cut, s);
    return 2 * c->n_distinct >= c->n_typical;
}

/* What else than typical calls the iterations do now and then. */
static bool is_rare(const struct census *c, const struct loop_cut *cut, uint32_t symbol)
{
    return c->n_with[symbol] > 0 && symbol != LOOP_BREAK && !is_typical(c, cut, symbol);
}

/* True when the first iteration is the set-up of the loop: what a rebuild in the loop does now
 * and then is done before it, too. That is not told apart by what is called; but an iteration
 * that does as much besides the typical calls, or directly before them, is rarely the first. */
static bool is_set_up(const struct census *c, const struct loop_cut *cut,
                      const struct loop_sequence *s, uint32_t first)
{
    uint32_t typical_calls = median_calls(cut), n_rare = 0, begin = cut->begin[first];

    for (uint32_t k = begin; k < cut->end[first]; k++)
        n_rare += is_rare(c, cut, s->symbol[k]);
    for (uint32_t k = begin; first == 0 && k > 0 && begin - k < 2 * typical_calls; k--) {
        if (c->n_with[s->symbol[k - 1]] == 0)
            break;
        n_rare += is_rare(c, cut, s->symbol[k - 1]);
    }
    return n_rare > SET_UP_SHARE * typical_calls;
}

static void drop_first(struct loop_cut *cut, uint32_t n)
{
    cut->n -= n;
    mem_to_front(cut->begin, n, cut->n, sizeof *cut->begin);
    mem_to_front(cut->end, n, cut->n, sizeof *cut->end);
}

/* What is not like the rest at the ends, and what something that is done only once sets apart
 * from the rest: a warm-up before a barrier, a check after the loop. */
static void trim(struct loop_cut *cut, struct census *c, const struct loop_sequence *s,
                 const float *alike)
{
    uint32_t n = cut->n, first = 0, most = n / 10 < MAX_AT_AN_END ? n / 10 : MAX_AT_AN_END;
    uint32_t last = n, stop;

    while (first < last && alike[first] < MIN_LIKENESS)
        first++;
    while (last > first && alike[last - 1] < MIN_LIKENESS)
        last--;
    stop = first + most < last ? first + most : last;
    for (uint32_t i = first; i < stop; i++) {
        look_at(c, s, cut->begin[i], cut->end[i]);
        if (is_singular(c))
            first = i + 1;
    }
    if (most > 0 && first < last && is_set_up(c, cut, s, first))
        first++;
    stop = last > first + most ? last - most : first;
    for (uint32_t i = last; i > stop; i--) {
        look_at(c, s, cut->begin[i - 1], cut->end[i - 1]);
        if (is_singular(c)) {
            cut->end[i - 1] = end_of(c, cut, s, cut->begin[i - 1], cut->end[i - 1]);
            last = i;
        }
    }
    cut->n = last;
    drop_first(cut, first);
}

/* ------------------------------------------------------------------------------- measures */

/* The iteration in hand does something that is not done in nearly all of them. */
static bool is_odd(const struct census *c, const struct loop_cut *cut)
{
    for (uint32_t k = 0; k < c->n_distinct; k++)
        if (c->n_with[c->distinct[k]] < NEARLY_ALL * cut->n)
            return true;
    return false;
}

static void count_odd(struct loop_cut *cut, struct census *c, const struct loop_sequence *s)
{
    for (uint32_t i = 0; i < cut->n; i++) {
        look_at(c, s, cut->begin[i], cut->end[i]);
        cut->n_odd += is_odd(c, cut) || (i + 1 < cut->n && cut->begin[i + 1] != cut->end[i]);
    }
}

uint64_t loop_cut_begin_ns(const struct loop_cut *cut, const struct loop_sequence *s,
                           const struct call_view *calls, uint32_t i)
{
    return calls->enter_ns[s->row[cut->begin[i]]];
}

uint64_t loop_cut_end_ns(const struct loop_cut *cut, const struct loop_sequence *s,
                         const struct call_view *calls, uint32_t i)
{
    uint32_t last = s->row[cut->end[i] - 1];

    if (i + 1 < cut->n && cut->begin[i + 1] == cut->end[i])
        return loop_cut_begin_ns(cut, s, calls, i + 1);
    return calls->enter_ns[last] + calls->inclusive_ns[last];
}

/* Of lasting (n) so long, which it reorders: few that were disturbed do not count. */
static double evenness(uint64_t *ns, uint32_t n)
{
    uint32_t most = (uint32_t)(USUAL_SHARE * n);
    double sum = 0;

    find_smallest(ns, n, most);
    for (uint32_t i = 0; i <= most; i++)
        sum += (double)ns[i];
    return sum > 0 ? (double)find_smallest(ns, n, n / 2) * (most + 1) / sum : 1;
}

static void measure(struct loop_cut *cut, const struct loop_sequence *s,
                    const struct call_view *calls)
{
    uint64_t sum = 0, *all = mem_alloc(cut->n, sizeof *all);
    uint32_t n = 0;

    cut->ns = 0;
    cut->typical_calls = median_calls(cut);
    for (uint32_t i = 0; i < cut->n; i++) {
        uint64_t ns = loop_cut_end_ns(cut, s, calls, i) - loop_cut_begin_ns(cut, s, calls, i);

        cut->ns += ns;
        all[i] = ns;
        if (cut->end[i] - cut->begin[i] == cut->typical_calls && i + 1 < cut->n &&
            cut->begin[i + 1] == cut->end[i]) {
            sum += ns;
            n++;
        }
    }
    cut->evenness = evenness(all, cut->n);
    free(all);
    cut->typical_ns = n > 0 ? sum / n : cut->ns / cut->n;
    cut->begin_ns = loop_cut_begin_ns(cut, s, calls, 0);
    cut->end_ns = loop_cut_end_ns(cut, s, calls, cut->n - 1);
}

/* The last iteration may be anywhere in the loop by now: it says nothing. */
static void leave_last(struct loop_cut *cut, const struct census *c,
                       const struct loop_sequence *s)
{
    cut->n--;
    move_begins(cut, c, s, true);
}

void loop_cut_make(struct loop_cut *cut, const struct loop_sequence *s,
                   const struct call_view *calls, const struct loop_header *header,
                   bool goes_on)
{
    struct census c;
    bool is_last_one = true;
    float *alike;

    *cut = (struct loop_cut){.votes = header->votes};
    cut_at_headers(cut, s, header);
    census_init(&c, s->n_symbols);
    count(&c, cut, s);
    if (goes_on)
        leave_last(cut, &c, s);
    else
        is_last_one = end_last(cut, &c, s);
    alike = mem_alloc(cut->n, sizeof *alike);
    for (uint32_t i = 0; i < cut->n; i++) {
        look_at(&c, s, cut->begin[i], cut->end[i]);
        alike[i] = (float)likeness(&c, cut);
        cut->likeness += alike[i];
    }
    cut->likeness /= cut->n;
    alike[cut->n - 1] = is_last_one;
    trim(cut, &c, s, alike);
    cut->is_exact = cut->n == header->count;
    if (cut->n < LOOP_MIN_ITERATIONS || cut->likeness < MIN_LIKENESS)
        cut->n = 0;
    else
        measure(cut, s, calls);
    count_odd(cut, &c, s);
    free(alike);
    census_release(&c);
}

void loop_cut_release(struct loop_cut *cut)
{
    free(cut->begin);
    free(cut->end);
    *cut = (struct loop_cut){0};
}
