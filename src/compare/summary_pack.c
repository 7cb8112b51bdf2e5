#include "compare/summary_pack.h"

#include "base/err.h"
#include "base/mem.h"
#include "features/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 3u     /* has all functions */
#define VERSION_CUT 2u /* has those with 1e-4 of the time; in version 1 times are exact, too */
#define MAX_NS 1e18    /* of a time: thirty years */

/* ------------------------------------------------------------------------------- packing */

/* Sums of nanoseconds are whole numbers that a double has exactly. */
static void put_ns(struct pack *to, double ns)
{
    pack_varint(to, (uint64_t)ns);
}

static void put_text(struct pack *to, const char *text)
{
    size_t n = strlen(text);

    pack_varint(to, n);
    pack_bytes(to, text, n);
}

static void put_path(struct pack *to, const struct summary_path *path)
{
    pack_varint(to, path->parent == PATH_NONE ? 0 : path->parent + 1);
    pack_varint(to, path->name);
    pack_varint(to, path->is_waiting);
    pack_varint(to, path->n_executions);
    pack_varint(to, path->n_calls);
    put_ns(to, path->time_ns);
}

static void put_functions(struct pack *to, const struct summary *d)
{
    put_ns(to, d->run_ns);
    pack_varint(to, d->n_functions);
    for (uint32_t i = 0; i < d->n_functions; i++) {
        const struct summary_function *f = &d->function[i];

        pack_varint(to, f->name);
        pack_varint(to, f->n_locations);
        pack_varint(to, f->n_calls);
        put_ns(to, f->own_ns);
        put_ns(to, f->critical_ns);
    }
}

static void put_part(struct pack *to, const struct summary *d, const struct summary_part *part)
{
    pack_varint(to, part->n_executions);
    pack_varint(to, part->has);
    put_ns(to, part->time_ns);
    for (uint32_t p = 0; p < d->n_paths; p++)
        put_ns(to, part->path_ns[p]);
    for (uint32_t i = 0; part->in_batch && i < d->n_batches; i++) {
        pack_varint(to, part->in_batch[i]);
        put_ns(to, part->batch_ns[i]);
    }
}

/* By how much a time may be off, which a trace may say anything of. */
static void put_off(struct pack *to, double off_ns)
{
    put_ns(to, ceil(fmin(off_ns, MAX_NS)));
}

static void put_offs(struct pack *to, const struct summary *d)
{
    put_off(to, d->off_ns);
    for (uint32_t i = 0; i < d->n_paths; i++)
        put_off(to, d->path[i].off_ns);
    for (uint32_t i = 0; i < d->n_sets; i++)
        put_off(to, d->set[i].off_ns);
    for (uint32_t i = 0; i < d->n_ranks; i++)
        put_off(to, d->rank[i].off_ns);
}

void summary_pack(struct pack *to, const struct summary *d)
{
    pack_varint(to, d->has_all_functions ? VERSION : VERSION_CUT);
    pack_varint(to, d->names.n);
    for (uint32_t i = 0; i < d->names.n; i++)
        put_text(to, d->names.name[i]);
    pack_varint(to, d->foi);
    pack_varint(to, d->n_locations);
    pack_varint(to, d->n_executions);
    put_ns(to, d->time_ns);
    for (uint32_t i = 0; i < SUMMARY_QUANTILES; i++)
        pack_f64(to, d->duration_ns[i]);
    pack_varint(to, d->n_paths);
    for (uint32_t i = 0; i < d->n_paths; i++)
        put_path(to, &d->path[i]);
    pack_varint(to, d->n_optional);
    for (uint32_t i = 0; i < d->n_optional; i++)
        pack_varint(to, d->optional[i]);
    pack_varint(to, d->n_batches);
    for (uint32_t i = 0; i < d->n_batches; i++)
        put_part(to, d, &d->batch[i]);
    pack_varint(to, d->n_sets);
    for (uint32_t i = 0; i < d->n_sets; i++)
        put_part(to, d, &d->set[i]);
    pack_varint(to, d->n_ranks);
    for (uint32_t i = 0; i < d->n_ranks; i++) {
        pack_varint(to, d->rank[i].program);
        pack_varint(to, d->rank[i].rank);
        pack_varint(to, d->rank[i].n_executions);
        put_ns(to, d->rank[i].own_ns);
        put_ns(to, d->rank[i].wait_ns);
    }
    put_functions(to, d);
    for (int f = 0; f < N_DIGEST_FACTS; f++)
        put_text(to, d->fact[f] ? d->fact[f] : "");
    put_offs(to, d);
}

/* ----------------------------------------------------------------------------- unpacking */

/* A number below `below`. */
static uint32_t get_below(struct pack *from, uint64_t below)
{
    uint64_t value = unpack_varint(from);

    if (value < below && value < UINT32_MAX)
        return (uint32_t)value;
    from->is_bad = true;
    return 0;
}

/* How many there are of what takes a byte each at least. */
static uint32_t get_count(struct pack *from)
{
    return get_below(from, from->n - from->at + 1);
}

static double get_ns(struct pack *from)
{
    uint64_t ns = unpack_varint(from);

    from->is_bad |= ns > (uint64_t)MAX_NS;
    return (double)ns;
}

/* To be freed; "" when it is bad. */
static char *get_text(struct pack *from)
{
    size_t length = get_count(from);
    const char *bytes = unpack_bytes(from, length);
    char *text = mem_alloc(length + 1, 1);

    if (bytes)
        memcpy(text, bytes, length);
    from->is_bad |= bytes == NULL || strlen(text) != length;
    return text;
}

static void get_names(struct summary *d, struct pack *from)
{
    uint32_t n = get_count(from);

    for (uint32_t i = 0; i < n && !from->is_bad; i++) {
        char *text = get_text(from);

        from->is_bad |= !from->is_bad && names_add(&d->names, text) != i;
        free(text);
    }
}

/* Parents come before their children, and there is one root. */
static void get_paths(struct summary *d, struct pack *from)
{
    d->n_paths = get_count(from);
    d->path = mem_alloc(d->n_paths, sizeof *d->path);
    for (uint32_t i = 0; i < d->n_paths && !from->is_bad; i++) {
        struct summary_path *path = &d->path[i];
        uint32_t parent = get_below(from, (uint64_t)i + 1);

        path->parent = parent == 0 ? PATH_NONE : parent - 1;
        path->name = get_below(from, d->names.n);
        path->is_waiting = get_below(from, 2);
        path->n_executions = get_below(from, (uint64_t)d->n_executions + 1);
        path->n_calls = unpack_varint(from);
        path->time_ns = get_ns(from);
        from->is_bad |= (parent == 0) != (i == 0) || path->n_calls < path->n_executions;
    }
    from->is_bad |= d->n_paths == 0 || d->path[0].name != d->foi;
}

static void get_optional(struct summary *d, struct pack *from)
{
    d->n_optional = get_below(from, SUMMARY_OPTIONAL + 1);
    for (uint32_t i = 0; i < d->n_optional; i++)
        d->optional[i] = get_below(from, d->n_paths);
}

static void get_part(const struct summary *d, struct summary_part *part, struct pack *from,
                     bool is_set)
{
    part->n_executions = get_below(from, (uint64_t)d->n_executions + 1);
    part->has = get_below(from, 1u << SUMMARY_OPTIONAL);
    part->time_ns = get_ns(from);
    part->path_ns = mem_alloc(d->n_paths, sizeof *part->path_ns);
    for (uint32_t p = 0; p < d->n_paths && !from->is_bad; p++)
        part->path_ns[p] = get_ns(from);
    if (!is_set)
        return;
    part->in_batch = mem_alloc(d->n_batches, sizeof *part->in_batch);
    part->batch_ns = mem_alloc(d->n_batches, sizeof *part->batch_ns);
    for (uint32_t i = 0; i < d->n_batches && !from->is_bad; i++) {
        part->in_batch[i] = get_below(from, (uint64_t)d->n_executions + 1);
        part->batch_ns[i] = get_ns(from);
    }
}

/* The executions of all parts are those that there are. */
static struct summary_part *get_parts(const struct summary *d, uint32_t most, uint32_t *n,
                                      struct pack *from, bool is_set)
{
    struct summary_part *part;
    uint64_t n_executions = 0;

    *n = get_below(from, (uint64_t)most + 1);
    part = mem_alloc(*n, sizeof *part);
    for (uint32_t i = 0; i < *n; i++) {
        get_part(d, &part[i], from, is_set);
        n_executions += part[i].n_executions;
        from->is_bad |= part[i].n_executions == 0;
    }
    from->is_bad |= n_executions != d->n_executions;
    return part;
}

static void get_ranks(struct summary *d, struct pack *from)
{
    d->n_ranks = get_count(from);
    d->rank = mem_alloc(d->n_ranks, sizeof *d->rank);
    for (uint32_t i = 0; i < d->n_ranks && !from->is_bad; i++) {
        struct summary_rank *rank = &d->rank[i];

        rank->program = get_below(from, UINT32_MAX);
        rank->rank = get_below(from, UINT32_MAX);
        rank->n_executions = get_below(from, (uint64_t)d->n_executions + 1);
        rank->own_ns = get_ns(from);
        rank->wait_ns = get_ns(from);
        from->is_bad |= rank->n_executions == 0;
        if (i > 0)
            from->is_bad |= rank->program < rank[-1].program ||
                            (rank->program == rank[-1].program && rank->rank <= rank[-1].rank);
    }
}

static void get_functions(struct summary *d, struct pack *from)
{
    uint32_t n;

    d->run_ns = get_ns(from);
    n = get_count(from);
    for (uint32_t i = 0; i < n && !from->is_bad; i++) {
        struct summary_function f = {.name = get_below(from, d->names.n)};

        f.n_locations = get_below(from, UINT32_MAX);
        f.n_calls = unpack_varint(from);
        f.own_ns = get_ns(from);
        f.critical_ns = get_ns(from);
        mem_grow(&d->function, &d->function_cap, (size_t)i + 1);
        d->function[d->n_functions++] = f;
    }
}

static void get_facts(struct summary *d, struct pack *from)
{
    for (int f = 0; f < N_DIGEST_FACTS; f++) {
        char *value = get_text(from);

        if (*value && strlen(value) < SUMMARY_FACT_BYTES)
            d->fact[f] = value;
        else
            free(value);
    }
}

static void get_offs(struct summary *d, struct pack *from)
{
    d->off_ns = get_ns(from);
    for (uint32_t i = 0; i < d->n_paths && !from->is_bad; i++)
        d->path[i].off_ns = get_ns(from);
    for (uint32_t i = 0; i < d->n_sets && !from->is_bad; i++)
        d->set[i].off_ns = get_ns(from);
    for (uint32_t i = 0; i < d->n_ranks && !from->is_bad; i++)
        d->rank[i].off_ns = get_ns(from);
}

int summary_unpack(struct summary *d, struct pack *from)
{
    uint64_t version = unpack_varint(from);

    *d = (struct summary){0};
    from->is_bad |= version < 1 || version > VERSION;
    get_names(d, from);
    d->foi = get_below(from, d->names.n);
    d->n_locations = get_below(from, UINT32_MAX);
    d->n_executions = get_below(from, UINT32_MAX);
    from->is_bad |= d->n_executions == 0;
    d->time_ns = get_ns(from);
    for (uint32_t i = 0; i < SUMMARY_QUANTILES; i++) {
        d->duration_ns[i] = unpack_f64(from);
        from->is_bad |= !(d->duration_ns[i] >= 0 && d->duration_ns[i] <= MAX_NS);
    }
    get_paths(d, from);
    get_optional(d, from);
    d->batch = get_parts(d, SUMMARY_BATCHES, &d->n_batches, from, false);
    d->set = get_parts(d, 1u << SUMMARY_OPTIONAL, &d->n_sets, from, true);
    get_ranks(d, from);
    get_functions(d, from);
    d->has_all_functions = version > VERSION_CUT;
    get_facts(d, from);
    if (version > 1)
        get_offs(d, from);
    if (from->is_bad || from->at != from->n)
        return err_set(ERR_FORMAT, "what is kept of the run is damaged");
    return 0;
}
