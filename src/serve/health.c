#include "serve/health.h"

#include "base/err.h"
#include "compare/run_history.h"
#include "prov/prov_store.h"
#include "run/run_sql.h"
#include "run/rundb.h"

static int check_run(struct worker *worker)
{
    sqlite3_stmt *query = NULL;
    int rc, step;

    if (database_is_moved(&worker->database))
        return err_set(ERR_IO, "the run is no longer there");
    rc = rundb_prepare(worker->db, run_sql_meta_any, &query);
    if (rc < 0)
        return rc;
    step = sqlite3_step(query);
    if (step != SQLITE_ROW)
        rc = step == SQLITE_DONE ? err_set(ERR_FORMAT, "the run says nothing of itself")
                                 : rundb_error(worker->db, "cannot read the run");
    sqlite3_finalize(query);
    if (rc == 0 && atomic_load(&worker->served->is_write_failing))
        rc = err_set(ERR_IO, "the last change could not be written");
    return rc;
}

static int check_live(struct live_state *live)
{
    char why[256];

    if (live_state_trouble(live, why))
        return err_set(ERR_IO, "%s", why);
    return live_state_has_store(live) ? prov_store_look(live_state_store_url(live)) : 0;
}

static int check_history(const char *path)
{
    struct history history = {0};
    int rc = history_open(&history, path, DATABASE_READ);

    history_close(&history);
    return rc;
}

int health_check(struct worker *worker)
{
    const struct served *served = worker->served;

    switch (served->what) {
    case SERVED_PROGRAM:
        return check_live(served->live);
    case SERVED_HISTORY:
        return check_history(served->history);
    case SERVED_COMPARISON:
        return 0;
    case SERVED_RUN:
        break;
    }
    return check_run(worker);
}
