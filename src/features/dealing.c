/* Counts first, so that everybody knows what comes and where it belongs. */
#include "features/dealing.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void dealing_init(struct dealing *d, const struct tree_share *share, uint32_t n_groups,
                  const uint32_t *order, const unsigned *owner)
{
    unsigned size = tree_share_size(share);
    uint32_t *next;

    *d = (struct dealing){
        .share = share, .me = share ? crew_me(share->crew) : 0, .n_groups = n_groups};
    d->order = mem_resize(NULL, n_groups, sizeof *d->order);
    d->first = mem_alloc((size_t)size + 2, sizeof *d->first);
    next = d->first + 1; /* becomes the start of each process, and then its end */
    for (uint32_t g = 0; g < n_groups; g++)
        next[(owner ? owner[g] : 0) + 1]++;
    for (unsigned p = 0; p < size; p++)
        next[p + 1] += next[p];
    for (uint32_t i = 0; i < n_groups; i++) {
        uint32_t g = order ? order[i] : i;

        d->order[next[owner ? owner[g] : 0]++] = g;
    }
}

void dealing_release(struct dealing *d)
{
    free(d->order);
    free(d->first);
    *d = (struct dealing){0};
}

static uint32_t n_of(const struct dealing *d, unsigned process)
{
    return d->first[process + 1] - d->first[process];
}

/* How many values each process has of the own groups: [processes * own groups]. */
static uint32_t *swap_counts(const struct dealing *d, const uint32_t *count)
{
    struct crew *crew = d->share->crew;
    uint32_t *own = mem_resize(NULL, d->n_groups, sizeof *own), n = n_of(d, d->me);
    uint32_t *theirs = mem_resize(NULL, (size_t)crew_size(crew) * n, sizeof *theirs);

    for (uint32_t i = 0; i < d->n_groups; i++)
        own[i] = count[d->order[i]];
    for (unsigned round = 0; round < crew_size(crew); round++) {
        unsigned p = crew_partner(crew, round);
        uint32_t *to = theirs + (size_t)p * n;

        if (p != d->me)
            crew_swap(crew, p, own + d->first[p], n_of(d, p) * sizeof *own, to, n * sizeof *to);
        else if (n > 0)
            memcpy(to, own + d->first[p], n * sizeof *own);
    }
    free(own);
    return theirs;
}

/* Where the values of each own group go; next: [own groups]. Returns how many there are. */
static size_t lay_out(const struct dealing *d, const uint32_t *theirs, uint32_t *count,
                      size_t *begin, size_t *next)
{
    uint32_t n = n_of(d, d->me);
    size_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t group = d->order[d->first[d->me] + i];

        begin[group] = next[i] = at;
        count[group] = 0;
        for (unsigned p = 0; p < crew_size(d->share->crew); p++)
            count[group] += theirs[(size_t)p * n + i];
        at += count[group];
    }
    return at;
}

static size_t sum(const uint32_t *count, uint32_t n)
{
    size_t all = 0;

    for (uint32_t i = 0; i < n; i++)
        all += count[i];
    return all;
}

/* What one process has of each own group, among that of the others. */
static void merge(const struct dealing *d, const char *from, const uint32_t *n_from, char *to,
                  size_t *next)
{
    for (uint32_t i = 0; i < n_of(d, d->me); i++) {
        size_t bytes = n_from[i] * d->width;

        if (bytes > 0)
            memcpy(to + next[i] * d->width, from, bytes);
        next[i] += n_from[i];
        from += bytes;
    }
}

/* Where in the own values those for each process begin: [processes + 1]. */
static size_t *find_segments(const struct dealing *d, const uint32_t *count)
{
    unsigned size = crew_size(d->share->crew);
    size_t *segment = mem_alloc((size_t)size + 1, sizeof *segment);

    for (unsigned p = 0; p < size; p++) {
        segment[p + 1] = segment[p];
        for (uint32_t i = d->first[p]; i < d->first[p + 1]; i++)
            segment[p + 1] += count[d->order[i]];
    }
    return segment;
}

void *dealing_exchange(const struct dealing *d, void *value, uint32_t *count, size_t *begin)
{
    uint32_t *theirs, n;
    size_t *segment, *next;
    char *all, *own = value;

    if (d->share == NULL) {
        size_t at = 0;

        for (uint32_t i = 0; i < d->n_groups; i++) {
            begin[d->order[i]] = at;
            at += count[d->order[i]];
        }
        return value;
    }
    n = n_of(d, d->me);
    segment = find_segments(d, count);
    theirs = swap_counts(d, count);
    next = mem_alloc(n, sizeof *next);
    all = paged_alloc(d->paged, lay_out(d, theirs, count, begin, next), d->width);
    for (unsigned round = 0; round < crew_size(d->share->crew); round++) {
        unsigned p = crew_partner(d->share->crew, round);
        const uint32_t *n_theirs = theirs + (size_t)p * n;
        size_t bytes = sum(n_theirs, n) * d->width;
        char *part = p == d->me ? own + segment[p] * d->width : mem_resize(NULL, bytes, 1);

        if (p != d->me)
            crew_swap(d->share->crew, p, own + segment[p] * d->width,
                      (segment[p + 1] - segment[p]) * d->width, part, bytes);
        merge(d, part, n_theirs, all, next);
        if (p != d->me)
            free(part);
    }
    paged_release(d->paged, value);
    free(segment);
    free(theirs);
    free(next);
    return all;
}

/* In the order of d->order and back. */
static void arrange(const struct dealing *d, unsigned process, char *by_group, char *list,
                    size_t width, bool is_back)
{
    for (uint32_t i = d->first[process]; i < d->first[process + 1]; i++, list += width) {
        char *at = by_group + d->order[i] * width;

        memcpy(is_back ? at : list, is_back ? list : at, width);
    }
}

void dealing_tell(const struct dealing *d, void *by_group, size_t width)
{
    char *list;

    if (d->share == NULL)
        return;
    list = mem_resize(NULL, d->n_groups, width);
    if (d->me > 0) {
        arrange(d, d->me, by_group, list, width, false);
        crew_send(d->share->crew, 0, list, n_of(d, d->me) * width);
    }
    for (unsigned p = 1; d->me == 0 && p < crew_size(d->share->crew); p++) {
        crew_receive(d->share->crew, p, list, n_of(d, p) * width);
        arrange(d, p, by_group, list, width, true);
    }
    free(list);
    tree_share_tell(d->share, by_group, d->n_groups * width);
}

unsigned *dealing_balance(const struct tree_share *share, const uint32_t *work,
                          const uint32_t *order, uint32_t n)
{
    unsigned size = tree_share_size(share), *owner = mem_alloc(n, sizeof *owner);
    uint64_t *load = mem_alloc(size, sizeof *load);

    for (uint32_t i = 0; i < n; i++) {
        unsigned least = 0;

        for (unsigned p = 1; p < size; p++)
            if (load[p] < load[least])
                least = p;
        owner[order[i]] = least;
        load[least] += work[order[i]];
    }
    free(load);
    return owner;
}
