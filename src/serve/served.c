#include "serve/served.h"

#include "base/err.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/progress.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The last part of the path, without what may stand after it. */
static void take_name(struct served *served)
{
    char path[FS_PATH_SIZE];
    char *name;

    if (realpath(served->run.path, path) == NULL)
        snprintf(path, sizeof path, "%s", served->run.path);
    name = strrchr(path, '/');
    snprintf(served->name, sizeof served->name, "%.255s", name && name[1] ? name + 1 : path);
}

/* In the run if that may be written, else in memory. */
static void *make_levels(void *arg)
{
    struct served *s = arg;
    struct pool *pool = pool_new(1); /* requests come first */
    int rc = levels_write(&s->run.columns, pool, &s->is_closing);

    if (rc == 0)
        rc = levels_open(&s->levels, &s->scattered);
    if (rc < 0 && !atomic_load(&s->is_closing)) {
        levels_close(&s->levels);
        rc = levels_make(&s->levels, &s->run.columns, pool, &s->is_closing);
        s->levels.columns = &s->scattered; /* they are the same */
    }
    if (rc == 0)
        atomic_store(&s->has_levels, true);
    else if (!atomic_load(&s->is_closing))
        log_warn("serve", "the timeline is slow: %s", err_message());
    pool_free(pool);
    return NULL;
}

static void find_levels(struct served *served)
{
    if (levels_open(&served->levels, &served->scattered) == 0) {
        atomic_store(&served->has_levels, true);
        return;
    }
    levels_close(&served->levels);
    served->is_levelling = pthread_create(&served->levelling, NULL, make_levels, served) == 0;
    if (served->is_levelling)
        pthread_setname_np(served->levelling, "snag-levels");
}

const struct levels *served_levels(const struct served *served)
{
    return atomic_load(&served->has_levels) ? &served->levels : NULL;
}

static int open_run(struct served *served, const struct served_opts *opts)
{
    int rc = run_open(&served->run, opts->path, false);

    if (rc < 0)
        return rc;
    take_name(served);
    served->begin_ns = (uint64_t)rundb_get(served->run.db, "begin_ns", 0);
    served->end_ns = (uint64_t)rundb_get(served->run.db, "end_ns", 0);
    rc = columns_open_at(&served->scattered, served->run.dir, opts->path);
    if (rc < 0)
        return rc;
    columns_scatter(&served->scattered);
    if (!opts->is_brief)
        find_levels(served);
    return 0;
}

int served_open(struct served *served, const struct served_opts *opts)
{
    *served = (struct served){.what = opts->what,
                              .live = opts->live,
                              .comparison = opts->comparison,
                              .history = opts->path,
                              .snag = opts->snag,
                              .command = opts->command,
                              .job = opts->job,
                              .run_id = opts->run_id,
                              .author = opts->author,
                              .n_threads = opts->n_threads,
                              .started_ns = clock_ns(),
                              .has_opened = true};
    if (getrandom(&served->nonce, sizeof served->nonce, 0) != sizeof served->nonce)
        served->nonce = served->started_ns;
    feed_init(&served->events, opts->wake);
    board_init(&served->points);
    shared_cache_init(&served->tables);
    shared_cache_init(&served->dependencies);
    if (opts->what == SERVED_RUN)
        return open_run(served, opts);
    snprintf(served->name, sizeof served->name, "%.255s", opts->path);
    return 0;
}

void served_close(struct served *served)
{
    atomic_store(&served->is_closing, true);
    if (served->is_levelling)
        pthread_join(served->levelling, NULL);
    levels_close(&served->levels);
    columns_close(&served->scattered);
    feed_release(&served->events);
    board_release(&served->points);
    shared_cache_release(&served->tables);
    shared_cache_release(&served->dependencies);
    run_close(&served->run);
}

void served_wrote(struct served *served, int rc)
{
    if (rc == 0 || rc == ERR_IO || rc == ERR_DATABASE)
        atomic_store(&served->is_write_failing, rc < 0);
}

void served_tell(struct served *served, const char *event, json_t *data)
{
    char text[FEED_TEXT_SIZE];
    char *json = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(12));

    snprintf(text, sizeof text, "event: %s\ndata: %s\n\n", event, json);
    free(json);
    json_decref(data);
    feed_tell(&served->events, text);
}
