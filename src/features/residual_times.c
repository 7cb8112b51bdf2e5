/*
 * Times are brought together by class, each a run of numbers; those of several processes are
 * dealt (struct partition), but for paths that are split. Sorted, they say centre and width
 * without another pass (robust_log_times).
 */
#include "features/residual_fit.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/radix.h"
#include "features/robust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SPLIT 1000  /* calls for each process, of a path that is split */
#define CHUNK_CONTEXT 4 /* calls of a context in each chunk, or there are fewer chunks */

/* The classes of each path: those of path p are class[first[p]] .. class[first[p+1]-1]. */
struct families {
    uint32_t *first; /* [paths + 1] */
    uint32_t *class; /* [classes] */
};

static void families_find(const struct fit *f, struct families *families)
{
    uint32_t n_paths = f->m->paths.n, n_classes = f->m->class_id.n, *next;

    families->first = mem_alloc((size_t)n_paths + 2, sizeof *families->first);
    families->class = mem_alloc(n_classes, sizeof *families->class);
    next = families->first + 1; /* becomes the start of each path, and then its end */
    for (uint32_t c = 0; c < n_classes; c++)
        next[f->path_of[c] + 1]++;
    for (uint32_t p = 0; p < n_paths; p++)
        next[p + 1] += next[p];
    for (uint32_t c = 0; c < n_classes; c++)
        families->class[next[f->path_of[c]]++] = c;
}

/*
 * Times by context. Trees are dealt out in chunks, which write beside each other. Times that
 * all fit 32 bits take no more: fresh memory costs more than all that is done with it here.
 */
struct bundles {
    const struct fit *fit;
    const struct families *families;
    struct partition deal; /* of classes, which go with their paths */
    uint32_t *narrow_ns;   /* [vertices] or NULL: */
    uint64_t *wide_ns;     /* [vertices] */
    size_t *begin;         /* [classes] of each among these */
    uint32_t *n_own;       /* [classes] times that are here */
    size_t *next;          /* [chunks * classes] where a chunk writes its next one */
    uint32_t n_chunks, n_classes;
    char *kept;         /* [n_kept] times of split paths, as narrow or as wide as the others */
    size_t *kept_begin; /* [classes + 1] of each class among them, as in families */
    uint32_t *order;    /* [n_order] paths of this process, the largest first */
    uint32_t n_order;
};

static uint32_t chunk_begin(const struct bundles *b, size_t chunk)
{
    return (uint32_t)((uint64_t)b->fit->forest->n_trees * chunk / b->n_chunks);
}

static void count_chunks(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct bundles *b = ctx;
    const struct kind_sets *sets = &b->fit->classes;

    (void)worker;
    for (size_t chunk = begin; chunk < end; chunk++) {
        size_t *count = b->next + chunk * b->n_classes;

        for (uint32_t t = chunk_begin(b, chunk); t < chunk_begin(b, chunk + 1); t++) {
            uint32_t kind = b->fit->kinds->of[t];

            for (size_t i = sets->first[kind]; i < sets->first[kind + 1]; i++)
                count[sets->number[i]] += sets->count[i];
        }
    }
}

/* Counts become places, one class after the other. Returns the place after the last one. */
static size_t place_class(const struct bundles *b, uint32_t class, size_t at)
{
    for (uint32_t chunk = 0; chunk < b->n_chunks; chunk++) {
        size_t *next = &b->next[(size_t)chunk * b->n_classes + class], n = *next;

        *next = at;
        at += n;
    }
    return at;
}

static bool is_class_split(const struct bundles *b, uint32_t class)
{
    return b->fit->is_split[b->fit->path_of[class]];
}

/* Times of split paths come last, and are not dealt. */
static void place_chunks(struct bundles *b)
{
    size_t at = 0, begin;

    for (uint32_t i = 0; i < b->n_classes; i++) {
        uint32_t class = b->deal.order[i];

        b->n_own[class] = 0;
        if (is_class_split(b, class))
            continue;
        begin = at;
        at = place_class(b, class, at);
        b->n_own[class] = (uint32_t)(at - begin);
    }
    begin = at;
    for (uint32_t i = 0; i < b->n_classes; i++) {
        b->kept_begin[i] = at - begin;
        if (is_class_split(b, b->families->class[i]))
            at = place_class(b, b->families->class[i], at);
    }
    b->kept_begin[b->n_classes] = at - begin;
}

static void bundle_tree(const struct bundles *b, uint32_t t, size_t *next)
{
    const struct forest *forest = b->fit->forest;
    const uint32_t *class = b->fit->place->class + b->fit->place->like[t];
    const uint64_t *ns = forest->exclusive_ns + forest->first[t];
    uint32_t n = forest->first[t + 1] - forest->first[t];

    for (uint32_t i = 0; i < n; i++) {
        if (b->narrow_ns)
            b->narrow_ns[next[class[i]]++] = (uint32_t)ns[i];
        else
            b->wide_ns[next[class[i]]++] = ns[i];
    }
}

static void bundle_chunks(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct bundles *b = ctx;

    (void)worker;
    for (size_t chunk = begin; chunk < end; chunk++)
        for (uint32_t t = chunk_begin(b, chunk); t < chunk_begin(b, chunk + 1); t++)
            bundle_tree(b, t, b->next + chunk * b->n_classes);
}

/* Sorts n times from begin on, of calls that are alike. */
static void fit_context(const struct bundles *b, size_t begin, uint64_t *scratch,
                        struct residual_context *context)
{
    struct sorted_times times = {.n = context->n_calls};

    if (b->narrow_ns) {
        times.narrow_ns = b->narrow_ns + begin;
        radix_sort_u32(b->narrow_ns + begin, (uint32_t *)scratch, times.n);
    } else {
        times.wide_ns = b->wide_ns + begin;
        radix_sort_u64(b->wide_ns + begin, scratch, times.n);
    }
    context->log_time = robust_log_times(&times, b->fit->m->offset_ns, MIN_CALL_SCALE);
    context->typical = exp(context->log_time.centre);
}

/* Of a path with one class both are the same. */
static void fit_path(const struct bundles *b, uint32_t p)
{
    const struct residual_model *m = b->fit->m;
    struct paged *paged = b->fit->in->paged;
    size_t width = b->narrow_ns ? sizeof *b->narrow_ns : sizeof *b->wide_ns;
    uint64_t *scratch = paged_alloc(paged, m->path[p].n_calls, width);
    const uint32_t *class = b->families->class + b->families->first[p];
    uint32_t n = b->families->first[p + 1] - b->families->first[p];

    for (uint32_t i = 0; i < n; i++)
        fit_context(b, b->begin[class[i]], scratch, &m->class[class[i]]);
    if (n > 1) {
        fit_context(b, b->begin[class[0]], scratch, &m->path[p]);
    } else {
        m->path[p].log_time = m->class[class[0]].log_time;
        m->path[p].typical = m->class[class[0]].typical;
    }
    paged_release(paged, scratch);
}

static void fit_paths(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct bundles *b = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (!b->fit->is_split[b->order[i]])
            fit_path(b, b->order[i]);
}

/* ----------------------------------------------------------------- paths that are split */

/* Runs of kept times, each of one class or of one path, and what is found of them. */
struct split {
    const struct bundles *b;
    struct joint_part *part;          /* [n] */
    struct residual_context **result; /* [n] */
    uint32_t n;
};

/* Times of the classes first .. last - 1 of the families. */
static void add_run(struct split *s, uint32_t first, uint32_t last,
                    struct residual_context *result)
{
    const struct bundles *b = s->b;
    size_t begin = b->kept_begin[first];
    struct sorted_times times = {.n = b->kept_begin[last] - begin};

    if (b->deal.width == sizeof(uint32_t))
        times.narrow_ns = (const uint32_t *)b->kept + begin;
    else
        times.wide_ns = (const uint64_t *)b->kept + begin;
    s->part[s->n] = (struct joint_part){times, b->fit->m->offset_ns};
    s->result[s->n++] = result;
}

static void sort_runs(void *ctx, size_t begin, size_t end, unsigned worker)
{
    const struct split *s = ctx;

    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const struct sorted_times *times = &s->part[i].times;
        void *scratch = paged_alloc(s->b->fit->in->paged, times->n, s->b->deal.width);

        if (times->narrow_ns)
            radix_sort_u32((uint32_t *)times->narrow_ns, scratch, times->n);
        else
            radix_sort_u64((uint64_t *)times->wide_ns, scratch, times->n);
        paged_release(s->b->fit->in->paged, scratch);
    }
}

/* All at once; then there are none any more. */
static void fit_runs(struct split *s)
{
    const struct fit *f = s->b->fit;
    struct spread *spread = mem_alloc(s->n, sizeof *spread);

    pool_for(f->in->pool, s->n, 1, sort_runs, s);
    if (s->n > 0)
        joint_spreads(f->share, s->part, s->n, MIN_CALL_SCALE, spread);
    for (uint32_t i = 0; i < s->n; i++) {
        s->result[i]->log_time = spread[i];
        s->result[i]->typical = exp(spread[i].centre);
    }
    free(spread);
    s->n = 0;
}

/* Classes, then the paths that have several; the same on all processes. */
static void fit_split_paths(const struct bundles *b)
{
    const struct residual_model *m = b->fit->m;
    const struct families *families = b->families;
    struct split s = {.b = b};

    s.part = mem_alloc(b->n_classes, sizeof *s.part);
    s.result = mem_alloc(b->n_classes, sizeof *s.result);
    for (uint32_t i = 0; i < b->n_classes; i++)
        if (is_class_split(b, families->class[i]))
            add_run(&s, i, i + 1, &m->class[families->class[i]]);
    fit_runs(&s);
    for (uint32_t p = 0; p < m->paths.n; p++) {
        uint32_t first = families->first[p], last = families->first[p + 1];

        if (b->fit->is_split[p] && last - first > 1)
            add_run(&s, first, last, &m->path[p]);
    }
    fit_runs(&s);
    for (uint32_t p = 0; p < m->paths.n; p++)
        if (b->fit->is_split[p] && families->first[p + 1] - families->first[p] == 1) {
            m->path[p].log_time = m->class[families->class[families->first[p]]].log_time;
            m->path[p].typical = m->class[families->class[families->first[p]]].typical;
        }
    free(s.part);
    free(s.result);
}

/* ------------------------------------------------------------------- paths that are dealt */

/* Paths that take long come first, so that threads end at about the same time. */
static int by_calls(const void *a, const void *b, void *ctx)
{
    const struct residual_context *path = ctx;
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

    return ORDER(path[q].n_calls, path[p].n_calls) ?: ORDER(p, q);
}

/*
 * Those that have more calls than two processes (of two or three: than one) would have of all:
 * however the rest is dealt, nobody has more than three of these parts to sort. But not for so
 * few calls that finding out together would take longer (joint_spreads: 33 kB for each
 * process).
 */
static void split_paths(struct fit *f)
{
    const struct residual_model *m = f->m;
    uint64_t n_all = 0, size = tree_share_size(f->share), n_parts = size > 3 ? 2 : 1;

    f->is_split = mem_alloc(m->paths.n, sizeof *f->is_split);
    for (uint32_t p = 0; p < m->paths.n; p++)
        n_all += m->path[p].n_calls;
    for (uint32_t p = 0; size > 1 && p < m->paths.n; p++)
        f->is_split[p] = m->path[p].n_calls >= MIN_SPLIT * size &&
                         m->path[p].n_calls * size > n_parts * n_all;
}

void residual_deal_paths(struct fit *f)
{
    const struct residual_model *m = f->m;
    uint32_t *order = mem_resize(NULL, m->paths.n, sizeof *order), *n_calls;

    split_paths(f);
    n_calls = mem_resize(NULL, m->paths.n, sizeof *n_calls);
    for (uint32_t p = 0; p < m->paths.n; p++) {
        order[p] = p;
        n_calls[p] = f->is_split[p] ? m->path[p].n_trees : m->path[p].n_calls; /* its sums */
    }
    qsort_r(order, m->paths.n, sizeof *order, by_calls, m->path);
    f->owner = partition_balance(f->share, n_calls, order, m->paths.n);
    partition_init(&f->deal, f->share, m->paths.n, order, f->owner);
    free(order);
    free(n_calls);
}

/* Fewer chunks than threads where their counts would be as many as there are calls. */
static uint32_t chunks_for(const struct fit *f)
{
    uint64_t most = f->forest->n / ((uint64_t)CHUNK_CONTEXT * f->m->class_id.n) + 1;
    unsigned n = pool_threads(f->in->pool);

    return n < most ? n : (uint32_t)most;
}

/* Own times in the order of classes, then those of the own classes. */
static void bundle(struct bundles *b)
{
    const struct fit *f = b->fit;
    struct paged *paged = f->in->paged;
    size_t n_kept;
    const char *all;

    if (f->longest_ns <= UINT32_MAX)
        b->narrow_ns = paged_alloc(paged, f->forest->n, sizeof *b->narrow_ns);
    else
        b->wide_ns = paged_alloc(paged, f->forest->n, sizeof *b->wide_ns);
    pool_for(f->in->pool, b->n_chunks, 1, count_chunks, b);
    place_chunks(b);
    pool_for(f->in->pool, b->n_chunks, 1, bundle_chunks, b);
    b->deal.width = b->narrow_ns ? sizeof *b->narrow_ns : sizeof *b->wide_ns;
    /* the times of split paths are kept out of those that are dealt */
    n_kept = b->kept_begin[b->n_classes];
    b->kept = paged_alloc(paged, n_kept, b->deal.width);
    all = b->narrow_ns ? (const char *)b->narrow_ns : (const char *)b->wide_ns;
    if (n_kept > 0)
        memcpy(b->kept, all + (f->forest->n - n_kept) * b->deal.width, n_kept * b->deal.width);
    if (b->narrow_ns)
        b->narrow_ns = partition_exchange(&b->deal, b->narrow_ns, b->n_own, b->begin);
    else
        b->wide_ns = partition_exchange(&b->deal, b->wide_ns, b->n_own, b->begin);
}

void residual_fit_contexts(const struct fit *f)
{
    struct families families;
    struct bundles b = {.fit = f,
                        .families = &families,
                        .n_chunks = chunks_for(f),
                        .n_classes = f->m->class_id.n,
                        .order = f->deal.order + f->deal.first[f->deal.me]};
    unsigned *owner;

    b.n_order = f->deal.first[f->deal.me + 1] - f->deal.first[f->deal.me];
    families_find(f, &families);
    owner = mem_resize(NULL, b.n_classes, sizeof *owner); /* classes go with their paths */
    for (uint32_t c = 0; c < b.n_classes; c++)
        owner[c] = f->owner[f->path_of[c]];
    partition_init(&b.deal, f->share, b.n_classes, families.class, owner);
    b.deal.paged = f->in->paged;
    free(owner);
    b.begin = mem_resize(NULL, b.n_classes, sizeof *b.begin);
    b.n_own = mem_resize(NULL, b.n_classes, sizeof *b.n_own);
    b.next = mem_alloc((size_t)b.n_chunks * b.n_classes, sizeof *b.next);
    b.kept_begin = mem_alloc((size_t)b.n_classes + 1, sizeof *b.kept_begin);
    bundle(&b);
    pool_for(f->in->pool, b.n_order, 1, fit_paths, &b);
    fit_split_paths(&b);
    f->place->n_sorted = b.kept_begin[b.n_classes]; /* times that were sorted here */
    for (uint32_t i = 0; i < b.n_order; i++)
        if (!f->is_split[b.order[i]])
            f->place->n_sorted += f->m->path[b.order[i]].n_calls;
    partition_tell(&b.deal, f->m->class, sizeof *f->m->class);
    partition_tell(&f->deal, f->m->path, sizeof *f->m->path);
    paged_release(f->in->paged, b.narrow_ns);
    paged_release(f->in->paged, b.wide_ns);
    paged_release(f->in->paged, b.kept);
    partition_release(&b.deal);
    free(b.kept_begin);
    free(b.n_own);
    free(b.next);
    free(b.begin);
    free(families.first);
    free(families.class);
}
