/*
 * The library as a whole, models, and a trace from beginning to end in this process; and a
 * run: its rows as columns, its trees, its labels.
 */
#include "analysis/label_store.h"
#include "analysis/retrain.h"
#include "analysis/run_maker.h"
#include "analysis/run_model.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "learn/model_file.h"
#include "run/run_sql.h"
#include "run/rundb.h"
#include "snag/snag.h"
#include "view/execution_detail.h"
#include "view/executions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A model of a file; whoever scores by it reads the file again, as scoring renumbers it. */
struct snag_model {
    struct model model;
    char *path;
};

/* ----------------------------------------------------------- a trace, from beginning to end */

_Static_assert((int)SNAG_ERROR_IO == (int)ERR_IO &&
                   (int)SNAG_ERROR_NOT_FOUND == (int)ERR_NOT_FOUND &&
                   (int)SNAG_ERROR_DATABASE == (int)ERR_DATABASE,
               "codes are passed through");

const char *snag_version(void)
{
    return SNAG_VERSION;
}

const char *snag_message(void)
{
    return err_message();
}

/* ------------------------------------------------------------------------------- messages */

static void (*warning_taker)(void *ctx, const char *text);
static void (*memory_taker)(size_t bytes);

static void take_log(void *ctx, enum log_level level, const char *text)
{
    (void)level;
    warning_taker(ctx, text);
}

void snag_on_warning(void (*take)(void *ctx, const char *text), void *ctx)
{
    warning_taker = take;
    log_to(take ? take_log : NULL, ctx);
    log_set_level(take ? LOG_WARN : LOG_NONE);
}

static void take_memory(size_t n, size_t width)
{
    memory_taker(n > SIZE_MAX / (width ? width : 1) ? SIZE_MAX : n * width);
}

void snag_on_out_of_memory(void (*take)(size_t bytes))
{
    memory_taker = take;
    mem_on_failure(take ? take_memory : NULL);
}

/* --------------------------------------------------------------------------------- models */

int snag_model_open(const char *path, snag_model **model)
{
    snag_model *m = mem_alloc(1, sizeof *m);
    int rc = model_file_read(path, &m->model);

    m->path = mem_copy_string(path);
    *model = NULL;
    if (rc < 0)
        snag_model_close(m);
    else
        *model = m;
    return rc;
}

void snag_model_close(snag_model *m)
{
    if (m == NULL)
        return;
    model_release(&m->model);
    free(m->path);
    free(m);
}

const char *snag_model_function(const snag_model *m)
{
    return m->model.foi;
}

/* -------------------------------------------------------------------------------- a trace */

/* The options as far as the caller knows them. */
static int take_options(const struct snag_analyze_options *from,
                        struct snag_analyze_options *out)
{
    *out = (struct snag_analyze_options){.size = sizeof *out};
    if (from == NULL)
        return 0;
    if (from->size < offsetof(struct snag_analyze_options, function))
        return err_set(ERR_USAGE, "options.size is not set: it is the sizeof of the options");
    memcpy(out, from, from->size < sizeof *out ? from->size : sizeof *out);
    return 0;
}

static int read_and_make(struct rundir *dir, const char *trace,
                         const struct snag_analyze_options *o, struct model *model)
{
    struct pool *pool = pool_new(o->threads);
    struct ingest_opts reading = {.dir = dir->part, .pool = pool};
    struct run_maker_opts opts = {.foi = o->function,
                                  .n_foi = (uint32_t)o->n_functions,
                                  .analysis = {.features = o->features,
                                               .detector = o->detector,
                                               .threshold = NAN,
                                               .seed = o->seed,
                                               .pool = pool},
                                  .model = model,
                                  .keeps_labels = o->replace != 0};
    struct ingested ingested = {.n_locations = 0};
    struct source source = {.path = NULL};
    struct run_made made;
    int rc = source_open_as(
        &source, trace, &(struct source_opts){.wants_counters = true, .wants_arguments = true});

    if (rc == 0)
        rc = ingest(&source, &reading, &ingested);
    if (rc == 0)
        rc = run_make(dir, &source, &ingested, &opts, &made);
    if (rc == 0 && quality_is_damaged(&ingested.quality))
        rc = SNAG_DAMAGED;
    ingested_release(&ingested);
    source_close(&source);
    pool_free(pool);
    return rc;
}

int snag_analyze(const char *trace, const char *run, const struct snag_analyze_options *options)
{
    struct snag_analyze_options o;
    struct model model = {.foi = NULL};
    struct rundir dir = {.path = ""};
    int rc = take_options(options, &o);

    if (rc == 0 && rundir_is_run(trace))
        rc = err_set(ERR_FORMAT, "'%s' is a run, not a trace", trace);
    if (rc == 0 && o.model)
        rc = model_file_read(o.model->path, &model);
    if (rc == 0)
        rc = rundir_begin(&dir, run, o.replace != 0);
    if (rc == 0)
        rc = read_and_make(&dir, trace, &o, o.model ? &model : NULL);
    rundir_abandon(&dir);
    model_release(&model);
    return rc;
}

struct run_function {
    int64_t id;
    char *name;
};

struct snag_run {
    struct run run;                /* to read from */
    struct database writer;        /* from the first change on; sql NULL before */
    struct run_function *function; /* [n_functions] */
    size_t n_functions, function_cap;
};

/* -------------------------------------------------------------------------------- opening */

static int load_functions(snag_run *r)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(r->run.db, run_sql_fois_named, &query); /* NULL: of any name */

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        *mem_push(&r->function, &r->n_functions, &r->function_cap) = (struct run_function){
            sqlite3_column_int64(query, 0), mem_copy_string(rundb_text(query, 1))};
    }
    return rundb_close_query(r->run.db, query, rc, "cannot read the functions of interest");
}

int snag_run_open(const char *path, snag_run **run)
{
    snag_run *r = mem_alloc(1, sizeof *r);
    int rc = run_open(&r->run, path, false);

    if (rc == 0)
        rc = load_functions(r);
    *run = rc == 0 ? r : NULL;
    if (rc < 0)
        snag_run_close(r);
    return rc;
}

void snag_run_close(snag_run *r)
{
    if (r == NULL)
        return;
    for (size_t f = 0; f < r->n_functions; f++)
        free(r->function[f].name);
    free(r->function);
    database_close(&r->writer);
    run_close(&r->run);
    free(r);
}

size_t snag_run_functions(const snag_run *r)
{
    return r->n_functions;
}

const char *snag_run_function(const snag_run *r, size_t function)
{
    return function < r->n_functions ? r->function[function].name : NULL;
}

size_t snag_run_regions(const snag_run *r)
{
    return r->run.defs.names.n;
}

const char *snag_run_region(const snag_run *r, uint32_t region)
{
    return region < r->run.defs.names.n ? r->run.defs.names.name[region] : NULL;
}

static int check_function(const snag_run *r, size_t function)
{
    return function < r->n_functions
               ? 0
               : err_set(ERR_NOT_FOUND, "there is no function %zu in the run", function);
}

/* ----------------------------------------------------------------------------- executions */

static void drop(const void *column)
{
    free((void *)(uintptr_t)column);
}

/* The public columns are const; these are the same while they are filled. */
struct filling {
    size_t n, cap;
    uint32_t *rank, *thread, *index;
    uint64_t *enter_ns, *duration_ns, *n_vertices, *n_messages;
    double *score;
    uint8_t *is_anomaly;
    int8_t *label;
};

static void grow(struct filling *f)
{
    if (f->n < f->cap)
        return;
    f->cap = f->cap ? 2 * f->cap : 1024;
    f->rank = mem_resize(f->rank, f->cap, sizeof *f->rank);
    f->thread = mem_resize(f->thread, f->cap, sizeof *f->thread);
    f->index = mem_resize(f->index, f->cap, sizeof *f->index);
    f->enter_ns = mem_resize(f->enter_ns, f->cap, sizeof *f->enter_ns);
    f->duration_ns = mem_resize(f->duration_ns, f->cap, sizeof *f->duration_ns);
    f->n_vertices = mem_resize(f->n_vertices, f->cap, sizeof *f->n_vertices);
    f->n_messages = mem_resize(f->n_messages, f->cap, sizeof *f->n_messages);
    f->score = mem_resize(f->score, f->cap, sizeof *f->score);
    f->is_anomaly = mem_resize(f->is_anomaly, f->cap, sizeof *f->is_anomaly);
    f->label = mem_resize(f->label, f->cap, sizeof *f->label);
}

static void take_execution(const struct execution *x, void *ctx)
{
    struct filling *f = ctx;
    size_t i;

    grow(f);
    i = f->n++;
    f->rank[i] = x->rank;
    f->thread[i] = x->thread;
    f->index[i] = x->index;
    f->enter_ns[i] = x->enter_ns;
    f->duration_ns[i] = x->duration_ns;
    f->n_vertices[i] = x->n_vertices;
    f->n_messages[i] = x->n_messages;
    f->score[i] = x->score;
    f->is_anomaly[i] = strcmp(x->verdict, "anomaly") == 0;
    f->label[i] = x->label == NULL ? 0 : strcmp(x->label, "abnormal") == 0 ? 1 : -1;
}

int snag_run_executions(snag_run *r, size_t function, struct snag_executions *out)
{
    struct execution_filter filter = {.rank = NO_RANK, .is_in_order = true};
    struct filling f = {.n = 0};
    int rc = check_function(r, function);

    if (rc == 0) {
        filter.foi_id = r->function[function].id;
        rc = executions_each(r->run.db, &filter, take_execution, &f);
    }
    *out = (struct snag_executions){f.n,        f.rank,        f.thread,     f.index,
                                    f.enter_ns, f.duration_ns, f.n_vertices, f.n_messages,
                                    f.score,    f.is_anomaly,  f.label};
    if (rc < 0)
        snag_executions_release(out);
    return rc;
}

void snag_executions_release(struct snag_executions *x)
{
    drop(x->rank);
    drop(x->thread);
    drop(x->index);
    drop(x->enter_ns);
    drop(x->duration_ns);
    drop(x->n_vertices);
    drop(x->n_messages);
    drop(x->score);
    drop(x->is_anomaly);
    drop(x->label);
    *x = (struct snag_executions){0};
}

struct losses {
    size_t n, cap;
    uint32_t *location;
    uint64_t *call, *typical_ns, *lost_ns, *tracer_ns, *error_ns;
    int64_t *cost_ns;
    double *p;
    uint8_t *is_open;
};

static void take_loss(const struct execution *x, void *ctx)
{
    struct losses *l = ctx;
    size_t i = l->n++;

    if (i == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 1024;
        l->location = mem_resize(l->location, l->cap, sizeof *l->location);
        l->call = mem_resize(l->call, l->cap, sizeof *l->call);
        l->typical_ns = mem_resize(l->typical_ns, l->cap, sizeof *l->typical_ns);
        l->lost_ns = mem_resize(l->lost_ns, l->cap, sizeof *l->lost_ns);
        l->tracer_ns = mem_resize(l->tracer_ns, l->cap, sizeof *l->tracer_ns);
        l->error_ns = mem_resize(l->error_ns, l->cap, sizeof *l->error_ns);
        l->cost_ns = mem_resize(l->cost_ns, l->cap, sizeof *l->cost_ns);
        l->p = mem_resize(l->p, l->cap, sizeof *l->p);
        l->is_open = mem_resize(l->is_open, l->cap, sizeof *l->is_open);
    }
    l->location[i] = x->location;
    l->call[i] = x->call;
    l->typical_ns[i] = x->typical_ns;
    l->lost_ns[i] = x->lost_ns;
    l->tracer_ns[i] = x->tracer_ns;
    l->error_ns[i] = x->off_ns;
    l->cost_ns[i] = x->has_cost ? (int64_t)x->cost_ns : -1;
    l->p[i] = x->chance;
    l->is_open[i] = x->is_open;
}

int snag_run_losses(snag_run *r, size_t function, struct snag_losses *out)
{
    struct execution_filter filter = {.rank = NO_RANK, .is_in_order = true};
    struct losses l = {.n = 0};
    int rc = check_function(r, function);

    if (rc == 0) {
        filter.foi_id = r->function[function].id;
        rc = executions_each(r->run.db, &filter, take_loss, &l);
    }
    *out = (struct snag_losses){l.n,         l.location, l.call,    l.typical_ns, l.lost_ns,
                                l.tracer_ns, l.error_ns, l.cost_ns, l.p,          l.is_open};
    if (rc < 0)
        snag_losses_release(out);
    return rc;
}

void snag_losses_release(struct snag_losses *l)
{
    drop(l->location);
    drop(l->call);
    drop(l->typical_ns);
    drop(l->lost_ns);
    drop(l->tracer_ns);
    drop(l->error_ns);
    drop(l->cost_ns);
    drop(l->p);
    drop(l->is_open);
    *l = (struct snag_losses){0};
}

/* --------------------------------------------------------------------- locations and calls */

int snag_run_locations(snag_run *r, struct snag_locations *out)
{
    uint32_t n = r->run.columns.n_locations;
    uint32_t *rank = mem_alloc(n, sizeof *rank), *thread = mem_alloc(n, sizeof *thread);
    uint8_t *is_gpu = mem_alloc(n, sizeof *is_gpu);
    const char **name = mem_alloc(n, sizeof *name), **node = mem_alloc(n, sizeof *node);
    uint64_t *first_call = mem_alloc(n, sizeof *first_call);
    uint64_t *n_calls = mem_alloc(n, sizeof *n_calls);
    uint64_t *first_message = mem_alloc(n, sizeof *first_message);
    uint64_t *n_messages = mem_alloc(n, sizeof *n_messages);

    for (uint32_t l = 0; l < n; l++) {
        const struct location *location = &r->run.defs.location[l];
        const struct column_range *range = &r->run.columns.range[l];

        rank[l] = location->rank;
        thread[l] = location->thread;
        is_gpu[l] = location->is_gpu;
        name[l] = location->name;
        node[l] = location->node;
        first_call[l] = range->first_call;
        n_calls[l] = range->n_calls;
        first_message[l] = range->first_message;
        n_messages[l] = range->n_messages;
    }
    *out = (struct snag_locations){n,    rank,       thread,  is_gpu,        name,
                                   node, first_call, n_calls, first_message, n_messages};
    return 0;
}

void snag_locations_release(struct snag_locations *l)
{
    drop(l->rank);
    drop(l->thread);
    drop(l->is_gpu);
    drop(l->name);
    drop(l->node);
    drop(l->first_call);
    drop(l->n_calls);
    drop(l->first_message);
    drop(l->n_messages);
    *l = (struct snag_locations){0};
}

static int check_location(const snag_run *r, size_t location)
{
    return location < r->run.columns.n_locations || location == SNAG_ALL
               ? 0
               : err_set(ERR_NOT_FOUND, "there is no location %zu in the run", location);
}

int snag_run_calls(snag_run *r, size_t location, struct snag_calls *out)
{
    const struct columns *c = &r->run.columns;
    int rc = check_location(r, location);

    *out = (struct snag_calls){0};
    if (rc == 0 && location == SNAG_ALL) {
        *out = (struct snag_calls){c->n_calls,
                                   c->column[COLUMN_ENTER],
                                   c->column[COLUMN_INCLUSIVE],
                                   c->column[COLUMN_REGION],
                                   c->column[COLUMN_SUBTREE],
                                   c->column[COLUMN_DEPTH]};
    } else if (rc == 0) {
        struct call_view v = columns_view(c, (uint32_t)location);

        *out = (struct snag_calls){v.n,      v.enter_ns,    v.inclusive_ns,
                                   v.region, v.subtree_len, v.depth};
    }
    return rc;
}

_Static_assert(sizeof(struct snag_message) == sizeof(struct message) &&
                   offsetof(struct snag_message, match) == offsetof(struct message, match) &&
                   offsetof(struct snag_message, call) == offsetof(struct message, call) &&
                   offsetof(struct snag_message, tag) == offsetof(struct message, tag) &&
                   offsetof(struct snag_message, is_receive) ==
                       offsetof(struct message, kind) &&
                   MESSAGE_SEND == 0 && MESSAGE_RECV == 1,
               "messages are shown as they are mapped");

int snag_run_messages(snag_run *r, size_t location, struct snag_messages *out)
{
    const struct columns *c = &r->run.columns;
    int rc = check_location(r, location);

    *out = (struct snag_messages){0};
    if (rc == 0 && location == SNAG_ALL) {
        *out = (struct snag_messages){c->n_messages, (const void *)c->message};
    } else if (rc == 0) {
        struct call_view v = columns_view(c, (uint32_t)location);

        *out = (struct snag_messages){v.n_messages, (const void *)v.message};
    }
    return rc;
}

int snag_run_check(snag_run *r, size_t location)
{
    int rc = check_location(r, location);

    if (rc == 0 && location != SNAG_ALL)
        return columns_check(&r->run.columns, (uint32_t)location, &r->run.defs);
    for (uint32_t l = 0; rc == 0 && l < r->run.columns.n_locations; l++)
        rc = columns_check(&r->run.columns, l, &r->run.defs);
    return rc;
}

/* Whether all of n numbers are below a bound, 1 <= bound <= 2^31. Bit 31 of x | (last - x) is set just
 * for x > last; of so many at a time, as they then go through vector registers. */
static bool all_below(const uint32_t *x, size_t n, uint32_t bound)
{
    enum { AT_A_TIME = 1024 };
    uint32_t beyond = 0, last = bound - 1;
    size_t i = 0;

    for (; n - i >= AT_A_TIME; i += AT_A_TIME) {
        for (size_t j = 0; j < AT_A_TIME; j++)
            beyond |= x[i + j] | (last - x[i + j]);
    }
    for (; i < n; i++)
        beyond |= x[i] | (last - x[i]);
    return beyond >> 31 == 0;
}

int snag_run_check_regions(snag_run *r, size_t location)
{
    struct snag_calls calls;
    uint32_t n = r->run.defs.names.n;
    int rc = snag_run_calls(r, location, &calls);

    if (rc < 0 || calls.n == 0 || (n > 0 && all_below(calls.region, calls.n, n)))
        return rc;
    for (size_t i = 0; i < calls.n; i++) {
        if (calls.region[i] >= n)
            return err_set(ERR_FORMAT, "damaged run: region %u is not there", calls.region[i]);
    }
    return rc;
}

/* ------------------------------------------------------------------------------- vertices */

static int find_execution(snag_run *r, struct execution_detail *c, size_t function, size_t row)
{
    int rc = check_function(r, function);

    execution_detail_init(c, r->run.db, &r->run.columns, &r->run.defs);
    return rc < 0 ? rc : execution_detail_find_tree(c, r->function[function].id, (int64_t)row);
}

static void load_vertices(snag_run *r, const struct execution *x, struct snag_vertices *out)
{
    struct call_view calls = columns_view(&r->run.columns, x->location);
    uint32_t n = calls.subtree_len[x->call], *region, *parent;
    uint64_t *enter, *inclusive, *exclusive;
    struct forest forest = {0};

    forest_of_call(&forest, x->location, &calls, x->call, NULL); /* the tracer's too */
    region = forest.region;
    parent = forest.parent;
    exclusive = forest.exclusive_ns;
    forest.region = forest.parent = NULL;
    forest.exclusive_ns = NULL;
    forest_release(&forest);
    enter = mem_alloc(n, sizeof *enter);
    inclusive = mem_alloc(n, sizeof *inclusive);
    memcpy(enter, calls.enter_ns + x->call, n * sizeof *enter);
    memcpy(inclusive, calls.inclusive_ns + x->call, n * sizeof *inclusive);
    *out = (struct snag_vertices){n, region, parent, enter, inclusive, exclusive};
}

int snag_run_vertices(snag_run *r, size_t function, size_t row, struct snag_vertices *out)
{
    struct execution_detail c;
    int rc = find_execution(r, &c, function, row);

    *out = (struct snag_vertices){0};
    if (rc == 0)
        rc = columns_check_tree(&r->run.columns, c.x.location, c.x.call, &r->run.defs);
    if (rc == 0)
        load_vertices(r, &c.x, out);
    execution_detail_release(&c);
    return rc;
}

void snag_vertices_release(struct snag_vertices *v)
{
    drop(v->region);
    drop(v->parent);
    drop(v->enter_ns);
    drop(v->inclusive_ns);
    drop(v->exclusive_ns);
    *v = (struct snag_vertices){0};
}

int snag_run_reason(snag_run *r, size_t function, size_t row, char *out, size_t size)
{
    struct execution_detail c;
    int rc = find_execution(r, &c, function, row);

    if (size > 0)
        snprintf(out, size, "%s", rc == 0 && c.x.why ? c.x.why : "");
    execution_detail_release(&c);
    return rc;
}

/* -------------------------------------------------------------------------------- labels */

int snag_run_check_same(const snag_run *r)
{
    return run_check_same(&r->run);
}

/* Leaves it closed when it fails, as on a disk that cannot be written. What is written to a run
 * that another one has replaced would be lost. */
static int open_writer(snag_run *r)
{
    int rc = run_check_same(&r->run);

    if (rc == 0 && r->writer.sql == NULL)
        rc = run_connect(&r->run, true, &r->writer);
    if (rc < 0)
        database_close(&r->writer);
    return rc;
}

int snag_run_label(snag_run *r, size_t function, size_t row, int label, const char *author)
{
    struct execution_detail c;
    struct label_entry entry;
    int rc = label < -1 || label > 1
                 ? err_set(ERR_USAGE,
                           "a label is 1 (abnormal), -1 (normal) or 0 (none), not %d", label)
                 : 0;

    if (rc == 0)
        rc = open_writer(r);
    if (rc < 0)
        return rc;
    rc = find_execution(r, &c, function, row);
    if (rc == 0) {
        entry = (struct label_entry){r->function[function].id, c.x.rank, c.x.thread, c.x.index,
                                     (enum label)label};
        rc = label_store_add(r->writer.sql, &entry, 1, author);
    }
    execution_detail_release(&c);
    return rc;
}

/* What a retrain, or its undoing, is made with. */
struct relearning {
    struct pool *pool;
    struct ranking ranking;
};

static int relearning_open(struct relearning *l, snag_run *r, size_t function,
                           const struct retrain_settings *as)
{
    struct retrain_settings next = {.seed = 1};
    struct ranking_opts opts;
    int rc = as ? 0 : retrain_next(r->run.db, r->function[function].id, &next);

    l->pool = pool_new(1);
    opts = retrain_opts(as ? as : &next, l->pool);
    return rc < 0 ? rc
                  : ranking_open(&l->ranking, r->run.db, &r->run.columns, &r->run.defs,
                                 r->function[function].id, &opts);
}

static int relearning_close(struct relearning *l, struct retrain_result *result, int rc,
                            size_t *n_changed)
{
    if (n_changed)
        *n_changed = rc == 0 ? result->n_changes : 0;
    free(result->change);
    ranking_close(&l->ranking);
    if (l->pool)
        pool_free(l->pool);
    return rc;
}

int snag_run_retrain(snag_run *r, size_t function, const char *author, size_t *n_changed)
{
    struct relearning l = {.pool = NULL};
    struct retrain_result result = {.id = 0};
    int rc = check_function(r, function);

    if (rc == 0)
        rc = open_writer(r);
    if (rc == 0)
        rc = relearning_open(&l, r, function, NULL);
    if (rc == 0)
        rc = retrain_run(r->writer.sql, &l.ranking, author, &result);
    return relearning_close(&l, &result, rc, n_changed);
}

int snag_run_undo(snag_run *r, size_t function, size_t *n_changed)
{
    struct relearning l = {.pool = NULL};
    struct retrain_result result = {.id = 0};
    struct retrain_settings as;
    int64_t id = 0;
    int rc = check_function(r, function);

    if (rc == 0)
        rc = open_writer(r);
    if (rc == 0)
        rc = retrain_to_undo(r->run.db, r->function[function].id, &id, &as);
    if (rc == 0)
        rc = relearning_open(&l, r, function, &as);
    if (rc == 0)
        rc = retrain_undo(r->writer.sql, r->function[function].id, id, &l.ranking, &result);
    return relearning_close(&l, &result, rc, n_changed);
}

int snag_run_save_model(snag_run *r, size_t function, const char *path)
{
    struct pool *pool = pool_new(1);
    struct ranking_opts opts = {.seed = 1, .pool = pool};
    struct model model = {.foi = NULL};
    uint32_t n_left_out;
    int rc = check_function(r, function);

    if (rc == 0)
        rc = run_model_make(&r->run, r->function[function].id, &opts, &model, &n_left_out);
    if (rc == 0)
        rc = model_file_write(path, &model);
    if (rc == 0 && n_left_out > 0)
        log_warn("model",
                 "%s is without %u label%s of the run, which its scores are not learnt from: "
                 "retrain first",
                 path, n_left_out, text_plural(n_left_out));
    model_release(&model);
    pool_free(pool);
    return rc;
}
