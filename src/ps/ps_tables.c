/*
 * A server that runs is asked once for all that it has published; from then on it is as if its
 * snapshot had been read.
 */
#include "ps/ps_tables.h"

#include "base/err.h"
#include "base/mem.h"
#include "ps/libzmq.h"
#include "ps/ps_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------- asking */

bool ps_ask_is_address(const char *text)
{
    return strncmp(text, "tcp://", 6) == 0 || strncmp(text, "ipc://", 6) == 0;
}

static void take_function(struct ps_snapshot *s, uint32_t i, const struct ps_entry *e,
                          uint64_t *bins)
{
    size_t n = e->program.n + 1 + e->name.n;
    char *text = mem_alloc(n + 1, 1);

    snprintf(text, n + 1, "%.*s\n%.*s", (int)e->program.n, (const char *)e->program.data,
             (int)e->name.n, (const char *)e->name.data);
    s->function[i] = text;
    if (e->has_sketch) {
        struct sketch sketch = ps_sketch_view(&e->sketch, bins);

        ps_state_add(&s->state, i, &sketch);
    }
}

static void take_state(struct ps_snapshot *s, const struct ps_frame *frame)
{
    const struct ps_push *p = &frame->push;
    uint64_t *bins = mem_alloc(SKETCH_MAX_BINS, sizeof *bins);
    char key[PS_KEY_SIZE];

    s->version = p->have;
    s->round = p->round;
    s->function = mem_alloc(p->n_entries, sizeof *s->function);
    for (; s->n_functions < p->n_entries; s->n_functions++)
        take_function(s, s->n_functions, &p->entry[s->n_functions], bins);
    for (uint32_t i = 0; i < p->n_stats; i++) {
        ps_state_key(&p->stat[i], key);
        ps_state_count(&s->state, key, &p->stat[i].stat);
    }
    free(bins);
}

static int take_answer(struct ps_snapshot *s, const void *data, size_t bytes,
                       uint32_t *n_clients)
{
    struct ps_frame frame = {0};
    int rc = ps_frame_read(&frame, data, bytes);

    if (rc == 0 && frame.kind == PS_STATE) {
        *n_clients = (uint32_t)frame.push.client;
        take_state(s, &frame);
    } else if (rc == 0 && frame.kind == PS_REFUSAL && frame.refusal.code == PS_LARGE) {
        rc = err_set(ERR_RANGE, "it knows more than can be asked for at once; its snapshot has "
                                "it all");
    } else if (rc == 0) {
        rc = err_set(ERR_UNSUPPORTED, "it is a server of another version of snag");
    }
    ps_frame_release(&frame);
    return rc;
}

static int receive(struct ps_socket *s, int timeout_ms, struct ps_snapshot *out,
                   uint32_t *n_clients)
{
    zmq_pollitem_t item = {.socket = s->socket, .events = ZMQ_POLLIN};
    zmq_msg_t message;
    int rc = 0;

    if (zmq_poll(&item, 1, timeout_ms) != 1)
        return err_set(ERR_IO, "nobody answers within %g s", timeout_ms / 1000.0);
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, s->socket, 0) < 0)
        rc = err_set(ERR_IO, "%s", zmq_strerror(errno));
    if (rc == 0)
        rc = take_answer(out, zmq_msg_data(&message), zmq_msg_size(&message), n_clients);
    zmq_msg_close(&message);
    return rc;
}

int ps_ask(const char *address, const char *key_file, int timeout_ms, struct ps_snapshot *out,
           uint32_t *n_clients)
{
    struct ps_socket socket = {0};
    struct pack question = {0};
    int rc = ps_socket_connect(&socket, address, key_file);

    *out = (struct ps_snapshot){0};
    *n_clients = 0;
    ps_write_ask(&question);
    if (rc == 0 && zmq_send(socket.socket, question.data, question.n, 0) < 0)
        rc = err_set(ERR_IO, "%s", zmq_strerror(errno));
    if (rc == 0)
        rc = receive(&socket, timeout_ms, out, n_clients);
    if (rc < 0 && strstr(err_message(), address) == NULL)
        rc = err_set(rc, "cannot ask the server at '%s': %s", address, err_message());
    pack_release(&question);
    ps_socket_close(&socket);
    return rc;
}

int ps_ask_any(const char *source, const char *key_file, struct ps_snapshot *out,
               uint32_t *n_clients)
{
    int rc;

    if (ps_ask_is_address(source))
        return ps_ask(source, key_file, PS_ASK_MS, out, n_clients);
    rc = ps_snapshot_read(out, source);
    *n_clients = out->n_clients;
    return rc;
}

/* ----------------------------------------------------------------------------------- tables */

static const char tables[] =
    "CREATE TABLE server (version INTEGER, round INTEGER, clients INTEGER);"
    "CREATE TABLE functions (fid INTEGER PRIMARY KEY, program TEXT, name TEXT, calls INTEGER, "
    "min_ns INTEGER, max_ns INTEGER, mean_ns REAL, stddev_ns REAL, total_ns REAL, median_ns "
    "REAL, p90_ns REAL, p99_ns REAL);"
    "CREATE TABLE statistics (program TEXT, rank INTEGER, function TEXT, name TEXT, n INTEGER, "
    "min REAL, max REAL, sum REAL, mean REAL, stddev REAL);";

static void bind_text(sqlite3_stmt *s, int at, const char *text, size_t n)
{
    sqlite3_bind_text(s, at, text, (int)n, SQLITE_TRANSIENT);
}

/* As much as a column holds. */
static int64_t whole(uint64_t ns)
{
    return ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

static int finish_row(sqlite3_stmt *s)
{
    int status = sqlite3_step(s);

    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return status == SQLITE_DONE ? 0 : ERR_DATABASE;
}

static int add_function(sqlite3_stmt *s, uint32_t fid, const char *text,
                        const struct sketch *sketch)
{
    const char *end = strchr(text, '\n');

    sqlite3_bind_int64(s, 1, fid);
    bind_text(s, 2, text, (size_t)(end - text));
    bind_text(s, 3, end + 1, strlen(end + 1));
    sqlite3_bind_int64(s, 4, sketch ? (int64_t)sketch->n : 0);
    if (sketch && sketch->n > 0) {
        sqlite3_bind_int64(s, 5, whole(sketch->min));
        sqlite3_bind_int64(s, 6, whole(sketch->max));
        sqlite3_bind_double(s, 7, sketch_mean(sketch));
        sqlite3_bind_double(s, 8, sketch_deviation(sketch));
        sqlite3_bind_double(s, 9, (double)sketch->sums.sum);
        sqlite3_bind_double(s, 10, sketch_quantile(sketch, 0.5));
        sqlite3_bind_double(s, 11, sketch_quantile(sketch, 0.9));
        sqlite3_bind_double(s, 12, sketch_quantile(sketch, 0.99));
    }
    return finish_row(s);
}

static int add_statistic(sqlite3_stmt *s, const char *of, const struct ps_stat *x)
{
    double sum = x->is_real ? x->real.sum : (double)x->whole.sum;
    char text[PS_KEY_SIZE];
    struct ps_stat_key key;

    snprintf(text, sizeof text, "%s", of);
    key = ps_state_split(text);
    bind_text(s, 1, key.program, strlen(key.program));
    if (key.rank != PS_ALL_RANKS)
        sqlite3_bind_int64(s, 2, key.rank);
    if (*key.region)
        bind_text(s, 3, key.region, strlen(key.region));
    bind_text(s, 4, key.name, strlen(key.name));
    sqlite3_bind_int64(s, 5, (int64_t)x->n);
    sqlite3_bind_double(s, 6, x->is_real ? x->real.min : (double)x->whole.min);
    sqlite3_bind_double(s, 7, x->is_real ? x->real.max : (double)x->whole.max);
    sqlite3_bind_double(s, 8, sum);
    sqlite3_bind_double(s, 9, sum / (double)x->n);
    sqlite3_bind_double(s, 10, ps_stat_deviation(x));
    return finish_row(s);
}

static int fill(sqlite3 *db, const struct ps_snapshot *from, uint32_t n_clients)
{
    sqlite3_stmt *function = NULL, *statistic = NULL;
    char *server = sqlite3_mprintf("INSERT INTO server VALUES (%lld, %lld, %u)",
                                   (long long)from->version, (long long)from->round, n_clients);
    int rc =
        server && sqlite3_exec(db, tables, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_exec(db, server, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(
                    db, "INSERT INTO functions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
                    &function, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(
                    db, "INSERT INTO statistics VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
                    &statistic, NULL) == SQLITE_OK
            ? 0
            : ERR_DATABASE;

    for (uint32_t i = 0; rc == 0 && i < from->n_functions; i++)
        rc = add_function(function, i, from->function[i],
                          i < from->state.n ? &from->state.sketch[i] : NULL);
    for (uint32_t i = 0; rc == 0 && i < from->state.key.n; i++)
        rc = add_statistic(statistic, from->state.key.name[i], &from->state.stat[i]);
    sqlite3_finalize(function);
    sqlite3_finalize(statistic);
    sqlite3_free(server);
    return rc;
}

/*
 * A database in memory.
 *   db  out: sqlite3_close it; NULL on failure
 * Returns 0 or ERR_DATABASE. O(functions + statistics).
 */
static int ps_tables_open(const struct ps_snapshot *snapshot, uint32_t n_clients, sqlite3 **db)
{
    int rc = sqlite3_open(":memory:", db) == SQLITE_OK ? fill(*db, snapshot, n_clients)
                                                       : ERR_DATABASE;

    if (rc < 0) {
        rc = err_set(rc, "cannot make tables of what the server knows: %s",
                     *db ? sqlite3_errmsg(*db) : "no memory");
        sqlite3_close(*db);
        *db = NULL;
    }
    return rc;
}

int ps_tables_of(const char *source, const char *key_file, sqlite3 **db)
{
    struct ps_snapshot snapshot;
    uint32_t n_clients;
    int rc = ps_ask_any(source, key_file, &snapshot, &n_clients);

    *db = NULL;
    if (rc == 0)
        rc = ps_tables_open(&snapshot, n_clients, db);
    ps_snapshot_release(&snapshot);
    return rc;
}
