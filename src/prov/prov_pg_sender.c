#include "prov/prov_pg_sender.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/thread.h"
#include "prov/prov_pg_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 8192               /* of a transaction */
#define MAX_BYTES ((size_t)8 << 20) /* that are read from the spool before some are sent */
#define LAST_TRIES 10               /* about 4 seconds */

/* A row that was read from a spool. */
struct spooled_row {
    uint64_t id;
    size_t at, bytes; /* in the rows of its delivery */
};

/* A spool on its way. */
struct delivery {
    struct prov_spool *spool;
    struct prov_tally *tally; /* NULL: of another run */
    struct prov_frame frame;
    struct pack rows;
    struct spooled_row *row; /* [n] of these, the first `sent` are done with */
    size_t n, sent, cap;
    uint64_t stored; /* up to which row the database has it, when that is known */
    bool is_known;
    size_t most;               /* rows to try at once */
    uint64_t n_stored, n_done; /* rows: in the database; and those that are lost, too */
    uint64_t next;             /* row that should come; 0: it is not known */
    uint64_t used; /* bytes that its records take in the database, where there is a limit */
};

struct prov_pg_sender {
    pthread_t thread;
    bool has_thread;
    char *url;
    struct prov_spool_opts spools;
    uint64_t limit_bytes; /* see prov_pg_sender_opts */
    PGconn *connection;
    struct idmap known; /* functions that are in the database */
    struct prov_pg_batch batch;
    struct delivery own, left; /* of this run; of one before, if it has a spool */
    int64_t left_run;          /* looked at last */
    bool has_looked;           /* at all that was left */
    struct queue bell;         /* has an item when there may be work */
    atomic_int trouble;        /* enum pg_trouble */
};

/* ------------------------------------------------------------------------------- delivery */

static void account(struct delivery *d, const struct spooled_row *row, bool is_stored)
{
    d->n_stored += is_stored;
    d->n_done++;
    if (d->tally) {
        prov_tally_add(d->tally, d->rows.data[row->at + 1], is_stored);
        atomic_fetch_add(&d->tally->bytes, is_stored ? row->bytes : 0);
    }
}

/* Rows whose frame was damaged are missing before this one. */
static void note_gap(struct delivery *d)
{
    uint64_t n = d->next > 0 && d->frame.first > d->next ? d->frame.first - d->next : 0;

    d->next = d->frame.first + d->frame.n;
    if (n == 0)
        return;
    d->n_done += n;
    log_warn("prov", "%" PRIu64 " rows in the spool of run %" PRId64 " are damaged, and lost",
             n, prov_spool_run(d->spool));
    if (d->tally) {
        atomic_fetch_add(&d->tally->n_dropped, n);
        atomic_fetch_add(&d->tally->n_done, n);
    }
}

/* Rows of the frame, with their numbers. */
static void take_frame(struct delivery *d)
{
    struct pack *payload = &d->frame.payload;
    size_t base = d->rows.n;

    note_gap(d);
    pack_bytes(&d->rows, payload->data, payload->n);
    for (uint32_t i = 0; i < d->frame.n; i++) {
        size_t at = payload->at;
        struct prov_pg_row row;

        if (!prov_pg_unpack(payload, &row))
            break;
        *mem_push(&d->row, &d->n, &d->cap) =
            (struct spooled_row){d->frame.first + i, base + at, payload->at - at};
    }
}

/* Some rows, when there are none that wait to be sent. Returns 0 or ERR_IO. */
static int read_some(struct delivery *d)
{
    int rc = 1;

    if (d->sent < d->n)
        return 0;
    d->n = d->sent = d->rows.n = 0;
    while (d->rows.n < MAX_BYTES && d->n < MAX_ROWS &&
           (rc = prov_spool_read(d->spool, &d->frame)) == 1)
        take_frame(d);
    return rc < 0 ? rc : 0;
}

/* The next n rows, or, when has_rows is false, only that they are done with. */
static int store(struct prov_pg_sender *s, struct delivery *d, size_t n, bool has_rows,
                 enum pg_trouble *why)
{
    const struct spooled_row *row = &d->row[d->sent];
    uint64_t last = row[n - 1].id;
    int rc;

    prov_pg_batch_clear(&s->batch);
    for (size_t i = 0; has_rows && i < n; i++) {
        struct pack at = {.data = d->rows.data + row[i].at, .n = row[i].bytes};
        struct prov_pg_row r;

        if (prov_pg_unpack(&at, &r))
            prov_pg_batch_add(&s->batch, &r, &s->known);
        d->used += r.table == PROV_TABLE_RECORD ? r.tuple_bytes + PROV_PG_BESIDES_BYTES : 0;
    }
    rc =
        prov_pg_store(s->connection, &s->batch, prov_spool_run(d->spool), d->stored, last, why);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < s->batch.n_added; i++)
        idmap_add(&s->known, key_pair(0, s->batch.added[i]));
    d->stored = last;
    return 0;
}

static void be_done(struct delivery *d, size_t n, bool has_rows)
{
    for (size_t i = 0; i < n; i++)
        account(d, &d->row[d->sent + i], has_rows);
    d->sent += n;
}

/* A part more goes than must: or each transaction would remove some. */
static int keep_within(struct prov_pg_sender *s, struct delivery *d, enum pg_trouble *why)
{
    uint64_t most = s->limit_bytes - s->limit_bytes / 8, n = 0;
    int rc =
        s->limit_bytes == 0 || d->used <= s->limit_bytes
            ? 0
            : prov_pg_thin(s->connection, prov_spool_run(d->spool), most, &n, &d->used, why);

    if (rc == 0 && d->tally)
        prov_tally_removed(d->tally, n);
    return rc;
}

/* After a row that is not taken: fewer at once; and that one is lost. */
static int halve(struct prov_pg_sender *s, struct delivery *d, size_t n, enum pg_trouble *why)
{
    int rc;

    if (n > 1) {
        d->most = n / 2;
        return 0;
    }
    log_warn("prov", "a row is lost: %s", err_message());
    rc = store(s, d, 1, false, why);
    if (rc == 0)
        be_done(d, 1, false);
    return rc;
}

/* Returns 1 when something was sent, 0 when there is nothing, or an error. */
static int send_some(struct prov_pg_sender *s, struct delivery *d, enum pg_trouble *why)
{
    int rc = read_some(d);
    size_t n;

    if (rc == 0 && d->sent < d->n && !d->is_known) {
        rc = prov_pg_stored(s->connection, prov_spool_run(d->spool), &d->stored, why);
        d->is_known = rc == 0;
        d->used = d->stored > 0 ? s->limit_bytes : 0; /* it is asked when more is there */
    }
    if (rc == 0) {
        /* The database has them: from before the connection broke. */
        for (; d->sent < d->n && d->row[d->sent].id <= d->stored; d->sent++)
            account(d, &d->row[d->sent], true);
    }
    n = d->n - d->sent < d->most ? d->n - d->sent : d->most;
    if (rc == 0 && n > 0) {
        rc = store(s, d, n, true, why);
        if (rc < 0 && *why == PG_BAD_ROW) {
            rc = halve(s, d, n, why);
        } else if (rc == 0) {
            d->most = 2 * d->most < MAX_ROWS ? 2 * d->most : MAX_ROWS;
            rc = keep_within(s, d, why);
            if (rc == 0) /* who waits for these rows is told what gave way to them, too */
                be_done(d, n, true);
        }
    }
    if (rc == 0 && d->n > 0 && d->sent == d->n)
        prov_spool_done(d->spool, d->row[d->n - 1].id);
    return rc < 0 ? rc : d->n > 0 && (n > 0 || d->sent == d->n);
}

static void begin_delivery(struct delivery *d, struct prov_spool *spool,
                           struct prov_tally *tally)
{
    *d = (struct delivery){.spool = spool, .tally = tally, .most = MAX_ROWS};
}

static void end_delivery(struct delivery *d)
{
    pack_release(&d->rows);
    pack_release(&d->frame.payload);
    free(d->row);
    *d = (struct delivery){.n = 0};
}

/* ------------------------------------------------------------------------- what was left */

static void end_left(struct prov_pg_sender *s)
{
    if (s->left.n_stored > 0)
        log_info("prov", "%" PRIu64 " rows that waited from run %" PRId64 " are stored",
                 s->left.n_stored, prov_spool_run(s->left.spool));
    prov_spool_close(s->left.spool);
    end_delivery(&s->left);
}

/* The spool of an earlier process, one after the other. Of a run that a restored database does
 * not have it is left as it is. Returns as send_some. */
static int send_left(struct prov_pg_sender *s, enum pg_trouble *why)
{
    struct prov_spool *spool = NULL;
    int rc;

    if (s->left.spool == NULL && !s->has_looked) {
        s->has_looked = prov_spool_left(&s->spools, prov_spool_run(s->own.spool), &s->left_run,
                                        &spool) != 1;
        if (!s->has_looked)
            begin_delivery(&s->left, spool, NULL);
    }
    if (s->left.spool == NULL)
        return 0;
    rc = send_some(s, &s->left, why);
    if (rc == ERR_NOT_FOUND)
        log_warn("prov", "what waits in '%s/%s/run-%" PRId64 "-*.spool' stays there: %s",
                 s->spools.dir, s->spools.store, prov_spool_run(s->left.spool), err_message());
    if (rc == 0 || rc == ERR_NOT_FOUND)
        end_left(s);
    return rc < 0 && rc != ERR_NOT_FOUND ? rc : 1;
}

/* ----------------------------------------------------------------------------- connection */

static void disconnect(struct prov_pg_sender *s)
{
    PQfinish(s->connection);
    s->connection = NULL;
    s->own.is_known = s->left.is_known = false;
    idmap_release(&s->known); /* it may be restored from another day */
}

static int connect_again(struct prov_pg_sender *s, enum pg_trouble *why)
{
    int rc;

    if (s->connection)
        return 0;
    *why = PG_UNREACHABLE;
    rc = pg_open(s->url, prov_pg_schema.name, &s->connection);
    if (rc == 0)
        *why = PG_OTHER;
    if (rc == 0)
        rc = pg_schema_check(s->connection, &prov_pg_schema);
    if (rc == 0)
        rc = prov_pg_prepare(s->connection);
    return rc < 0 ? rc : prov_pg_alive(s->connection, prov_spool_run(s->own.spool));
}

/* As send_some, of all spools; and when no more comes, that this run is over. */
static int work(struct prov_pg_sender *s, bool is_last, enum pg_trouble *why)
{
    int rc = connect_again(s, why);

    if (rc == 0)
        rc = send_left(s, why);
    if (rc == 0)
        rc = send_some(s, &s->own, why);
    return rc == 0 && is_last
               ? prov_pg_end(s->connection, prov_spool_run(s->own.spool), text_now_ns(), why)
               : rc;
}

static void note(struct prov_pg_sender *s, enum pg_trouble why)
{
    int before = atomic_exchange(&s->trouble, (int)why);

    if (why != PG_FINE && before == PG_FINE)
        log_warn("prov", "rows wait in the spool: %s", err_message());
    else if (why == PG_FINE && before != PG_FINE)
        log_warn("prov", "the database is there again");
}

static void *send_all(void *arg)
{
    struct prov_pg_sender *s = arg;
    unsigned waited_ms = 0, tries = LAST_TRIES;
    void *item;

    for (;;) {
        bool is_last = queue_is_closed(&s->bell); /* before the spool is looked at */
        enum pg_trouble why = PG_OTHER;
        int rc = work(s, is_last, &why);

        note(s, rc < 0 ? why : PG_FINE);
        if (rc < 0) {
            disconnect(s);
            if (is_last && tries-- == 0)
                break;
            prov_wait_again(&waited_ms);
            continue;
        }
        waited_ms = 0;
        if (rc == 0 && is_last)
            break;
        if (rc == 0)
            queue_take_some(&s->bell, &item, 1);
    }
    disconnect(s);
    return NULL;
}

int prov_pg_sender_new(const struct prov_pg_sender_opts *opts, struct prov_pg_sender **out)
{
    struct prov_pg_sender *s = mem_alloc(1, sizeof *s);

    s->url = mem_copy_string(opts->url);
    s->spools = *opts->spools;
    s->limit_bytes = opts->limit_bytes;
    begin_delivery(&s->own, opts->spool, opts->tally);
    s->own.next = 1;
    queue_init(&s->bell, 1);
    prov_pg_sender_wake(s);
    *out = s;
    return thread_start(&s->thread, &s->has_thread, "snag-prov-pg", send_all, s);
}

void prov_pg_sender_wake(struct prov_pg_sender *s)
{
    queue_put(&s->bell, s);
}

const char *prov_pg_sender_why(struct prov_pg_sender *s)
{
    return pg_trouble_why((enum pg_trouble)atomic_load(&s->trouble));
}

uint64_t prov_pg_sender_end(struct prov_pg_sender *s)
{
    if (!s->has_thread)
        return s->own.n_done;
    queue_close(&s->bell);
    pthread_join(s->thread, NULL);
    s->has_thread = false;
    if (s->left.spool)
        end_left(s);
    return s->own.n_done;
}

void prov_pg_sender_free(struct prov_pg_sender *s)
{
    void *item;

    if (s == NULL)
        return;
    prov_pg_sender_end(s);
    end_delivery(&s->own);
    queue_take_ready(&s->bell, &item, 1);
    queue_release(&s->bell);
    idmap_release(&s->known);
    prov_pg_batch_release(&s->batch);
    free(s->url);
    free(s);
}
