/* Only the trees of chosen executions are built, and found in the model. */
#include "analysis/chosen.h"

#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/mem.h"
#include "explain/excess.h"
#include "explain/why.h"
#include "features/wl.h"
#include "ranks/peer_costs.h"
#include "ranks/peer_few.h"
#include "replay/what_if.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN " > " /* functions of a path */

enum chosen_how {
    CHOSEN_LOST = 1, /* what it lost */
    CHOSEN_RANK = 2, /* against other ranks */
};

/* ------------------------------------------------------------------------------ opening */

static int load_executions(struct chosen *c)
{
    sqlite3_stmt *query;
    int rc = rundb_query(c->db, &query, run_sql_roots, "i", c->foi);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        *mem_push(&c->execution, &c->n, &c->cap) = (struct chosen_execution){
            .location = (uint32_t)sqlite3_column_int64(query, ROOT_LOCATION),
            .call = (uint32_t)sqlite3_column_int64(query, ROOT_CALL),
            .rank = (uint32_t)sqlite3_column_int64(query, ROOT_RANK),
            .thread = (uint32_t)sqlite3_column_int64(query, ROOT_THREAD),
            .index = (uint32_t)sqlite3_column_int64(query, ROOT_INDEX),
            .is_anomaly = sqlite3_column_int(query, ROOT_IS_ANOMALY) != 0,
            .lost_ns = sqlite3_column_int64(query, ROOT_LOST),
            .incident = (uint32_t)sqlite3_column_int64(query, ROOT_INCIDENT),
        };
    }
    return rundb_close_query(c->db, query, rc, "cannot read the executions");
}

int chosen_open(struct chosen *c, sqlite3 *db, int64_t foi, const struct columns *columns,
                const struct definitions *defs)
{
    int rc;

    *c = (struct chosen){.db = db, .columns = columns, .defs = defs, .foi = foi};
    rc = model_store_load(db, foi, defs->names.n, &c->model);
    if (rc == 0)
        rc = load_executions(c);
    c->is_path = mem_alloc(c->model.paths.n, sizeof *c->is_path);
    c->is_incident = mem_alloc((size_t)c->n + 1, sizeof *c->is_incident);
    return rc;
}

void chosen_close(struct chosen *c)
{
    residual_release(&c->model);
    free(c->execution);
    free(c->first_member);
    free(c->member);
    free(c->is_incident);
    free(c->is_path);
    peers_release(&c->peers);
    free(c->peer_factor);
    *c = (struct chosen){0};
}

/* ----------------------------------------------------------------------------- choosing */

int chosen_execution(struct chosen *c, uint32_t rank, uint32_t thread, uint32_t index)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct chosen_execution *x = &c->execution[i];

        if (x->rank == rank && x->thread == thread && x->index == index) {
            x->how |= CHOSEN_LOST;
            return 0;
        }
    }
    return err_set(ERR_NOT_FOUND, "no execution %u of rank %u, thread %u", index, rank, thread);
}

void chosen_anomalies(struct chosen *c)
{
    /* of an incident, that an execution of it is: there are no more of them than executions */
    bool *is_one = mem_alloc((size_t)c->n + 1, sizeof *is_one);

    for (uint32_t i = 0; i < c->n; i++)
        if (c->execution[i].is_anomaly && c->execution[i].incident <= c->n)
            is_one[c->execution[i].incident] = true;
    is_one[0] = false; /* these are of none */
    for (uint32_t i = 0; i <= c->n; i++)
        c->is_incident[i] |= is_one[i];
    for (uint32_t i = 0; i < c->n; i++) {
        struct chosen_execution *x = &c->execution[i];

        if (x->is_anomaly || (x->incident <= c->n && is_one[x->incident]))
            x->how |= CHOSEN_LOST;
    }
    free(is_one);
}

/* There are no more incidents than executions; a number beyond is damage, and nobody's. */
static void list_incidents(struct chosen *c)
{
    uint32_t *first = mem_alloc((size_t)c->n + 3, sizeof *first);

    c->first_member = first;
    c->member = mem_alloc(c->n, sizeof *c->member);
    for (uint32_t i = 0; i < c->n; i++)
        if (c->execution[i].incident <= c->n)
            first[c->execution[i].incident + 2]++;
    for (uint32_t k = 2; k <= c->n + 2; k++)
        first[k] += first[k - 1];
    for (uint32_t i = 0; i < c->n; i++) /* first[k + 1] goes from where k begins to its end */
        if (c->execution[i].incident <= c->n)
            c->member[first[c->execution[i].incident + 1]++] = i;
}

int chosen_incident(struct chosen *c, int64_t incident)
{
    bool is_there;

    if (c->first_member == NULL)
        list_incidents(c);
    is_there = incident > 0 && incident <= c->n &&
               c->first_member[incident] < c->first_member[incident + 1];
    if (!is_there)
        return err_set(ERR_NOT_FOUND, "no incident %lld", (long long)incident);
    c->is_incident[incident] = true;
    for (uint32_t k = c->first_member[incident]; k < c->first_member[incident + 1]; k++)
        c->execution[c->member[k]].how |= CHOSEN_LOST;
    return 0;
}

/* What is typical on all ranks is what the slow one makes of it where there are few; so one that
 * is to blame is compared with the others. */
static int compare_ranks(struct chosen *c)
{
    struct scoring scoring = {0};
    struct trace_view view;
    int rc = run_scoring_load(&scoring, c->db, c->columns, c->defs, c->foi, false);

    if (rc == 0) {
        run_view_init(&view, c->columns, c->defs);
        peers_find(&scoring, &view, &(struct peers_opts){.by = PEERS_BY_RANK}, &c->peers);
        trace_view_release(&view);
        c->peer_factor = mem_alloc(c->model.paths.n, sizeof *c->peer_factor);
        for (uint32_t p = 0; p < c->model.paths.n; p++)
            c->peer_factor[p] = 1;
    }
    scoring_release(&scoring);
    return rc;
}

int chosen_rank(struct chosen *c, uint32_t rank)
{
    bool is_there = false;

    for (uint32_t i = 0; i < c->n; i++)
        if (c->execution[i].rank == rank) {
            c->execution[i].how |= CHOSEN_RANK;
            is_there = true;
        }
    if (!is_there)
        return err_set(ERR_NOT_FOUND, "no executions on rank %u", rank);
    return c->peer_factor ? 0 : compare_ranks(c);
}

static bool is_end(const char *text, const char *end, const char *what)
{
    size_t n = strlen(what);

    return (size_t)(end - text) >= n && memcmp(end - n, what, n) == 0;
}

/* Where the last function of text .. end begins, if it is this one; else NULL. A name may have in
 * it what stands between functions: of the names that fit it is the longest. */
static const char *find_last(const struct region *region, const char *text, const char *end)
{
    const char *known_as[] = {region->short_name, region->name, region->plain}, *begin = NULL;

    for (size_t i = 0; i < sizeof known_as / sizeof *known_as; i++) {
        const char *at;

        if (!is_end(text, end, known_as[i]))
            continue;
        at = end - strlen(known_as[i]);
        if ((at == text || is_end(text, at, BETWEEN)) && (begin == NULL || at < begin))
            begin = at;
    }
    return begin;
}

/* Whether a path ends in these functions. */
static bool ends_in(const struct chosen *c, uint32_t path, const char *text)
{
    const struct context *paths = &c->model.paths;
    const char *end = text + strlen(text), *begin;

    for (; path != PATH_NONE; path = paths->parent[path], end = begin - strlen(BETWEEN)) {
        begin = find_last(&c->defs->region[paths->region[path]], text, end);
        if (begin == NULL || begin == text)
            return begin == text;
    }
    return false;
}

int chosen_path(struct chosen *c, const char *path)
{
    const struct context *paths = &c->model.paths;
    bool *is_it = mem_alloc(paths->n, sizeof *is_it), is_there = false;

    for (uint32_t p = 0; p < paths->n; p++) { /* callers come first */
        is_it[p] =
            (paths->parent[p] != PATH_NONE && is_it[paths->parent[p]]) || ends_in(c, p, path);
        c->is_path[p] |= is_it[p];
        is_there |= is_it[p];
    }
    free(is_it);
    c->has_paths |= is_there;
    if (is_there)
        return 0;
    return err_set(ERR_NOT_FOUND, "no call in the executions is on a path '%s'", path);
}

/* ------------------------------------------------------------------------------ cutting */

/* The trees of what is chosen, on their way. */
struct tree_cutting {
    struct chosen *c;
    struct what_if *w;
    int way;
    struct forest forest;
    uint32_t *execution; /* [trees] of c->execution */
    size_t execution_cap;
    struct wl wl;
    struct residual_place place;
    struct why why;
    double *excess_ns, *other_ns; /* [vertices of a tree] */
    size_t excess_cap, other_cap;
};

static bool is_chosen(const struct chosen *c, uint32_t i)
{
    return c->execution[i].how != 0 || c->has_paths;
}

/* The trees of chosen executions begin .. end - 1, all of one location, in order. */
static int build_location(struct tree_cutting *k, uint32_t begin, uint32_t end)
{
    const struct chosen *c = k->c;
    uint32_t location = c->execution[begin].location, n = 0, t = k->forest.n_trees;
    uint32_t *row = mem_alloc(end - begin, sizeof *row);
    const struct call_view *calls = &k->w->view.calls[location];
    uint32_t after = 0; /* where the last one ends */
    int rc = 0;

    mem_grow(&k->execution, &k->execution_cap, (size_t)t + (end - begin));
    for (uint32_t i = begin; rc == 0 && i < end; i++) {
        const struct chosen_execution *x = &c->execution[i];

        if (!is_chosen(c, i))
            continue;
        if (x->call >= calls->n || x->call < after) {
            rc = err_set(ERR_FORMAT, "damaged run: an execution is not where it should be");
            break;
        }
        after = x->call + calls->subtree_len[x->call];
        k->execution[t + n] = i;
        row[n++] = x->call;
    }
    if (rc == 0)
        forest_of_calls(&k->forest, location, calls, row, n, c->defs);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        k->forest.index[t + i] = c->execution[k->execution[t + i]]
                                     .index; /* first executions have contexts of their own */
    free(row);
    return rc;
}

static int build(struct tree_cutting *k)
{
    struct chosen *c = k->c;
    int rc = 0;

    for (uint32_t i = 0, end; rc == 0 && i < c->n; i = end) {
        for (end = i + 1; end < c->n && c->execution[end].location == c->execution[i].location;
             end++)
            ;
        if (c->execution[i].location >= k->w->view.n_locations)
            return err_set(ERR_FORMAT, "damaged run: an execution is on no location");
        rc = build_location(k, i, end);
        trace_view_passed(&k->w->view);
    }
    if (rc < 0 || k->forest.n_trees == 0)
        return rc;
    wl_init(&k->wl, &k->forest, c->defs, false, NULL);
    residual_locate(
        &c->model, &k->place,
        &(struct residual_input){.forest = &k->forest, .wl = &k->wl, .defs = c->defs});
    return 0;
}

/* The larger excess holds; a saving does only where nothing else is said. */
static void combine(struct tree_cutting *k, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (k->excess_ns[i] == 0 || k->other_ns[i] > k->excess_ns[i])
            k->excess_ns[i] = k->other_ns[i];
}

static bool is_on_path(const struct tree_cutting *k, uint32_t t, uint32_t v)
{
    uint32_t path = v == FOREST_ROOT ? PATH_NONE : residual_path(&k->place, &k->forest, t, v);

    return path != PATH_NONE && k->c->is_path[path];
}

/* Calls that are not on a chosen path are left as they are. Returns whether any is on one. */
static bool keep_paths(struct tree_cutting *k, uint32_t t)
{
    uint32_t first = k->forest.first[t];
    bool is_any = false;

    for (uint32_t v = first; v < k->forest.first[t + 1]; v++) {
        bool is_it = is_on_path(k, t, v);

        if (!is_it)
            k->other_ns[v - first] = 0;
        is_any |= is_it;
    }
    return is_any;
}

/*
 * What is chosen of a tree is whole calls with all that is inside them: borders in there only
 * move time from the one to the other, and no call of MPI is between where they may be.
 */
static void add_offs(struct tree_cutting *k, uint32_t t)
{
    const struct forest *f = &k->forest;
    bool is_whole = k->c->execution[k->execution[t]].how != 0;

    for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++)
        if (is_whole ? f->parent[v] == FOREST_ROOT
                     : is_on_path(k, t, v) && !is_on_path(k, t, f->parent[v]))
            k->c->off_ns += what_if_off(k->w, f, t, v, k->way);
}

/* What calls of a rank take more than on others; than on all, if it is like these. */
static void excess_of_rank(struct tree_cutting *k, uint32_t t)
{
    const struct chosen *c = k->c;
    const struct peer_execution x = {c->defs, &c->model, &k->forest, &k->place, t};
    uint32_t place = c->peers.at[k->forest.location[t]];

    if (place == PEERS_NONE || !peers_is_to_blame(&c->peers.place[place]))
        excess_typical(&k->why, t, true, k->other_ns);
    else
        peers_excess(&c->peers, place, &x, c->peer_factor, k->other_ns);
}

static void cut_tree(struct tree_cutting *k, uint32_t t)
{
    struct chosen *c = k->c;
    const struct chosen_execution *x = &c->execution[k->execution[t]];
    uint32_t n = k->forest.first[t + 1] - k->forest.first[t];
    bool is_in = x->how != 0;
    double sum = 0;

    mem_grow(&k->excess_ns, &k->excess_cap, n);
    mem_grow(&k->other_ns, &k->other_cap, n);
    memset(k->excess_ns, 0, n * sizeof *k->excess_ns);
    if (x->how & CHOSEN_LOST)
        excess_lost(&k->why, t, x->lost_ns, k->excess_ns);
    if (x->how & CHOSEN_RANK) {
        excess_of_rank(k, t);
        combine(k, n);
    }
    if (c->has_paths) {
        excess_typical(&k->why, t, false, k->other_ns);
        is_in |= keep_paths(k, t);
        combine(k, n);
    }
    for (uint32_t i = 0; i < n; i++)
        sum += k->excess_ns[i];
    c->n_chosen += is_in;
    c->n_outside += is_in && !syncs_takes_part(&k->w->syncs, k->forest.location[t]);
    sum = fmax(fmin(sum, (double)(MAX_ADDED_NS - c->excess_ns)),
               -(double)(MAX_ADDED_NS + c->excess_ns));
    c->excess_ns += llrint(sum);
    c->cut_ns += what_if_cut(k->w, &k->forest, t, k->excess_ns);
    if (x->how != 0)
        c->cut_ns += what_if_cut_teams(k->w, &k->forest, t, k->excess_ns);
    if (k->forest.off_ns)
        add_offs(k, t);
}

/* What is not on the locations of executions: what operations of the GPUs of a rank that is to
 * blame take longer, and what its threads do in their teams. */
static void cut_others(struct chosen *c, struct what_if *w)
{
    bool *is_chosen = mem_alloc(c->peers.n, sizeof *is_chosen);

    for (uint32_t i = 0; c->peers.n > 0 && i < c->n; i++) {
        uint32_t p = c->peers.at[c->execution[i].location];

        if ((c->execution[i].how & CHOSEN_RANK) && p != PEERS_NONE)
            is_chosen[p] = true;
    }
    for (uint32_t p = 0; p < c->peers.n; p++) {
        int64_t cut_ns;

        if (!is_chosen[p])
            continue;
        cut_ns = peer_teams_cut(w, &c->peers.teams, c->peers.place[p].rank);
        if (peers_is_to_blame(&c->peers.place[p]))
            cut_ns += peer_helpers_cut(&c->peers, p, false, w);
        c->cut_ns += cut_ns;
        c->excess_ns += cut_ns;
    }
    free(is_chosen);
}

/* What incidents that are chosen waited for, where that is in no execution. */
static int cut_outside(struct chosen *c, struct what_if *w)
{
    sqlite3_stmt *query;
    int rc = rundb_query(c->db, &query, run_sql_outside, "i", c->foi);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(query, 0), l = sqlite3_column_int64(query, 1),
                row = sqlite3_column_int64(query, 2), late_ns = sqlite3_column_int64(query, 3);

        if (id < 1 || id > c->n || l < 0 || l >= w->view.n_locations || row < 0 ||
            row >= w->view.calls[l].n || late_ns < 0 || late_ns > MAX_ADDED_NS)
            rc = err_set(ERR_FORMAT, "damaged run: what an incident waited for is nowhere");
        else if (c->is_incident[id])
            c->outside_ns += replay_cut(&w->replay, (uint32_t)l, (uint32_t)row, late_ns);
    }
    return rundb_close_query(c->db, query, rc, "cannot read the incidents");
}

/* Calls of functions that are chosen by path, on threads of no execution: no path is theirs. */
static uint64_t calls_elsewhere(const struct chosen *c, const struct what_if *w)
{
    bool *is_chosen_region = mem_alloc(c->defs->names.n, sizeof *is_chosen_region);
    bool *has_executions = mem_alloc(w->view.n_locations, sizeof *has_executions);
    uint64_t n = 0;

    for (uint32_t p = 0; c->has_paths && p < c->model.paths.n; p++)
        is_chosen_region[c->model.paths.region[p]] |= c->is_path[p];
    for (uint32_t i = 0; i < c->n; i++)
        has_executions[c->execution[i].location] = true;
    for (uint32_t l = 0; c->has_paths && l < w->view.n_locations; l++)
        for (uint32_t row = 0; !has_executions[l] && row < w->view.calls[l].n; row++)
            n += is_chosen_region[w->view.calls[l].region[row]];
    free(is_chosen_region);
    free(has_executions);
    return n;
}

int chosen_cut(struct chosen *c, struct what_if *w, int way)
{
    struct tree_cutting k = {.c = c, .w = w, .way = way};
    int rc = build(&k);

    c->n_chosen = c->n_outside = 0;
    c->excess_ns = c->unknown_ns = c->cut_ns = c->outside_ns = c->off_ns = 0;

    if (rc == 0 && k.forest.n_trees > 0) {
        why_init(&k.why, &c->model, &k.place, &k.forest, c->defs);
        for (uint32_t t = 0; t < k.forest.n_trees; t++) {
            cut_tree(&k, t);
            if (t + 1 == k.forest.n_trees || k.forest.location[t + 1] != k.forest.location[t])
                trace_view_passed(&w->view);
        }
        cut_others(c, w);
        c->n_elsewhere = calls_elsewhere(c, w);
        rc = cut_outside(c, w);
        c->unknown_ns = w->replay.unknown_ns;
        why_release(&k.why);
    }
    residual_place_release(&k.place);
    wl_release(&k.wl);
    forest_release(&k.forest);
    free(k.execution);
    free(k.excess_ns);
    free(k.other_ns);
    return rc;
}
