/*
 * Each message is counted where it was sent, and waited for where it was received; the other end
 * and the two calls are looked up.
 * Of a window with more records than may be looked at some blocks are taken, as the arrows of
 * the timeline are, and what they add up to is scaled to all.
 */
#include "serve/api_matrix.h"

#include "base/json.h"
#include "base/mem.h"
#include "ranks/late_senders.h"
#include "serve/api.h"
#include "serve/served.h"

#include <stdlib.h>

#define MAX_ROWS 512
#define TYPICAL_ROWS 200

#define NO_ROW UINT32_MAX

struct summing {
    struct message_matrix *matrix;
    const struct columns *columns;
    const bool *is_end; /* [n_locations of the run] or NULL */
    uint32_t *row;      /* [n_locations of the run] NO_ROW: not of the window */
    uint64_t n_looked_at;
    struct {
        uint32_t call;            /* NO_CALL: none */
        struct matrix_cell *cell; /* of the last of its senders */
        double wait_ns;
    } receiving; /* that follow each other on a location are of one call */
};

/* ----------------------------------------------------------------------------------- rows */

/* Locations are in the order of their ranks. */
static void number_rows(struct summing *s, const struct definitions *defs,
                        const struct arrows_window *window, uint32_t most_rows)
{
    struct message_matrix *m = s->matrix;
    uint32_t n = s->columns->n_locations;

    s->row = mem_alloc(n, sizeof *s->row);
    m->rank = mem_alloc(window->n_locations, sizeof *m->rank);
    for (uint32_t l = 0; l < n; l++)
        s->row[l] = NO_ROW;
    for (uint32_t k = 0; k < window->n_locations; k++)
        s->row[window->location[k]] = 0;
    for (uint32_t l = 0; l < n; l++) {
        uint32_t rank = defs->location[l].rank;

        if (s->row[l] == NO_ROW)
            continue;
        if (m->n_ranks == 0 || m->rank[m->n_ranks - 1] != rank)
            m->rank[m->n_ranks++] = rank;
        s->row[l] = m->n_ranks - 1;
    }
    m->ranks_per_row = m->n_ranks / most_rows + (m->n_ranks % most_rows > 0);
    if (m->ranks_per_row == 0)
        m->ranks_per_row = 1;
    m->n_rows = m->n_ranks / m->ranks_per_row + (m->n_ranks % m->ranks_per_row > 0);
    for (uint32_t l = 0; l < n; l++)
        if (s->row[l] != NO_ROW)
            s->row[l] /= m->ranks_per_row;
    m->cell = mem_alloc((size_t)m->n_rows * m->n_rows, sizeof *m->cell);
}

/* ----------------------------------------------------------------------------------- sums */

static bool is_end(const struct summing *s, uint32_t location)
{
    return s->is_end == NULL || s->is_end[location];
}

static struct matrix_cell *cell_of(const struct summing *s, uint32_t from, uint32_t to)
{
    if (s->row[to] == NO_ROW || s->row[from] == NO_ROW || !(is_end(s, from) || is_end(s, to)))
        return NULL;
    return &s->matrix->cell[(size_t)s->row[from] * s->matrix->n_rows + s->row[to]];
}

static void add_sent(struct summing *s, uint32_t location, const struct message *sent)
{
    const struct columns *columns = s->columns;
    const struct message *received;
    struct matrix_cell *cell;
    double transfer;

    if (sent->match >= columns->n_messages) {
        s->matrix->unmatched += is_end(s, location);
        return;
    }
    received = &columns->message[sent->match];
    cell = cell_of(s, location, arrows_location_of(columns, sent->match));
    if (cell == NULL)
        return;
    transfer =
        received->end_ns > sent->begin_ns ? (double)(received->end_ns - sent->begin_ns) : 0;
    cell->messages++;
    cell->bytes += (double)sent->bytes;
    cell->transfer_ns += transfer;
    cell->longest_ns = transfer > cell->longest_ns ? transfer : cell->longest_ns;
}

static void end_receiving(struct summing *s)
{
    struct matrix_cell *cell = s->receiving.cell;
    double wait = s->receiving.wait_ns;

    if (cell) {
        cell->wait_ns += wait;
        cell->longest_wait_ns = wait > cell->longest_wait_ns ? wait : cell->longest_wait_ns;
    }
    s->receiving.cell = NULL;
    s->receiving.wait_ns = 0;
    s->receiving.call = NO_CALL;
}

/* A call that receives several waits once, for the last of their senders. */
static void add_received(struct summing *s, uint32_t location, const struct message *received)
{
    const struct columns *columns = s->columns;
    struct call_view calls, theirs;
    uint32_t from;
    double wait;

    if (received->match >= columns->n_messages)
        return;
    from = arrows_location_of(columns, received->match);
    calls = columns_view(columns, location);
    theirs = columns_view(columns, from);
    wait =
        (double)late_sender_ns(&calls, received, &theirs, &columns->message[received->match]);
    if (received->call != s->receiving.call)
        end_receiving(s);
    s->receiving.call = received->call;
    if (wait > s->receiving.wait_ns) {
        s->receiving.wait_ns = wait;
        s->receiving.cell = cell_of(s, from, location);
    }
}

static void scale(struct message_matrix *m, double factor)
{
    size_t n = (size_t)m->n_rows * m->n_rows;

    m->unmatched *= factor;
    for (size_t i = 0; i < n; i++) {
        m->cell[i].messages *= factor;
        m->cell[i].bytes *= factor;
        m->cell[i].transfer_ns *= factor;
        m->cell[i].wait_ns *= factor;
    }
}

void message_matrix_of(struct message_matrix *matrix, const struct columns *columns,
                       const struct levels *levels, const struct definitions *defs,
                       const struct arrows_window *window, const struct matrix_opts *opts)
{
    struct summing s = {.matrix = matrix,
                        .columns = columns,
                        .is_end = opts->is_end,
                        .receiving = {.call = NO_CALL}};
    uint64_t *end = mem_alloc(2 * (size_t)window->n_locations, sizeof *end), n = 0, step;
    uint64_t *begin = end + window->n_locations;

    number_rows(&s, defs, window, opts->most_rows);
    for (uint32_t k = 0; k < window->n_locations; k++) {
        begin[k] = arrows_from(columns, levels, window->location[k], window->begin_ns);
        end[k] = arrows_from(columns, levels, window->location[k], window->end_ns);
        n += end[k] > begin[k] ? end[k] - begin[k] : 0;
    }
    step = n > MATRIX_ALL ? n / MATRIX_ALL + 1 : 1;
    for (uint32_t k = 0; k < window->n_locations; k++) {
        uint64_t first = columns->range[window->location[k]].first_message;

        for (uint64_t at = begin[k]; at < end[k]; at += step * ARROWS_BLOCK) {
            uint64_t row = arrows_block(first, at, step);

            for (uint64_t i = row; i < row + ARROWS_BLOCK && i < end[k]; i++) {
                const struct message *m = &columns->message[first + i];

                s.n_looked_at++;
                (m->kind == MESSAGE_SEND ? add_sent : add_received)(&s, window->location[k], m);
            }
            if (step > 1)
                end_receiving(&s);
        }
        end_receiving(&s);
    }
    matrix->is_estimate = step > 1;
    if (step > 1 && s.n_looked_at > 0)
        scale(matrix, (double)n / (double)s.n_looked_at);
    free(s.row);
    free(end);
}

void message_matrix_release(struct message_matrix *matrix)
{
    free(matrix->rank);
    free(matrix->cell);
    *matrix = (struct message_matrix){0};
}

/* --------------------------------------------------------------------------------- answer */

/* The cells that have messages, as columns. */
static int answer(const struct message_matrix *m, struct response *response)
{
#define CELL(name) BUNDLE_FIELD(#name, BUNDLE_F64, struct matrix_cell, name)
    static const struct bundle_field field[] = {CELL(messages),    CELL(bytes),
                                                CELL(transfer_ns), CELL(longest_ns),
                                                CELL(wait_ns),     CELL(longest_wait_ns)};
    size_t all = (size_t)m->n_rows * m->n_rows, n = 0;
    struct matrix_cell *cell = mem_alloc(all, sizeof *cell);
    uint32_t *from = mem_alloc(2 * all, sizeof *from), *to = from + all;
    struct bundle bundle = {.n_columns = 0};
    int rc;

    for (size_t i = 0; i < all; i++)
        if (m->cell[i].messages > 0) {
            from[n] = (uint32_t)(i / m->n_rows);
            to[n] = (uint32_t)(i % m->n_rows);
            cell[n++] = m->cell[i];
        }
    bundle_add(&bundle, "rank", BUNDLE_U32, m->rank, m->n_ranks);
    bundle_add(&bundle, "from", BUNDLE_U32, from, n);
    bundle_add(&bundle, "to", BUNDLE_U32, to, n);
    bundle_gather(&bundle, field, sizeof field / sizeof *field, cell, n, sizeof *cell);
    bundle_say(&bundle, "rows", json_count(m->n_rows));
    bundle_say(&bundle, "ranks_per_row", json_count(m->ranks_per_row));
    bundle_say(&bundle, "unmatched", json_number(m->unmatched));
    bundle_say(&bundle, "is_estimate", json_boolean(m->is_estimate));
    rc = response_bundle(response, &bundle);
    free(cell);
    free(from);
    return rc;
}

/* Which locations one end has to be on; NULL, all. To be freed. */
static int read_ends(const struct request *request, uint32_t n_locations, bool **is_end)
{
    uint32_t *end, n = 0;
    int rc;

    *is_end = NULL;
    if (request_text(request, "ends", NULL) == NULL)
        return 0;
    end = mem_alloc(n_locations, sizeof *end);
    rc = request_list(request, "ends", n_locations, end, &n);
    *is_end = mem_alloc(n_locations, sizeof **is_end);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        (*is_end)[end[i]] = true;
    free(end);
    return rc;
}

int api_matrix(struct worker *worker, const struct request *request, struct response *response)
{
    const struct served *served = worker->served;
    struct message_matrix matrix = {0};
    struct window window;
    bool *is_end = NULL;
    double most = 0;
    int rc = window_read(&window, served, request);

    if (rc == 0)
        rc = request_number(request, "rows", 1, MAX_ROWS, TYPICAL_ROWS, &most);
    if (rc == 0)
        rc = read_ends(request, served->run.columns.n_locations, &is_end);
    if (rc == 0) {
        bool is_to_the_end = request_text(request, "end", NULL) == NULL;
        struct arrows_window look = {window.begin_ns, window.end_ns + is_to_the_end,
                                     window.location, window.n_locations};

        message_matrix_of(&matrix, &served->scattered, served_levels(served), &served->run.defs,
                          &look, &(struct matrix_opts){(uint32_t)most, is_end});
        rc = answer(&matrix, response);
    }
    message_matrix_release(&matrix);
    window_release(&window);
    free(is_end);
    return rc;
}
