/*
 * From the calls of one level to the iterations of a loop: the calls become a sequence of
 * symbols, short sequences of these (grams) are votes for what may begin an iteration
 * (headers), and the sequence is cut where a header comes.
 */
#include "forest/loop_cut.h"

#include "base/mem.h"
#include "base/order.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SYMBOLS (1u << 20) /* what comes after that is one symbol */
#define MAX_GRAMS (1u << 18)   /* of one length */
#define LONGEST 8u
#define MIN_LIKENESS 0.5
#define TYPICAL_SHARE 0.95
#define NEARLY_ALL 0.9
#define SET_UP_SHARE 0.5 /* of the calls of an iteration */
#define MAX_AT_AN_END 3u /* iterations that a warm-up may have */

/* ----------------------------------------------------------------------------- the sequence */

/*
 * Messages and collectives are in the order of their records, so those of the calls on one
 * level come in the order of these calls: two cursors are enough.
 */

void loop_sequence_release(struct loop_sequence *s)
{
    free(s->symbol);
    free(s->row);
    idmap_release(&s->known);
    *s = (struct loop_sequence){0};
}

void loop_sequence_clear(struct loop_sequence *s)
{
    idmap_release(&s->known);
    s->n = 0;
    s->n_symbols = 1;
    s->message = s->collective = 0;
}

static uint64_t partners(struct loop_sequence *s, const struct call_view *calls, uint32_t row)
{
    uint64_t sum = 0;

    for (; s->message < calls->n_messages; s->message++) {
        const struct message *m = &calls->message[s->message];

        if (m->call != NO_CALL && m->call > row)
            break;
        if (m->call == row)
            sum += loop_detail_of_message(m);
    }
    for (; s->collective < calls->n_collectives; s->collective++) {
        const struct collective *c = &calls->collective[s->collective];

        if (c->call != NO_CALL && c->call > row)
            break;
        if (c->call == row)
            sum += loop_detail_of_collective(c);
    }
    return sum;
}

static void append(struct loop_sequence *s, uint32_t symbol, uint32_t row)
{
    mem_grow(&s->symbol, &s->symbol_cap, s->n + 1);
    mem_grow(&s->row, &s->row_cap, s->n + 1);
    s->symbol[s->n] = symbol;
    s->row[s->n++] = row;
}

static uint32_t symbol_of(struct loop_sequence *s, uint32_t region, uint64_t detail)
{
    struct key key = key_pair(region, detail);
    uint32_t id;

    if (s->known.n < MAX_SYMBOLS) {
        id = idmap_add(&s->known, key);
        s->n_symbols = s->known.n + 2;
        return id + 1;
    }
    id = idmap_find(&s->known, key);
    return id == IDMAP_NONE ? MAX_SYMBOLS + 1 : id + 1;
}

void loop_sequence_add(struct loop_sequence *s, const struct call_view *calls,
                       const struct definitions *defs, uint32_t begin, uint32_t end,
                       bool has_partners)
{
    for (uint32_t row = begin; row < end; row += calls->subtree_len[row]) {
        uint32_t region = calls->region[row];
        bool may_send = has_partners && defs->region[region].kind == REGION_MPI;

        append(s, symbol_of(s, region, may_send ? partners(s, calls, row) : 0), row);
    }
    append(s, LOOP_BREAK, end);
}

/* ---------------------------------------------------------------------------------- headers */

/* Grams are told apart by a hash of 64 bits; a break is in no gram. */

struct gram {
    uint64_t hash;
    uint32_t first, last, count;
    uint32_t length;
    bool overlaps; /* itself: a repetition shorter than the gram */
};

struct grams {
    struct gram *gram; /* [n] */
    size_t n, cap;
    size_t begin;   /* of those of the length in hand */
    uint32_t *slot; /* [n_slots] 1 + index, 0: free */
    size_t n_slots; /* a power of two, at least twice what may be in there */
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

/* False when there is a break in it. */
static bool hash_gram(const uint32_t *symbol, uint32_t length, uint64_t *hash)
{
    uint64_t sum = length;

    for (uint32_t i = 0; i < length; i++) {
        if (symbol[i] == LOOP_BREAK)
            return false;
        sum = mix(sum ^ symbol[i]) + i;
    }
    *hash = sum;
    return true;
}

static struct gram *find(struct grams *g, uint64_t hash)
{
    size_t at = hash & (g->n_slots - 1);

    while (g->slot[at] != 0) {
        struct gram *gram = &g->gram[g->slot[at] - 1];

        if (gram->hash == hash)
            return gram;
        at = (at + 1) & (g->n_slots - 1);
    }
    if (g->n - g->begin == MAX_GRAMS)
        return NULL;
    mem_grow(&g->gram, &g->cap, g->n + 1);
    g->gram[g->n] = (struct gram){.hash = hash};
    g->slot[at] = (uint32_t)++g->n;
    return &g->gram[g->n - 1];
}

static void count_grams(struct grams *g, const struct loop_sequence *s, uint32_t length)
{
    uint64_t hash;

    g->begin = g->n;
    memset(g->slot, 0, g->n_slots * sizeof *g->slot);
    for (uint32_t i = 0; i + length <= s->n; i++) {
        struct gram *gram = hash_gram(s->symbol + i, length, &hash) ? find(g, hash) : NULL;

        if (gram == NULL)
            continue;
        if (gram->count == 0)
            gram->first = i;
        else if (i - gram->last < length)
            gram->overlaps = true;
        gram->last = i;
        gram->length = length;
        gram->count++;
    }
}

/* By count; those of the same in the order of their first. */
static int by_count(const void *a, const void *b)
{
    const struct gram *p = a, *q = b;

    return ORDER(q->count, p->count) ?:
           ORDER(p->first, q->first) ?:
           ORDER(p->length, q->length);
}

static double worth(const struct loop_header *h)
{
    return h->votes * (double)(h->last - h->first);
}

/* Keeps the best, best first. */
static size_t keep(struct loop_header *out, size_t n, size_t most, struct loop_header h)
{
    size_t at = n < most ? n : most;

    while (at > 0 && worth(&h) > worth(&out[at - 1])) {
        if (at < most)
            out[at] = out[at - 1];
        at--;
    }
    if (at < most)
        out[at] = h;
    return n < most ? n + 1 : most;
}

size_t loop_headers(const struct loop_sequence *s, struct loop_header *out, size_t most)
{
    struct grams g = {.n_slots = 2};
    size_t n = 0, left = 0;

    while (g.n_slots < 2 * (size_t)s->n && g.n_slots < 2 * MAX_GRAMS)
        g.n_slots *= 2;
    g.slot = mem_resize(NULL, g.n_slots, sizeof *g.slot);
    for (uint32_t length = 1; length <= LONGEST; length *= 2)
        count_grams(&g, s, length);
    free(g.slot);
    for (size_t i = 0; i < g.n; i++)
        if (g.gram[i].count >= LOOP_MIN_ITERATIONS && !g.gram[i].overlaps)
            g.gram[left++] = g.gram[i];
    if (left > 0)
        qsort(g.gram, left, sizeof *g.gram, by_count);
    for (size_t i = 0, k; i < left; i = k) {
        struct loop_header h = {g.gram[i].first, g.gram[i].last, g.gram[i].length,
                                g.gram[i].count, 0};

        for (k = i; k < left && g.gram[k].count == h.count && g.gram[k].first <= h.last; k++) {
            h.votes += 1.0 / g.gram[k].length;
            if (g.gram[k].length < h.length) { /* long ones may be made of two iterations */
                h.length = g.gram[k].length;
                h.first = g.gram[k].first;
                h.last = g.gram[k].last;
            }
        }
        n = keep(out, n, most, h);
    }
    free(g.gram);
    return n;
}

/* ------------------------------------------------------------------------------------- cuts */

/*
 * Two passes over the iterations: the first counts in how many of them each symbol is, the
 * second compares each with those that are in half of them.
 */

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
    *mem_push(&c->distinct, &c->n_distinct, &c->distinct_cap) = symbol;
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

static uint32_t median_calls(const struct loop_cut *cut)
{
    uint64_t *x = mem_alloc(cut->n, sizeof *x);
    uint32_t typical;

    for (uint32_t i = 0; i < cut->n; i++)
        x[i] = cut->end[i] - cut->begin[i];
    typical = (uint32_t)SELECT_KTH(x, cut->n, cut->n / 2);
    free(x);
    return typical;
}

/* Where the header is, up to the next or to a break. */
static void cut_at_headers(struct loop_cut *cut, const struct loop_sequence *s,
                           const struct loop_header *header)
{
    const uint32_t *head = s->symbol + header->first;

    cut->begin = mem_alloc(header->count, sizeof *cut->begin);
    cut->end = mem_alloc(header->count, sizeof *cut->end);
    for (uint32_t i = header->first; i <= header->last && cut->n < header->count; i++)
        if (memcmp(s->symbol + i, head, header->length * sizeof *head) == 0)
            cut->begin[cut->n++] = i;
    for (uint32_t i = 0; i < cut->n; i++) {
        uint32_t end = cut->begin[i], most = i + 1 < cut->n ? cut->begin[i + 1] : s->n;

        while (end < most && s->symbol[end] != LOOP_BREAK)
            end++;
        cut->end[i] = end;
    }
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

/* How many calls before an iteration, which follows a typical one, the last iteration lacks. The
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

/* The loop is not always entered where the header is: then iterations begin before it. That is
 * told by what all of them end with but the last; or, while the loop goes on and nothing is
 * known of the last, by what is before the first. */
static void move_begins(struct loop_cut *cut, const struct census *c,
                        const struct loop_sequence *s, bool goes_on)
{
    uint32_t typical_calls = median_calls(cut), typical = 1, n = 0;
    const uint32_t *before = s->symbol + cut->begin[0];

    while (typical < cut->n && cut->begin[typical] - cut->begin[typical - 1] != typical_calls)
        typical++;
    if (goes_on) {
        while (n + 1 < typical_calls && n < cut->begin[0] && is_entered(cut, s, n + 1))
            n++;
    } else if (typical < cut->n) {
        n = n_lacked(cut, c, s, typical, typical_calls);
        before = s->symbol + cut->begin[typical];
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
    /* Typical symbols directly before the loop that the last iteration lacks: the header is in
     * the middle of the loop, and the first iteration began before it. */
    for (uint32_t i = cut->begin[0]; i-- > 0 && is_typical(c, cut, s->symbol[i]);) {
        if (c->seen[s->symbol[i]] == c->stamp && is_single(c, s->symbol[i]))
            break;
        see(c, s->symbol[i]);
    }
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
    cut->n = last - first;
    mem_to_front(cut->begin, first, cut->n, sizeof *cut->begin);
    mem_to_front(cut->end, first, cut->n, sizeof *cut->end);
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

static uint64_t iteration_begin_ns(const struct loop_cut *cut, const struct loop_sequence *s,
                                   const struct call_view *calls, uint32_t i)
{
    return calls->enter_ns[s->row[cut->begin[i]]];
}

/* It ends when the next begins. */
static uint64_t iteration_end_ns(const struct loop_cut *cut, const struct loop_sequence *s,
                                 const struct call_view *calls, uint32_t i)
{
    uint32_t last = s->row[cut->end[i] - 1];

    if (i + 1 < cut->n && cut->begin[i + 1] == cut->end[i])
        return iteration_begin_ns(cut, s, calls, i + 1);
    return calls->enter_ns[last] + calls->inclusive_ns[last];
}

/* Of lasting (n) so long, which it reorders: few that were disturbed do not count. */
static double evenness(uint64_t *ns, uint32_t n)
{
    uint32_t most = (uint32_t)(TYPICAL_SHARE * n);
    double sum = 0;

    (void)SELECT_KTH(ns, n, most);
    for (uint32_t i = 0; i <= most; i++)
        sum += (double)ns[i];
    return sum > 0 ? (double)SELECT_KTH(ns, n, n / 2) * (most + 1) / sum : 1;
}

static void measure(struct loop_cut *cut, const struct loop_sequence *s,
                    const struct call_view *calls)
{
    uint64_t sum = 0, *all = mem_alloc(cut->n, sizeof *all);
    uint32_t n = 0;

    cut->ns = 0;
    cut->typical_calls = median_calls(cut);
    for (uint32_t i = 0; i < cut->n; i++) {
        uint64_t ns = iteration_end_ns(cut, s, calls, i) - iteration_begin_ns(cut, s, calls, i);

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
    cut->begin_ns = iteration_begin_ns(cut, s, calls, 0);
    cut->end_ns = iteration_end_ns(cut, s, calls, cut->n - 1);
}

void loop_cut_make(struct loop_cut *cut, const struct loop_sequence *s,
                   const struct call_view *calls, const struct loop_header *header,
                   bool goes_on)
{
    struct census c = {.n_with = mem_alloc(s->n_symbols + 1, sizeof *c.n_with),
                       .n_once = mem_alloc(s->n_symbols + 1, sizeof *c.n_once),
                       .seen = mem_alloc(s->n_symbols + 1, sizeof *c.seen),
                       .times = mem_alloc(s->n_symbols + 1, sizeof *c.times)};
    bool is_last_one = true;
    float *alike;

    *cut = (struct loop_cut){.votes = header->votes};
    cut_at_headers(cut, s, header);
    count(&c, cut, s);
    if (goes_on) { /* the last iteration may be anywhere in the loop by now: it says nothing */
        cut->n--;
        move_begins(cut, &c, s, true);
    } else {
        is_last_one = end_last(cut, &c, s);
    }
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
    for (uint32_t i = 0; i < cut->n; i++) {
        look_at(&c, s, cut->begin[i], cut->end[i]);
        cut->n_odd += is_odd(&c, cut) || (i + 1 < cut->n && cut->begin[i + 1] != cut->end[i]);
    }
    free(alike);
    free(c.n_with);
    free(c.n_once);
    free(c.seen);
    free(c.times);
    free(c.distinct);
}

void loop_cut_release(struct loop_cut *cut)
{
    free(cut->begin);
    free(cut->end);
    *cut = (struct loop_cut){0};
}
