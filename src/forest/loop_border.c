/*
 * Candidates are tried by their shift, then from short to long: most are none, as they differ
 * in the second iteration already. The last iteration may not be whole and says nothing.
 */
#include "forest/loop_border.h"

#include "base/mem.h"
#include "base/search.h"
#include "forest/loop_cut.h"

#include <stdlib.h>

#define MAX_SHIFT 1024u
#define NEARLY_ALL 0.9

/* Where candidates are looked for, best first. What is around the begin is second best, as that
 * is where steps differ most; but better than what is far from it. */
enum place { NEAR, AROUND, FAR, N_PLACES };

struct border_search {
    const struct call_view *calls;
    struct loop_sequence sequence;
    uint32_t *begin; /* [n] positions of iterations */
    uint32_t n, shortest;
};

/* Of each of the loop's callers that is in no other one. */
static void read_levels(struct border_search *s, const struct definitions *defs,
                        uint32_t caller, bool has_partners)
{
    const struct call_view *calls = s->calls;

    loop_sequence_clear(&s->sequence);
    if (caller == NO_CALL)
        loop_sequence_add(&s->sequence, calls, defs, 0, calls->n, has_partners);
    for (uint32_t row = 0; caller != NO_CALL && row < calls->n;) {
        uint32_t end = row + calls->subtree_len[row];

        if (calls->region[row] != caller) {
            row++;
            continue;
        }
        loop_sequence_add(&s->sequence, calls, defs, row + 1, end, has_partners);
        row = end;
    }
}

static void find_iterations(struct border_search *s, const struct insertion *iterations)
{
    const struct loop_sequence *q = &s->sequence;

    s->n = iterations->n;
    s->shortest = MAX_SHIFT;
    s->begin = mem_resize(s->begin, s->n, sizeof *s->begin);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t end = (uint32_t)lower_bound_u32(q->row, q->n, iterations->end[i]);

        s->begin[i] = (uint32_t)lower_bound_u32(q->row, q->n, iterations->begin[i]);
        if (i + 1 < s->n && end - s->begin[i] < s->shortest)
            s->shortest = end - s->begin[i];
    }
}

/* What is at one position, to be compared with others. */
struct border_position {
    uint32_t n, at; /* `n` symbols before it */
};

static bool is_same(const struct border_search *s, const struct border_position *c, uint32_t at)
{
    const struct loop_sequence *q = &s->sequence;

    if (at >= q->n || q->symbol[at] == LOOP_BREAK || at < c->n)
        return false;
    if (c->n == 0)
        return s->calls->region[q->row[at]] == s->calls->region[q->row[c->at]];
    for (uint32_t k = 1; k <= c->n; k++)
        if (q->symbol[at - k] != q->symbol[c->at - k])
            return false;
    return true;
}

/* All of it is known: neither a break nor one of too many symbols. */
static bool is_sayable(const struct loop_sequence *q, const struct border_position *c)
{
    for (uint32_t k = 1; k <= c->n; k++)
        if (q->symbol[c->at - k] == LOOP_BREAK || q->symbol[c->at - k] > q->known.n)
            return false;
    return true;
}

/*
 * It comes once in every iteration from the first-th on, and at this place of nearly all. Some
 * may be cut elsewhere than the others, as they do something between what begins them.
 */
static bool is_border(const struct border_search *s, const struct border_position *c,
                      uint32_t shift, uint32_t first)
{
    uint32_t end = s->n - 2, i = first, n_here = 0;

    if (!is_sayable(&s->sequence, c))
        return false;
    for (uint32_t at = s->begin[first]; at <= s->begin[end] + shift; at++) {
        if (!is_same(s, c, at))
            continue;
        if (i > end || at > s->begin[i] + shift || (i > first && at <= s->begin[i - 1] + shift))
            return false;
        n_here += at == s->begin[i++] + shift;
    }
    return i == end + 1 && n_here >= NEARLY_ALL * (i - first);
}

/* With so many symbols before it, of which some may be of the iteration before. */
static bool find_at(const struct border_search *s, uint32_t shift, uint32_t n,
                    struct loop_border *out, uint32_t *n_begun)
{
    const struct loop_sequence *q = &s->sequence;
    uint32_t first = n > shift; /* what is before the first iteration is none */
    struct border_position c = {n, s->begin[first] + shift};

    if (!is_border(s, &c, shift, first))
        return false;
    out->n = n;
    out->region = s->calls->region[q->row[c.at]];
    for (uint32_t k = 0; k < n; k++)
        out->symbol[k] = q->known.key[q->symbol[c.at - n + k] - 1];
    out->shift = shift;
    *n_begun = s->n - 1;
    for (uint32_t at = s->begin[s->n - 2] + shift + 1; at < q->n; at++)
        *n_begun += is_same(s, &c, at);
    return true;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* With a shift below that of out. */
static bool find_in(const struct border_search *s, enum place place, struct loop_border *out,
                    uint32_t *n_begun)
{
    uint32_t begin = place == FAR ? LOOP_MAX_BORDERS + 1 : 0;
    uint32_t end = smaller(s->shortest, place == FAR ? MAX_SHIFT : LOOP_MAX_BORDERS + 1);

    end = smaller(end, out->shift);
    for (uint32_t shift = begin; shift < end; shift++) {
        uint32_t first = place == AROUND ? shift + 1 : 0;
        uint32_t last = place == AROUND ? LOOP_MAX_BORDERS : smaller(shift, LOOP_MAX_BORDERS);

        for (uint32_t n = first; n <= last; n++)
            if (find_at(s, shift, n, out, n_begun))
                return true;
    }
    return false;
}

/* What they do with whom; or, where that comes earlier, what they do. */
static bool find_by_symbols(struct border_search *s, enum place place,
                            const struct definitions *defs, const struct loop_part *part,
                            struct loop_border *out, uint32_t *n_begun)
{
    bool is_found = false;

    for (int i = 0; i < 2; i++) {
        bool has_partners = i == 0;

        read_levels(s, defs, part->caller, has_partners);
        find_iterations(s, &part->calls);
        if (find_in(s, place, out, n_begun)) {
            is_found = true;
            out->has_partners = has_partners;
        }
    }
    return is_found;
}

bool loop_border_find(const struct call_view *calls, const struct definitions *defs,
                      const struct loop_part *part, struct loop_border *out, uint32_t *n_begun)
{
    struct border_search s = {.calls = calls};
    bool is_found = false;

    *out = (struct loop_border){.shift = MAX_SHIFT};
    if (part->calls.n < LOOP_MIN_ITERATIONS)
        return false;
    for (enum place place = NEAR; place < N_PLACES && !is_found; place++)
        is_found = find_by_symbols(&s, place, defs, part, out, n_begun);
    loop_sequence_release(&s.sequence);
    free(s.begin);
    return is_found;
}
