/* Rows are gathered until they are a row group, so that ten thousand small locations make no
 * ten thousand groups. */
#include "view/run_parquet.h"

#include "base/json.h"
#include "base/mem.h"
#include "run/run_summary.h"
#include "run/rundb.h"
#include "trace/event.h"
#include "view/parquet.h"

#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 32

/* A file, and the rows that are not written yet. */
struct parquet_rows {
    struct parquet parquet;
    const struct parquet_column *column;
    uint32_t n_columns;
    void *value[MAX_COLUMNS];        /* [PARQUET_GROUP_ROWS] of its type */
    uint8_t *is_null[MAX_COLUMNS];   /* [PARQUET_GROUP_ROWS] of those that may be */
    struct names texts[MAX_COLUMNS]; /* of those that are told by columns of the run: kept */
    bool has_own_texts[MAX_COLUMNS]; /* else they are forgotten after each group */
    size_t n;
    struct pool *pool;
};

static size_t width_of(enum parquet_type type)
{
    static const size_t width[] = {
        [PARQUET_BOOL] = 1, [PARQUET_U16] = 2, [PARQUET_U32] = 4, [PARQUET_U64] = 8,
        [PARQUET_I64] = 8,  [PARQUET_F64] = 8, [PARQUET_TEXT] = 4};

    return width[type];
}

/* Parquet's texts are UTF-8, whatever the trace had. */
static uint32_t add_text(struct names *texts, const char *text)
{
    json_t *clean = json_text(text);
    uint32_t id = names_add(texts, json_string_value(clean));

    json_decref(clean);
    return id;
}

static void say_metadatum(struct parquet *p, const struct run *run, const char *key)
{
    char *value = rundb_get_text(run->db, key);

    if (value)
        parquet_say(p, key, value);
    free(value);
}

/* What the run is of; keys of the table meta, and those that the trace said. */
static void say_run(struct parquet *p, const struct run *run)
{
    static const char *const keys[] = {"trace",    "source", "created",
                                       "begin_ns", "end_ns", "wall_time_ns"};
    struct run_metadata metadata;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        say_metadatum(p, run, keys[i]);
    if (run_metadata_load(&metadata, run->db) == 0)
        for (size_t i = 0; i < metadata.n; i++) {
            json_t *key = json_text(metadata.at[i].key),
                   *value = json_text(metadata.at[i].value);

            parquet_say(p, json_string_value(key), json_string_value(value));
            json_decref(key);
            json_decref(value);
        }
    run_metadata_release(&metadata);
}

static void rows_open(struct parquet_rows *r, const struct run *run, const char *table,
                      const struct parquet_column *column, uint32_t n_columns, FILE *file,
                      struct pool *pool)
{
    *r = (struct parquet_rows){.column = column, .n_columns = n_columns, .pool = pool};
    parquet_open(&r->parquet, file, table, column, n_columns);
    say_run(&r->parquet, run);
    for (uint32_t c = 0; c < n_columns; c++) {
        r->value[c] = mem_alloc(PARQUET_GROUP_ROWS, width_of(column[c].type));
        if (column[c].is_nullable)
            r->is_null[c] = mem_alloc(PARQUET_GROUP_ROWS, 1);
    }
}

static void rows_flush(struct parquet_rows *r)
{
    struct parquet_data data[MAX_COLUMNS];

    for (uint32_t c = 0; c < r->n_columns; c++) {
        data[c] =
            (struct parquet_data){r->value[c], r->is_null[c], r->texts[c].name, r->texts[c].n};
    }
    parquet_rows(&r->parquet, data, r->n, r->pool);
    for (uint32_t c = 0; c < r->n_columns; c++) {
        if (!r->has_own_texts[c])
            names_release(&r->texts[c]);
        if (r->is_null[c])
            memset(r->is_null[c], 0, r->n);
    }
    r->n = 0;
}

static int rows_close(struct parquet_rows *r, int rc)
{
    int closed;

    if (rc == 0)
        rows_flush(r);
    closed = parquet_close(&r->parquet);
    for (uint32_t c = 0; c < r->n_columns; c++) {
        free(r->value[c]);
        free(r->is_null[c]);
        names_release(&r->texts[c]);
    }
    return rc < 0 ? rc : closed;
}

/* ------------------------------------------------------------------------------------ calls */

enum {
    CALL_RANK,
    CALL_THREAD,
    CALL_ROW,
    CALL_PARENT,
    CALL_DEPTH,
    CALL_REGION,
    CALL_ENTER,
    CALL_INCLUSIVE,
    CALL_EXCLUSIVE,
    N_CALL_COLUMNS
};

static const struct parquet_column call_columns[N_CALL_COLUMNS] = {
    [CALL_RANK] = {"rank", PARQUET_U32, false},
    [CALL_THREAD] = {"thread", PARQUET_U32, false},
    [CALL_ROW] = {"call", PARQUET_U32, false},
    [CALL_PARENT] = {"parent", PARQUET_U32, true},
    [CALL_DEPTH] = {"depth", PARQUET_U16, false},
    [CALL_REGION] = {"region", PARQUET_TEXT, false},
    [CALL_ENTER] = {"enter_ns", PARQUET_U64, false},
    [CALL_INCLUSIVE] = {"inclusive_ns", PARQUET_U64, false},
    [CALL_EXCLUSIVE] = {"exclusive_ns", PARQUET_U64, false},
};

static bool is_in(const struct run_parquet_part *part, const struct run *run, uint32_t l)
{
    return part->rank == NO_RANK || run->defs.location[l].rank == part->rank;
}

/* Some calls of a location, from row `from` on, behind those that are gathered. */
static void gather_calls(struct parquet_rows *r, const struct location *where,
                         const struct call_view *v, const uint32_t *caller,
                         const uint64_t *exclusive_ns, const uint32_t *name_of, uint32_t from,
                         uint32_t n)
{
    uint32_t *rank = (uint32_t *)r->value[CALL_RANK] + r->n;
    uint32_t *thread = (uint32_t *)r->value[CALL_THREAD] + r->n;
    uint32_t *row = (uint32_t *)r->value[CALL_ROW] + r->n;
    uint32_t *parent = (uint32_t *)r->value[CALL_PARENT] + r->n;
    uint32_t *region = (uint32_t *)r->value[CALL_REGION] + r->n;
    uint8_t *has_no_parent = r->is_null[CALL_PARENT] + r->n;

    for (uint32_t i = 0; i < n; i++) {
        rank[i] = where->rank;
        thread[i] = where->thread;
        row[i] = from + i;
        parent[i] = caller[from + i];
        has_no_parent[i] = caller[from + i] == NO_CALL;
        region[i] = name_of[v->region[from + i]];
    }
    memcpy((uint16_t *)r->value[CALL_DEPTH] + r->n, v->depth + from, n * sizeof *v->depth);
    memcpy((uint64_t *)r->value[CALL_ENTER] + r->n, v->enter_ns + from,
           n * sizeof *v->enter_ns);
    memcpy((uint64_t *)r->value[CALL_INCLUSIVE] + r->n, v->inclusive_ns + from,
           n * sizeof *v->inclusive_ns);
    memcpy((uint64_t *)r->value[CALL_EXCLUSIVE] + r->n, exclusive_ns + from,
           n * sizeof *exclusive_ns);
    r->n += n;
}

static void calls_of_location(struct parquet_rows *r, const struct run *run, uint32_t l,
                              const uint32_t *name_of)
{
    struct call_view v = columns_view(&run->columns, l);
    uint32_t *caller = mem_alloc(v.n, sizeof *caller);
    uint64_t *exclusive_ns = mem_alloc(v.n, sizeof *exclusive_ns);

    calls_exclusive(&v, caller, exclusive_ns);
    for (uint32_t from = 0; from < v.n;) {
        size_t room = PARQUET_GROUP_ROWS - r->n;
        uint32_t n = v.n - from < room ? v.n - from : (uint32_t)room;

        gather_calls(r, &run->defs.location[l], &v, caller, exclusive_ns, name_of, from, n);
        from += n;
        if (r->n == PARQUET_GROUP_ROWS)
            rows_flush(r);
    }
    free(caller);
    free(exclusive_ns);
}

int run_parquet_calls(const struct run *run, const struct run_parquet_part *part, FILE *file,
                      struct pool *pool)
{
    uint32_t *name_of = mem_alloc(run->defs.names.n, sizeof *name_of);
    struct parquet_rows r;

    rows_open(&r, run, "calls", call_columns, N_CALL_COLUMNS, file, pool);
    r.has_own_texts[CALL_REGION] = true;
    for (uint32_t i = 0; i < run->defs.names.n; i++)
        name_of[i] = add_text(&r.texts[CALL_REGION], run->defs.names.name[i]);
    for (uint32_t l = part->begin; l < part->end; l++)
        if (is_in(part, run, l))
            calls_of_location(&r, run, l, name_of);
    free(name_of);
    return rows_close(&r, 0);
}

/* --------------------------------------------------------------------------------- messages */

enum {
    MESSAGE_RANK,
    MESSAGE_THREAD,
    MESSAGE_ROW,
    MESSAGE_KIND,
    MESSAGE_PEER,
    MESSAGE_TAG,
    MESSAGE_COMM,
    MESSAGE_BYTES,
    MESSAGE_BEGIN,
    MESSAGE_END,
    MESSAGE_CALL,
    MESSAGE_MATCH,
    N_MESSAGE_COLUMNS
};

static const struct parquet_column message_columns[N_MESSAGE_COLUMNS] = {
    [MESSAGE_RANK] = {"rank", PARQUET_U32, false},
    [MESSAGE_THREAD] = {"thread", PARQUET_U32, false},
    [MESSAGE_ROW] = {"message", PARQUET_U64, false},
    [MESSAGE_KIND] = {"kind", PARQUET_TEXT, false},
    [MESSAGE_PEER] = {"peer", PARQUET_U32, true},
    [MESSAGE_TAG] = {"tag", PARQUET_U32, false},
    [MESSAGE_COMM] = {"comm", PARQUET_TEXT, true},
    [MESSAGE_BYTES] = {"bytes", PARQUET_U64, false},
    [MESSAGE_BEGIN] = {"begin_ns", PARQUET_U64, false},
    [MESSAGE_END] = {"end_ns", PARQUET_U64, false},
    [MESSAGE_CALL] = {"call", PARQUET_U32, true},
    [MESSAGE_MATCH] = {"match", PARQUET_U64, true},
};

static void set_u32(struct parquet_rows *r, uint32_t column, uint32_t value)
{
    ((uint32_t *)r->value[column])[r->n] = value;
}

static void set_u64(struct parquet_rows *r, uint32_t column, uint64_t value)
{
    ((uint64_t *)r->value[column])[r->n] = value;
}

static void set_null_if(struct parquet_rows *r, uint32_t column, bool is_null)
{
    r->is_null[column][r->n] = is_null;
}

static void set_text(struct parquet_rows *r, uint32_t column, const char *text)
{
    if (r->column[column].is_nullable)
        set_null_if(r, column, text == NULL);
    set_u32(r, column, text ? add_text(&r->texts[column], text) : 0);
}

static void next_row(struct parquet_rows *r)
{
    if (++r->n == PARQUET_GROUP_ROWS)
        rows_flush(r);
}

/* Number c, also where two communicators have one name. */
static void name_comm(struct names *texts, const char *name, uint32_t c)
{
    char told[256];

    if (add_text(texts, name) == c)
        return;
    snprintf(told, sizeof told, "%.200s (%u)", name, c);
    add_text(texts, told);
}

static void add_message(struct parquet_rows *r, const struct run *run, uint32_t l, uint64_t row)
{
    const struct message *m = &run->columns.message[row];
    bool has_comm = m->comm < run->defs.n_comms;

    set_u32(r, MESSAGE_RANK, run->defs.location[l].rank);
    set_u32(r, MESSAGE_THREAD, run->defs.location[l].thread);
    set_u64(r, MESSAGE_ROW, row);
    set_u32(r, MESSAGE_KIND, m->kind == MESSAGE_SEND ? 0 : 1);
    set_u32(r, MESSAGE_PEER, m->peer);
    set_null_if(r, MESSAGE_PEER, m->peer == NO_RANK);
    set_u32(r, MESSAGE_TAG, m->tag);
    set_u32(r, MESSAGE_COMM, has_comm ? m->comm : 0);
    set_null_if(r, MESSAGE_COMM, !has_comm);
    set_u64(r, MESSAGE_BYTES, m->bytes);
    set_u64(r, MESSAGE_BEGIN, m->begin_ns);
    set_u64(r, MESSAGE_END, m->end_ns);
    set_u32(r, MESSAGE_CALL, m->call);
    set_null_if(r, MESSAGE_CALL, m->call == NO_CALL);
    set_u64(r, MESSAGE_MATCH, m->match);
    set_null_if(r, MESSAGE_MATCH, m->match == MESSAGE_UNMATCHED);
    next_row(r);
}

int run_parquet_messages(const struct run *run, const struct run_parquet_part *part, FILE *file,
                         struct pool *pool)
{
    const struct columns *columns = &run->columns;
    struct parquet_rows r;

    rows_open(&r, run, "messages", message_columns, N_MESSAGE_COLUMNS, file, pool);
    r.has_own_texts[MESSAGE_KIND] = r.has_own_texts[MESSAGE_COMM] = true;
    names_add(&r.texts[MESSAGE_KIND], "send");
    names_add(&r.texts[MESSAGE_KIND], "receive");
    for (uint32_t c = 0; c < run->defs.n_comms; c++)
        name_comm(&r.texts[MESSAGE_COMM], run->defs.comm[c].name, c);
    for (uint32_t l = part->begin; l < part->end; l++) {
        const struct column_range *at = &columns->range[l];

        for (uint64_t m = 0; is_in(part, run, l) && m < at->n_messages; m++)
            add_message(&r, run, l, at->first_message + m);
    }
    return rows_close(&r, 0);
}

/* ------------------------------------------------------------------------------- executions */

enum {
    X_ID,
    X_FOI,
    X_RANK,
    X_THREAD,
    X_INDEX,
    X_CALL,
    X_ENTER,
    X_DURATION,
    X_OFF,
    X_TRACER,
    X_TYPICAL,
    X_LOST,
    X_OPEN,
    X_COST,
    X_COST_IS_BOUND,
    X_VERTICES,
    X_MESSAGES,
    X_SCORE,
    X_CHANCE,
    X_VERDICT,
    X_PART,
    X_WHY,
    X_CAUSE,
    X_LABEL,
    N_EXECUTION_COLUMNS
};

static const struct parquet_column execution_columns[N_EXECUTION_COLUMNS] = {
    [X_ID] = {"id", PARQUET_TEXT, false},
    [X_FOI] = {"foi", PARQUET_TEXT, false},
    [X_RANK] = {"rank", PARQUET_U32, false},
    [X_THREAD] = {"thread", PARQUET_U32, false},
    [X_INDEX] = {"index", PARQUET_U32, false},
    [X_CALL] = {"call", PARQUET_U32, false},
    [X_ENTER] = {"enter_ns", PARQUET_U64, false},
    [X_DURATION] = {"duration_ns", PARQUET_U64, false},
    [X_OFF] = {"off_ns", PARQUET_U64, false},
    [X_TRACER] = {"tracer_ns", PARQUET_U64, false},
    [X_TYPICAL] = {"usual_ns", PARQUET_U64, false},
    [X_LOST] = {"lost_ns", PARQUET_U64, false},
    [X_OPEN] = {"open_ns", PARQUET_U64, true},
    [X_COST] = {"cost_ns", PARQUET_U64, true},
    [X_COST_IS_BOUND] = {"cost_is_bound", PARQUET_BOOL, true},
    [X_VERTICES] = {"vertices", PARQUET_U64, false},
    [X_MESSAGES] = {"messages", PARQUET_U64, false},
    [X_SCORE] = {"score", PARQUET_F64, false},
    [X_CHANCE] = {"false_alarm_probability", PARQUET_F64, false},
    [X_VERDICT] = {"verdict", PARQUET_TEXT, false},
    [X_PART] = {"part", PARQUET_TEXT, false},
    [X_WHY] = {"why", PARQUET_TEXT, false},
    [X_CAUSE] = {"cause", PARQUET_TEXT, true},
    [X_LABEL] = {"label", PARQUET_TEXT, true},
};

static void add_execution(const struct execution *x, void *ctx)
{
    struct parquet_rows *r = ctx;

    set_text(r, X_ID, x->id);
    set_text(r, X_FOI, x->foi);
    set_u32(r, X_RANK, x->rank);
    set_u32(r, X_THREAD, x->thread);
    set_u32(r, X_INDEX, x->index);
    set_u32(r, X_CALL, x->call);
    set_u64(r, X_ENTER, x->enter_ns);
    set_u64(r, X_DURATION, x->duration_ns);
    set_u64(r, X_OFF, x->off_ns);
    set_u64(r, X_TRACER, x->tracer_ns);
    set_u64(r, X_TYPICAL, x->typical_ns);
    set_u64(r, X_LOST, x->lost_ns);
    set_u64(r, X_OPEN, x->open_ns);
    set_null_if(r, X_OPEN, !x->is_open);
    set_u64(r, X_COST, x->cost_ns);
    set_null_if(r, X_COST, !x->has_cost);
    ((uint8_t *)r->value[X_COST_IS_BOUND])[r->n] = x->is_cost_bound;
    set_null_if(r, X_COST_IS_BOUND, !x->has_cost);
    set_u64(r, X_VERTICES, x->n_vertices);
    set_u64(r, X_MESSAGES, x->n_messages);
    ((double *)r->value[X_SCORE])[r->n] = x->score;
    ((double *)r->value[X_CHANCE])[r->n] = x->chance;
    set_text(r, X_VERDICT, x->verdict);
    set_text(r, X_PART, x->part);
    set_text(r, X_WHY, x->why);
    set_text(r, X_CAUSE, x->cause);
    set_text(r, X_LABEL, x->label);
    next_row(r);
}

int run_parquet_executions(const struct run *run, const struct execution_filter *filter,
                           FILE *file, struct pool *pool)
{
    struct parquet_rows r;

    rows_open(&r, run, "executions", execution_columns, N_EXECUTION_COLUMNS, file, pool);
    return rows_close(&r, executions_each(run->db, filter, add_execution, &r));
}
