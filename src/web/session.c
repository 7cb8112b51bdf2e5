#include "web/session.h"

#include "base/err.h"
#include "base/progress.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last part of the path, without what may stand behind it. */
static void take_name(struct session *session)
{
    char path[FS_PATH_SIZE];
    char *name;

    if (realpath(session->run.path, path) == NULL)
        snprintf(path, sizeof path, "%s", session->run.path);
    name = strrchr(path, '/');
    snprintf(session->name, sizeof session->name, "%.255s", name && name[1] ? name + 1 : path);
}

int session_open(struct session *session, const struct session_opts *opts)
{
    int rc;

    *session = (struct session){.snag = opts->snag,
                                .author = opts->author,
                                .n_threads = opts->n_threads,
                                .started_ns = clock_ns(),
                                .has_opened = true};
    feed_init(&session->events, opts->wake);
    board_init(&session->points);
    rc = run_open(&session->run, opts->path, false);
    if (rc == 0)
        rc = run_summary_definitions(session->run.db, &session->defs);
    if (rc == 0 && session->defs.n_locations != session->run.columns.n_locations)
        rc = err_set(ERR_FORMAT, "damaged run: calls/ are of %u locations, run.db of %u",
                     session->run.columns.n_locations, session->defs.n_locations);
    if (rc < 0)
        return rc;
    take_name(session);
    session->begin_ns = (uint64_t)rundb_get(session->run.db, "begin_ns", 0);
    session->end_ns = (uint64_t)rundb_get(session->run.db, "end_ns", 0);
    return 0;
}

void session_close(struct session *session)
{
    feed_release(&session->events);
    board_release(&session->points);
    definitions_release(&session->defs);
    run_close(&session->run);
}

int session_database(const struct session *session, bool is_writable, sqlite3 **db)
{
    char path[FS_PATH_SIZE];
    int rc = fs_join(path, session->run.path, "run.db");

    return rc < 0 ? rc : rundb_open(path, is_writable, db);
}

void session_tell(struct session *session, const char *event, json_t *data)
{
    char text[FEED_TEXT_SIZE];
    char *json = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(12));

    snprintf(text, sizeof text, "event: %s\ndata: %s\n\n", event, json);
    free(json);
    json_decref(data);
    feed_tell(&session->events, text);
}
