/*
 * Reading: the index is checked against its own checksum and against the sizes of the files,
 * so that no view can point outside them; the columns' checksums are compared on demand only.
 *
 * Whether calls are a tree is checked by going through those of a location once, in preorder,
 * with what is known of the calls that are open:
 *
 *     row   depth  len         open calls, by depth
 *      0      0     5          main until row 5
 *      1      1     3               step until row 4
 *      2      2     1                    send until row 3
 *      3      2     1     <-- must follow on send, and end before step does
 *
 * A call goes one deeper while the call before it is open, else it follows on the one of its
 * depth, which ends right there. So all subtrees lie within each other and the callers that
 * depths say are the callers that lengths say.
 */
#include "run/columns.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/mem.h"
#include "run/columns_format.h"
#include "trace/monotone.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
    const char *name;
    size_t width;
} formats[N_COLUMNS] = {
    [COLUMN_ENTER] = {"enter_ns.u64", 8}, [COLUMN_INCLUSIVE] = {"inclusive_ns.u64", 8},
    [COLUMN_REGION] = {"region.u32", 4},  [COLUMN_SUBTREE] = {"subtree_len.u32", 4},
    [COLUMN_DEPTH] = {"depth.u16", 2},    [COLUMN_BY_DEPTH] = {"by_depth.u32", 4},
};

enum {
    MAP_DEPTHS = N_COLUMNS,
    MAP_MESSAGES,
    MAP_COLLECTIVES,
    MAP_SPANS,
    MAP_BARRIERS,
    MAP_DEPENDENCIES,
    MAP_ESTIMATES,
    MAP_INDEX,
    N_MAPS
};

const char *columns_name(enum call_column column)
{
    return formats[column].name;
}

size_t columns_width(enum call_column column)
{
    return formats[column].width;
}

uint64_t index_checksum(const struct index_header *header, const struct column_range *range)
{
    struct index_header copy = *header;

    copy.checksum = 0;
    return checksum_seeded(range, header->n_locations * sizeof *range,
                           checksum_of(&copy, sizeof copy));
}

static const char *file_name(int map)
{
    static const char *const others[] = {"depth_start.u64", "messages.rec", "collectives.rec",
                                         "teams.rec",       "barriers.u32", "dependencies.rec",
                                         "estimates.rec",   "index"};

    return map < N_COLUMNS ? formats[map].name : others[map - N_COLUMNS];
}

static int map_file(struct columns *columns, int map)
{
    char path[FS_PATH_SIZE];
    int rc = fs_join(path, columns->path, file_name(map));

    return rc < 0 ? rc
                  : fs_map_at(columns->dir, file_name(map), path, &columns->map[map].data,
                              &columns->map[map].bytes);
}

/* Another version may have other files. */
static int check_version(const struct columns *columns, const char *dir)
{
    const struct index_header *header = columns->map[MAP_INDEX].data;

    if (columns->map[MAP_INDEX].bytes < offsetof(struct index_header, n_locations) ||
        header->magic != INDEX_MAGIC)
        return err_set(ERR_FORMAT, "not a run: '%s/calls/index' is not an index of calls", dir);
    if (header->version != INDEX_VERSION)
        return err_set(ERR_FORMAT,
                       "'%s' was written by another version of snag (calls format %" PRIu32
                       ", this one reads %u): analyze its trace again, into another run",
                       dir, header->version, INDEX_VERSION);
    return 0;
}

static int map_all(struct columns *columns, int run, const char *dir)
{
    int rc = fs_join(columns->path, dir, "calls");

    if (rc == 0)
        rc = fs_open_dir_at(run, "calls", columns->path, &columns->dir);
    if (rc == 0)
        rc = map_file(columns, MAP_INDEX);
    if (rc == 0)
        rc = check_version(columns, dir);
    for (int m = 0; rc == 0 && m < MAP_INDEX; m++)
        rc = map_file(columns, m);
    return rc;
}

/* Whether a location's part begins where the one before ended, and ends within the whole; *end
 * is where it ends then. */
static bool follows(uint64_t *end, uint64_t first, uint64_t n, uint64_t all)
{
    bool is_good = first == *end && n <= all - first;

    *end = first + n;
    return is_good;
}

static bool ranges_fit(const struct index_header *header, const struct column_range *range)
{
    uint64_t call = 0, depth = 0, message = 0, collective = 0, span = 0, barrier = 0;
    uint64_t estimate = 0;

    for (uint32_t l = 0; l < header->n_locations; l++) {
        const struct column_range *r = &range[l];

        if (r->n_calls > UINT32_MAX || r->n_depths > UINT16_MAX + 1u ||
            r->n_open > r->n_depths ||
            !follows(&call, r->first_call, r->n_calls, header->n_calls) ||
            !follows(&depth, r->first_depth, r->n_depths + 1, header->n_depth_starts) ||
            !follows(&message, r->first_message, r->n_messages, header->n_messages) ||
            !follows(&collective, r->first_collective, r->n_collectives,
                     header->n_collectives) ||
            !follows(&span, r->first_span, r->n_spans, header->n_spans) ||
            !follows(&barrier, r->first_barrier, r->n_barriers, header->n_barriers) ||
            !follows(&estimate, r->first_estimate, r->n_estimates, header->n_estimates))
            return false;
    }
    return call == header->n_calls && depth == header->n_depth_starts &&
           message == header->n_messages && collective == header->n_collectives &&
           span == header->n_spans && barrier == header->n_barriers &&
           estimate == header->n_estimates;
}

static bool files_fit(const struct columns *columns, const struct index_header *header)
{
    for (int c = 0; c < N_COLUMNS; c++)
        if (columns->map[c].bytes != header->n_calls * formats[c].width)
            return false;
    return columns->map[MAP_DEPTHS].bytes == header->n_depth_starts * sizeof(uint64_t) &&
           columns->map[MAP_MESSAGES].bytes == header->n_messages * sizeof(struct message) &&
           columns->map[MAP_COLLECTIVES].bytes ==
               header->n_collectives * sizeof(struct collective) &&
           columns->map[MAP_SPANS].bytes == header->n_spans * sizeof(struct team_span) &&
           columns->map[MAP_BARRIERS].bytes == header->n_barriers * sizeof(uint32_t) &&
           columns->map[MAP_DEPENDENCIES].bytes ==
               header->n_dependencies * sizeof(struct dependency) &&
           columns->map[MAP_ESTIMATES].bytes ==
               header->n_estimates * sizeof(struct call_estimate);
}

static int check_index(const struct columns *columns, const char *dir)
{
    const struct index_header *header = columns->map[MAP_INDEX].data;
    size_t bytes = columns->map[MAP_INDEX].bytes;
    const struct column_range *range;

    range = (const void *)(header + 1);
    if (bytes < sizeof *header ||
        bytes != sizeof *header + header->n_locations * sizeof *range ||
        index_checksum(header, range) != header->checksum || !ranges_fit(header, range))
        return err_set(ERR_FORMAT, "damaged run: '%s/calls/index' does not fit its checksum",
                       dir);
    if (!files_fit(columns, header))
        return err_set(ERR_FORMAT, "damaged run: files in '%s/calls' are missing rows", dir);
    return 0;
}

int columns_open(struct columns *columns, const char *dir)
{
    int run, rc;

    *columns = (struct columns){.dir = -1};
    rc = fs_open_dir(dir, &run);
    if (rc == 0) {
        rc = columns_open_at(columns, run, dir);
        close(run);
    }
    return rc;
}

int columns_open_at(struct columns *columns, int run, const char *dir)
{
    const struct index_header *header;
    int rc;

    *columns = (struct columns){.dir = -1};
    rc = map_all(columns, run, dir);
    if (rc == 0)
        rc = check_index(columns, dir);
    if (rc < 0)
        return rc;
    header = columns->map[MAP_INDEX].data;
    columns->n_locations = header->n_locations;
    columns->n_calls = header->n_calls;
    columns->n_messages = header->n_messages;
    columns->n_collectives = header->n_collectives;
    columns->n_spans = header->n_spans;
    columns->n_barriers = header->n_barriers;
    columns->n_dependencies = header->n_dependencies;
    columns->n_estimates = header->n_estimates;
    columns->range = (const void *)(header + 1);
    for (uint32_t l = 0; l < header->n_locations; l++)
        if (columns->range[l].last_ns > columns->end_ns)
            columns->end_ns = columns->range[l].last_ns;
    for (int c = 0; c < N_COLUMNS; c++)
        columns->column[c] = columns->map[c].data;
    columns->depth_start = columns->map[MAP_DEPTHS].data;
    columns->message = columns->map[MAP_MESSAGES].data;
    columns->collective = columns->map[MAP_COLLECTIVES].data;
    columns->span = columns->map[MAP_SPANS].data;
    columns->barrier = columns->map[MAP_BARRIERS].data;
    columns->dependency = columns->map[MAP_DEPENDENCIES].data;
    columns->estimate = columns->map[MAP_ESTIMATES].data;
    columns->is_checked = mem_alloc(columns->n_locations, sizeof *columns->is_checked);
    return detail_files_open(&columns->details, columns->dir, columns->path,
                             columns->n_locations, header->checksum);
}

void columns_close(struct columns *columns)
{
    for (int m = 0; m < N_MAPS; m++)
        fs_unmap(columns->map[m].data, columns->map[m].bytes);
    if (columns->dir > 0)
        close(columns->dir);
    detail_files_close(&columns->details);
    free(columns->is_checked);
    *columns = (struct columns){.dir = -1};
}

struct call_view columns_view(const struct columns *columns, uint32_t location)
{
    const struct column_range *r = &columns->range[location];
    uint64_t at = r->first_call;

    return (struct call_view){
        .n = (uint32_t)r->n_calls,
        .enter_ns = (const uint64_t *)columns->column[COLUMN_ENTER] + at,
        .inclusive_ns = (const uint64_t *)columns->column[COLUMN_INCLUSIVE] + at,
        .region = (const uint32_t *)columns->column[COLUMN_REGION] + at,
        .subtree_len = (const uint32_t *)columns->column[COLUMN_SUBTREE] + at,
        .depth = (const uint16_t *)columns->column[COLUMN_DEPTH] + at,
        .by_depth = (const uint32_t *)columns->column[COLUMN_BY_DEPTH] + at,
        .depth_start = columns->depth_start + r->first_depth,
        .n_depths = (uint32_t)r->n_depths,
        .message = r->n_messages > 0 ? columns->message + r->first_message : NULL,
        .n_messages = r->n_messages,
        .collective = r->n_collectives > 0 ? columns->collective + r->first_collective : NULL,
        .n_collectives = r->n_collectives,
        .span = r->n_spans > 0 ? columns->span + r->first_span : NULL,
        .n_spans = r->n_spans,
        .barrier = r->n_barriers > 0 ? columns->barrier + r->first_barrier : NULL,
        .n_barriers = r->n_barriers,
        .estimate = r->n_estimates > 0 ? columns->estimate + r->first_estimate : NULL,
        .n_estimates = r->n_estimates,
        .details = detail_files_view(&columns->details, location),
        .n_open = (uint32_t)r->n_open,
        .after_ns = columns->end_ns > r->last_ns ? columns->end_ns - r->last_ns : 0,
    };
}

void columns_scatter(const struct columns *columns)
{
    for (int m = 0; m < MAP_INDEX; m++)
        fs_advise(columns->map[m].data, columns->map[m].bytes, MADV_RANDOM);
    detail_files_advise(&columns->details, MADV_RANDOM);
}

void columns_drop(const struct columns *columns)
{
    size_t bytes = detail_files_bytes(&columns->details);

    for (int m = 0; m < MAP_INDEX; m++)
        bytes += columns->map[m].bytes;
    if (bytes <= COLUMNS_KEPT_BYTES)
        return;
    for (int m = 0; m < MAP_INDEX; m++)
        fs_advise(columns->map[m].data, columns->map[m].bytes, MADV_DONTNEED);
    detail_files_advise(&columns->details, MADV_DONTNEED);
}

void columns_share(const struct columns *columns, struct paged *paged)
{
    for (int m = 0; m < MAP_INDEX; m++)
        paged_share(paged, columns->map[m].data, columns->map[m].bytes);
}

void columns_unshare(const struct columns *columns, struct paged *paged)
{
    for (int m = 0; m < MAP_INDEX; m++)
        paged_unshare(paged, columns->map[m].data);
}

int columns_verify_location(const struct columns *columns, uint32_t location)
{
    const struct column_range *r = &columns->range[location];

    for (int c = 0; c < N_COLUMNS; c++) {
        size_t width = formats[c].width;
        const char *from = (const char *)columns->column[c] + r->first_call * width;

        if (checksum_of(from, r->n_calls * width) != r->checksum[c])
            return err_set(ERR_FORMAT, "damaged run: 'calls/%s' does not fit its checksum",
                           formats[c].name);
    }
    if (checksum_of(columns->estimate + r->first_estimate,
                    r->n_estimates * sizeof *columns->estimate) != r->estimate_sum)
        return err_set(ERR_FORMAT, "damaged run: 'calls/%s' does not fit its checksum",
                       file_name(MAP_ESTIMATES));
    return detail_files_verify(&columns->details, location);
}

int columns_verify_others(const struct columns *columns)
{
    const struct index_header *header = columns->map[MAP_INDEX].data;
    const uint64_t others[] = {header->depth_start_sum, header->message_sum,
                               header->collective_sum,  header->span_sum,
                               header->barrier_sum,     header->dependency_sum};

    for (int m = MAP_DEPTHS; m < MAP_ESTIMATES; m++)
        if (checksum_of(columns->map[m].data, columns->map[m].bytes) != others[m - MAP_DEPTHS])
            return err_set(ERR_FORMAT, "damaged run: 'calls/%s' does not fit its checksum",
                           file_name(m));
    return 0;
}

int columns_verify(const struct columns *columns)
{
    int rc = 0;

    for (uint32_t l = 0; rc == 0 && l < columns->n_locations; l++)
        rc = columns_verify_location(columns, l);
    return rc < 0 ? rc : columns_verify_others(columns);
}

/* -------------------------------------------------------------------------- what is in them */

/* A call that is open, at its depth. */
struct ancestor {
    uint32_t end;     /* row after its last */
    uint64_t left_ns; /* of its time, when that of the calls in it so far is taken out */
};

struct columns_walk {
    struct call_view v;
    uint32_t n_regions, base; /* depth of the roots */
    struct ancestor *open;    /* [v.n_depths] */
    uint64_t *next;           /* [v.n_depths] in by_depth; NULL: the order is not looked at */
};

/* Whether row i, at depth d below the roots, is where it can be; `now` is that of the row
 * before.
 */
static inline bool is_in_place(const struct columns_walk *w, uint32_t i, uint32_t d,
                               uint32_t now)
{
    if (i < w->open[now].end)
        return d == now + 1;
    return d <= now && w->open[d].end == i;
}

static inline bool is_call_good(struct columns_walk *w, uint32_t i, uint32_t d, uint32_t end)
{
    const struct call_view *v = &w->v;
    uint64_t inclusive = v->inclusive_ns[i];
    uint32_t len = v->subtree_len[i];

    if (v->region[i] >= w->n_regions || len == 0 || len > end - i ||
        v->enter_ns[i] > TIME_MAX_SPAN_NS || inclusive > TIME_MAX_SPAN_NS)
        return false;
    if (d > 0) {
        if (len > w->open[d - 1].end - i || inclusive > w->open[d - 1].left_ns)
            return false;
        w->open[d - 1].left_ns -= inclusive;
    }
    w->open[d] = (struct ancestor){.end = i + len, .left_ns = inclusive};
    return true;
}

/* Rows begin .. end - 1, which are the subtrees of calls at depth w->base. */
static bool are_rows_good(struct columns_walk *w, uint32_t begin, uint32_t end)
{
    const struct call_view *v = &w->v;
    uint32_t now = 0;

    if (begin == end)
        return true;
    if (v->n_depths <= w->base)
        return false;
    w->open[0].end = begin;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t depth = v->depth[i], d = depth - w->base;

        if (depth < w->base || depth >= v->n_depths || !is_in_place(w, i, d, now) ||
            !is_call_good(w, i, d, end) || (i > begin && v->enter_ns[i] < v->enter_ns[i - 1]))
            return false;
        if (w->next &&
            (w->next[depth] >= v->depth_start[depth + 1] || v->by_depth[w->next[depth]++] != i))
            return false;
        now = d;
    }
    return true;
}

/* Where each depth begins; they must fill the location. */
static bool take_depths(struct columns_walk *w)
{
    const struct call_view *v = &w->v;

    if (v->depth_start[0] != 0 || v->depth_start[v->n_depths] != v->n)
        return false;
    for (uint32_t d = 0; d < v->n_depths; d++) {
        if (v->depth_start[d] > v->depth_start[d + 1])
            return false;
        w->next[d] = v->depth_start[d];
    }
    return true;
}

static bool are_calls_good(const struct call_view *v, uint32_t n_regions)
{
    struct columns_walk w = {.v = *v, .n_regions = n_regions};
    bool is_good;

    w.open = mem_alloc(v->n_depths, sizeof *w.open);
    w.next = mem_alloc(v->n_depths, sizeof *w.next);
    is_good = take_depths(&w) && are_rows_good(&w, 0, v->n);
    free(w.open);
    free(w.next);
    return is_good;
}

static bool is_message_good(const struct message *m, const struct call_view *v,
                            const struct columns *columns, const struct definitions *defs)
{
    return m->kind <= MESSAGE_RECV && (m->call < v->n || m->call == NO_CALL) &&
           (m->match < columns->n_messages || m->match == MESSAGE_UNMATCHED) &&
           m->comm < defs->n_comms && m->begin_ns <= TIME_MAX_SPAN_NS &&
           m->end_ns <= TIME_MAX_SPAN_NS;
}

static bool is_collective_good(const struct collective *c, const struct call_view *v,
                               const struct definitions *defs)
{
    return c->kind <= COLLECTIVE_OTHER && (c->call < v->n || c->call == NO_CALL) &&
           c->comm < defs->n_comms && c->begin_ns <= TIME_MAX_SPAN_NS &&
           c->end_ns <= TIME_MAX_SPAN_NS;
}

static bool is_span_good(const struct team_span *s, const struct call_view *v,
                         const struct columns *columns, const struct definitions *defs)
{
    return s->kind < N_SPAN_KINDS && (s->call < v->n || s->call == NO_CALL) &&
           (s->team < columns->n_spans || s->team == NO_TEAM) &&
           (s->comm < defs->n_comms || s->comm == NO_TEAM_COMM) && s->begin_ns <= s->end_ns &&
           s->end_ns <= TIME_MAX_SPAN_NS && s->first_row <= v->n &&
           s->n_rows <= v->n - s->first_row && s->first_barrier <= v->n_barriers &&
           s->n_barriers <= v->n_barriers - s->first_barrier;
}

static bool are_teams_good(const struct call_view *v, const struct columns *columns,
                           const struct definitions *defs)
{
    uint32_t n_barriers = 0;

    for (size_t i = 0; i < v->n_spans; n_barriers += v->span[i++].n_barriers)
        if (!is_span_good(&v->span[i], v, columns, defs) ||
            v->span[i].first_barrier != n_barriers ||
            (i > 0 && v->span[i].first_row < v->span[i - 1].first_row))
            return false;
    for (size_t i = 0; i < v->n_barriers; i++)
        if (v->barrier[i] >= v->n)
            return false;
    return true;
}

/* Ascending, of calls that there are. */
static bool are_estimates_good(const struct call_view *v)
{
    for (size_t i = 0; i < v->n_estimates; i++) {
        const struct call_estimate *e = &v->estimate[i];

        if (e->call >= v->n || e->is_leave > 1 || e->placed > PLACED_OTHERS ||
            (i > 0 && e->call < v->estimate[i - 1].call))
            return false;
    }
    return true;
}

static const char *first_wrong(const struct columns *columns, uint32_t location,
                               const struct definitions *defs)
{
    struct call_view v = columns_view(columns, location);

    if (!are_calls_good(&v, defs->names.n))
        return "calls make no tree";
    for (size_t i = 0; i < v.n_messages; i++)
        if (!is_message_good(&v.message[i], &v, columns, defs))
            return "messages belong to nothing";
    for (size_t i = 0; i < v.n_collectives; i++)
        if (!is_collective_good(&v.collective[i], &v, defs))
            return "collectives belong to nothing";
    if (!are_teams_good(&v, columns, defs))
        return "teams of threads belong to nothing";
    if (!are_estimates_good(&v))
        return "estimates belong to nothing";
    if (!detail_files_check(&columns->details, location, v.n))
        return "counters and arguments belong to nothing";
    return NULL;
}

int columns_check(const struct columns *columns, uint32_t location,
                  const struct definitions *defs)
{
    const char *wrong;

    if (atomic_load(&columns->is_checked[location]))
        return 0;
    wrong = first_wrong(columns, location, defs);
    if (wrong)
        return err_set(ERR_FORMAT, "damaged run: in '%s' the %s (location %u)", columns->path,
                       wrong, location);
    atomic_store(&columns->is_checked[location], 1);
    return 0;
}

struct checking {
    struct columns *columns;
    const struct definitions *defs;
};

static void check_some(void *ctx, size_t begin, size_t end, unsigned index)
{
    const struct checking *c = ctx;

    (void)index;
    for (size_t l = begin; l < end; l++)
        columns_check(c->columns, (uint32_t)l, c->defs);
}

int columns_check_all(struct columns *columns, const struct definitions *defs,
                      struct pool *pool)
{
    struct checking c = {columns, defs};
    int rc = 0;

    pool_for(pool, columns->n_locations, 1, check_some, &c);
    for (uint32_t l = 0; l < columns->n_locations && rc == 0; l++)
        rc = columns_check(columns, l, defs); /* known already, but for a message */
    return rc;
}

int columns_check_tree(const struct columns *columns, uint32_t location, uint32_t row,
                       const struct definitions *defs)
{
    struct columns_walk w = {.v = columns_view(columns, location), .n_regions = defs->names.n};
    bool is_good =
        row < w.v.n && w.v.subtree_len[row] > 0 && w.v.subtree_len[row] <= w.v.n - row;

    if (is_good) {
        w.base = w.v.depth[row];
        w.open = mem_alloc(w.v.n_depths, sizeof *w.open);
        is_good = are_rows_good(&w, row, row + w.v.subtree_len[row]) &&
                  w.open[0].end == row + w.v.subtree_len[row];
        free(w.open);
    }
    if (!is_good)
        return err_set(ERR_FORMAT, "damaged run: in '%s' calls make no tree (location %u)",
                       columns->path, location);
    return 0;
}
