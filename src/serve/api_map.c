/* All locations over time: where time was lost, was waited, or went into a function. */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "serve/api.h"
#include "serve/rank_map.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WIDTH 1024
#define USUAL_WIDTH 256

/* What the executions of a function of interest lost, from their rows. */
static int add_lost(struct worker *worker, int64_t foi, struct rank_map *map)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(worker->db, run_sql_lost, &query);

    if (rc == 0)
        rc = rundb_bind(worker->db, query, "i", foi);
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        int64_t location = sqlite3_column_int64(query, 0);
        double begin = sqlite3_column_double(query, 1);
        const double span[] = {begin, begin + sqlite3_column_double(query, 2)};

        if (location >= 0 && location < map->rows)
            rank_map_spread(map, (uint32_t)location, span, sqlite3_column_double(query, 3));
    }
    sqlite3_finalize(query);
    return rc;
}

static int add_calls(struct worker *worker, const struct request *request, bool is_waiting,
                     struct rank_map *map)
{
    const struct served *served = worker->served;
    const struct definitions *defs = &served->run.defs;
    uint32_t n = defs->names.n;
    bool *is_wanted;
    double region = 0;
    int rc = is_waiting ? 0 : request_number(request, "region", 0, n - 1.0, -1, &region);

    if (rc == 0 && region < 0)
        rc = err_set(ERR_USAGE, "of=region needs 'region'");
    if (rc < 0)
        return rc;
    is_wanted = mem_alloc(n, sizeof *is_wanted);
    for (uint32_t r = 0; r < n; r++)
        is_wanted[r] = is_waiting ? defs->region[r].kind == REGION_MPI : r == (uint32_t)region;
    for (uint32_t l = 0; l < map->rows; l++)
        rank_map_add_calls(map, &served->scattered, served_levels(served), l, is_wanted, n);
    free(is_wanted);
    return 0;
}

static void answer(const struct rank_map *map, struct response *response)
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
    response_bundle(response, &bundle);
    free(shade);
    free(total);
}

int api_map(struct worker *worker, const struct request *request, struct response *response)
{
    const struct served *served = worker->served;
    const char *of = request_text(request, "of", "lost");
    struct rank_map map = {.begin_ns = served->begin_ns,
                           .end_ns = served->end_ns > served->begin_ns ? served->end_ns
                                                                       : served->begin_ns + 1,
                           .rows = served->run.columns.n_locations};
    struct foi_state *state;
    double width = 0;
    int rc = worker_foi(worker, request->id[0], &state);

    if (rc == 0)
        rc = request_number(request, "width", 1, MOST_WIDTH, USUAL_WIDTH, &width);
    if (rc == 0 && strcmp(of, "lost") != 0 && strcmp(of, "waiting") != 0 &&
        strcmp(of, "region") != 0)
        rc = err_set(ERR_USAGE, "'of' is lost, waiting or region");
    if (rc < 0)
        return rc;
    map.width = (uint32_t)width;
    rank_map_init(&map);
    rc = strcmp(of, "lost") == 0 ? add_lost(worker, state->foi, &map)
                                 : add_calls(worker, request, *of == 'w', &map);
    if (rc == 0)
        answer(&map, response);
    rank_map_release(&map);
    return rc;
}
