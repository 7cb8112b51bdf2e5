/*
 * All locations over time: where time was lost, what cost the run, was waited, or went into a
 * function; and ranks against their peers, for their view.
 */
#include "serve/api_map.h"

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "ranks/peers.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "serve/api.h"
#include "serve/foi_filter.h"
#include "serve/lod.h"
#include "view/results_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FINER 4u       /* rectangles are as fine as a part of a stretch */
#define MAX_DEPTHS 64u /* that calls are looked for at */

void rank_map_init(struct rank_map *map)
{
    map->cell_ns = mem_alloc((size_t)map->rows * map->width, sizeof *map->cell_ns);
}

void rank_map_release(struct rank_map *map)
{
    free(map->cell_ns);
    map->cell_ns = NULL;
}

static double cell_length(const struct rank_map *map)
{
    return (double)(map->end_ns - map->begin_ns) / map->width;
}

void rank_map_spread(struct rank_map *map, uint32_t row, const double span_ns[2],
                     double amount_ns)
{
    double length = cell_length(map), begin = (span_ns[0] - (double)map->begin_ns) / length,
           end = (span_ns[1] - (double)map->begin_ns) / length;
    double from = begin > 0 ? begin : 0, until = end < map->width ? end : map->width;
    double *cell = map->cell_ns + (size_t)row * map->width;

    if (!(until > from))
        return;
    for (uint32_t x = (uint32_t)from; x < map->width && x < until; x++) {
        double part = fmin(until, x + 1.0) - fmax(from, x);

        cell[x] += amount_ns * part / (end - begin);
    }
}

void rank_map_add_calls(struct rank_map *map, const struct columns *columns,
                        const struct levels *levels, uint32_t location, const bool *is_wanted,
                        uint32_t n_regions)
{
    const struct lod_window look = {map->begin_ns, map->end_ns, FINER * map->width, MAX_DEPTHS,
                                    4 * FINER * map->width * MAX_DEPTHS};
    double *cell = map->cell_ns + (size_t)location * map->width, most = cell_length(map);
    struct lod lod = {.n = 0};

    lod_make(&lod, columns, levels, &location, 1, &look);
    for (size_t i = 0; i < lod.n; i++) {
        const double span[] = {lod.begin_ns[i], lod.end_ns[i]};

        if (lod.region[i] < n_regions && is_wanted[lod.region[i]])
            rank_map_spread(map, location, span, span[1] - span[0]);
    }
    for (uint32_t x = 0; x < map->width; x++)
        cell[x] = fmin(cell[x], most);
    lod_release(&lod);
}

double rank_map_shades(const struct rank_map *map, uint8_t *shade, double *total_ns)
{
    size_t n = (size_t)map->rows * map->width;
    double highest = 0;

    for (size_t i = 0; i < n; i++)
        highest = fmax(highest, map->cell_ns[i]);
    for (uint32_t y = 0; y < map->rows; y++)
        total_ns[y] = 0;
    for (size_t i = 0; i < n; i++) {
        double part = map->cell_ns[i] > 0 ? 255 * sqrt(map->cell_ns[i] / highest) : 0;

        shade[i] = part > 0 && part < 1 ? 1 : (uint8_t)lround(part);
        total_ns[i / map->width] += map->cell_ns[i];
    }
    return highest;
}

/* ------------------------------------------------------------------------------ the answers */

#define MAX_WIDTH 1024
#define TYPICAL_WIDTH 256

/* What is said of a map beside its cells. */
struct map_notes {
    bool is_cost;
    uint32_t n_bounds;  /* executions that cost at most what is in the cells */
    uint32_t n_unknown; /* executions that lost, and cost nobody knows what */
    double unknown_ns;  /* that these lost */
    char *why;          /* it is not known, as the first that has words for it says; or NULL */
};

static void add_execution(const struct execution_facts *f, uint32_t t, struct rank_map *map,
                          struct map_notes *notes)
{
    const double span[] = {f->enter_ns[t], f->exit_ns[t]};
    double amount = notes->is_cost ? f->cost_ns[t] : f->lost_ns[t];

    if (f->lost_ns[t] <= 0 || f->location[t] >= map->rows)
        return;
    if (isnan(amount)) {
        notes->n_unknown++;
        notes->unknown_ns += f->lost_ns[t];
        return;
    }
    notes->n_bounds += notes->is_cost && f->cost_is_bound[t] && amount > 0;
    rank_map_spread(map, f->location[t], span, amount);
}

/* Why it is not known what they cost, as the first that has words for it says. */
static int note_why(struct worker *worker, const struct foi_list *list, int64_t foi,
                    struct map_notes *notes)
{
    const struct rundb_set set = {list->marks, list->table->n};
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(worker->db, &query, run_sql_why_cost_is_unknown, "i", foi);

    if (rc == 0 && list->marks)
        rc = rundb_bind_set(worker->db, query, 7, &set);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        notes->why = mem_copy_string(rundb_text(query, 0));
    sqlite3_finalize(query);
    return rc;
}

/* What the executions that pass lost, or cost the run. */
static int add_lost(struct worker *worker, const struct foi_list *list, int64_t foi,
                    struct rank_map *map, struct map_notes *notes)
{
    for (uint32_t t = 0; t < list->table->n; t++)
        if (foi_list_has(list, t))
            add_execution(list->table->facts, t, map, notes);
    return notes->n_unknown > 0 ? note_why(worker, list, foi, notes) : 0;
}

static int add_calls(struct worker *worker, const struct request *request, bool is_waiting,
                     const struct foi_filter *filter, struct rank_map *map)
{
    const struct served *served = worker->served;
    const struct definitions *defs = &served->run.defs;
    uint32_t n = defs->names.n;
    bool *is_wanted, *there;
    double region = 0;
    int rc = is_waiting ? 0 : request_number(request, "region", 0, n - 1.0, -1, &region);

    if (rc == 0 && region < 0)
        rc = err_set(ERR_USAGE, "of=region needs 'region'");
    if (rc < 0)
        return rc;
    is_wanted = mem_alloc(n, sizeof *is_wanted);
    for (uint32_t r = 0; r < n; r++)
        is_wanted[r] = is_waiting ? defs->region[r].kind == REGION_MPI : r == (uint32_t)region;
    there = mem_alloc(map->rows, sizeof *there);
    foi_filter_lanes(filter, defs, there);
    for (uint32_t l = 0; l < map->rows; l++)
        if (there[l])
            rank_map_add_calls(map, &served->scattered, served_levels(served), l, is_wanted, n);
    free(is_wanted);
    free(there);
    return 0;
}

static void answer(const struct rank_map *map, const struct map_notes *notes,
                   struct response *response)
{
    struct bundle bundle = {.n_columns = 0};
    size_t n = (size_t)map->rows * map->width;
    uint8_t *shade = mem_alloc(n, 1);
    double *total = mem_alloc(map->rows, sizeof *total);
    double highest = rank_map_shades(map, shade, total);

    bundle_add(&bundle, "shade", BUNDLE_U8, shade, n);
    bundle_add(&bundle, "total_ns", BUNDLE_F64, total, map->rows);
    bundle_say(&bundle, "width", json_count(map->width));
    bundle_say(&bundle, "begin_ns", json_count(map->begin_ns));
    bundle_say(&bundle, "end_ns", json_count(map->end_ns));
    bundle_say(&bundle, "highest_ns", json_real(highest));
    if (notes->is_cost) {
        bundle_say(&bundle, "n_bounds", json_count(notes->n_bounds));
        bundle_say(&bundle, "not_known",
                   json_pack("{s:I, s:f, s:o}", "executions", (json_int_t)notes->n_unknown,
                             "lost_ns", notes->unknown_ns, "why",
                             notes->why ? json_text(notes->why) : json_null()));
    }
    response_bundle(response, &bundle);
    free(shade);
    free(total);
}

/* What a map may be of. */
enum map_of { MAP_OF_LOST, MAP_OF_COST, MAP_OF_WAITING, MAP_OF_REGION, N_MAP_OF };

static int read_of(const struct request *request, enum map_of *of)
{
    static const char *const names[N_MAP_OF] = {"lost", "cost", "waiting", "region"};
    const char *said = request_text(request, "of", "lost");

    for (*of = 0; *of < N_MAP_OF; ++*of)
        if (strcmp(said, names[*of]) == 0)
            return 0;
    return err_set(ERR_USAGE, "'of' is lost, cost, waiting or region");
}

int api_map(struct worker *worker, const struct request *request, struct response *response)
{
    const struct served *served = worker->served;
    struct rank_map map = {.begin_ns = served->begin_ns,
                           .end_ns = served->end_ns > served->begin_ns ? served->end_ns
                                                                       : served->begin_ns + 1,
                           .rows = served->run.columns.n_locations};
    struct map_notes notes = {0};
    struct foi_filter filter;
    struct foi_state *state;
    enum map_of of = MAP_OF_LOST;
    double width = 0;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = request_number(request, "width", 1, MAX_WIDTH, TYPICAL_WIDTH, &width);
    if (rc == 0)
        rc = read_of(request, &of);
    if (rc == 0)
        rc = foi_filter_read(request, &served->run.defs, state->table->facts, true, &filter);
    if (rc < 0)
        return rc;
    if (filter.end_ns > 0) {
        map.begin_ns = (uint64_t)filter.begin_ns;
        map.end_ns = (uint64_t)filter.end_ns;
    }
    map.width = (uint32_t)width;
    notes.is_cost = of == MAP_OF_COST;
    rank_map_init(&map);
    rc = of == MAP_OF_LOST || of == MAP_OF_COST
             ? add_lost(worker, foi_filter_select(state, &served->run.defs, &filter),
                        state->foi, &map, &notes)
             : add_calls(worker, request, of == MAP_OF_WAITING, &filter, &map);
    if (rc == 0)
        answer(&map, &notes, response);
    rank_map_release(&map);
    free(notes.why);
    return rc;
}

/* ---------------------------------------------------------------- ranks against their peers */

#define WIDTH 128u      /* stretches of time */
#define MAX_CELLS 65536 /* places by stretches; more places get fewer */

/* The place of each location; null of one that is in none. */
static json_t *places_of(const struct peers *peers, uint32_t n_locations)
{
    json_t *array = json_array();

    for (uint32_t l = 0; l < n_locations; l++)
        json_array_append_new(array, peers->at[l] != PEERS_NONE ? json_count(peers->at[l])
                                                                : json_null());
    return array;
}

int api_ranks(struct worker *worker, const struct request *request, struct response *response)
{
    const struct run *run = &worker->served->run;
    struct subtrees *subtrees;
    struct peers peers;
    struct why why;
    struct peers_opts opts;
    json_t *json;
    int rc = peers_by(request_text(request, "by", NULL), &run->defs, &opts);

    if (rc == 0)
        rc = worker_subtrees(worker, request->id[0], &subtrees);
    if (rc < 0)
        return rc;
    scoring_why_init(&subtrees->work, &why);
    rc = peers_of_run(&subtrees->work, &run->columns, &opts, &peers);
    if (rc == 0) {
        json = ranks_to_json(&subtrees->work, &why, &peers,
                             peers.n <= MAX_CELLS / WIDTH ? WIDTH : MAX_CELLS / peers.n + 1);
        json_object_set_new(json, "of_location", places_of(&peers, run->defs.n_locations));
        response_json(response, json);
    }
    peers_release(&peers);
    why_release(&why);
    return rc;
}
