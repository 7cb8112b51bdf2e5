/* The library as a whole, models, and a trace from beginning to end in this process. */
#include "snag/snag.h"

#include "analysis/run_maker.h"
#include "api/handles.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        return err_set(ERR_USAGE, "the size of the options is not set");
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
