/*
 * snag show -- one execution: what it took and usually takes on every call path, drawn as a
 * tree; what is strange about it; what went on elsewhere at the same time.
 */
#include "analysis/subtrees.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd/cause_print.h"
#include "cmd/commands.h"
#include "view/executions.h"
#include "view/closeup.h"
#include "view/subtree_json.h"
#include "cmd/selection.h"
#include "cmd/path_tree.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "cmd/subtree_print.h"
#include "run/run_summary.h"
#include "run/rundb.h"
#include "run/rundir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CONTEXTS 10 /* in the list of what is strange */
#define RARE_NATS 2.3    /* a combination of calls that one in ten has is not worth a table */

struct show {
    const struct settings *settings;
    struct run run;
    struct closeup c;
    struct pool *pool;
    struct subtrees subtrees; /* with --subtrees */
};

/* --------------------------------------------------------------------------- finding it */

static int find_execution(struct show *s, const char *id)
{
    char foi_name[EXECUTION_ID_SIZE];
    uint32_t rank, thread, index;
    int64_t foi = 0;
    int rc = execution_parse(id, foi_name, sizeof foi_name, &rank, &thread, &index);

    if (rc == 0)
        rc = executions_foi(s->run.db,
                            *foi_name                ? foi_name
                            : s->settings->n_foi > 0 ? s->settings->foi[0]
                                                     : NULL,
                            &foi);
    if (rc == 0)
        rc = closeup_find(&s->c, foi, rank, thread, index);
    return rc;
}

static int find_subtrees(struct show *s)
{
    const struct settings *settings = s->settings;
    int rc;

    if (!settings->has_subtrees)
        return 0;
    s->pool = pool_new(settings->threads);
    rc = subtrees_load(&s->subtrees, s->run.db, &s->run.columns, &s->run.defs, s->c.x.foi_id,
                       s->c.x.location, s->c.x.index, s->pool);
    if (rc == 0 && s->subtrees.work.is_embedding_new && !settings->is_quiet)
        fputs("snag: the run has no embedding; one was trained, and is not kept\n", stderr);
    return rc;
}

/* ------------------------------------------------------------------------------- as text */

static void print_head(const struct show *s)
{
    char duration[TEXT_SIZE], usual[TEXT_SIZE], vertices[TEXT_SIZE], messages[TEXT_SIZE];
    char enter[TEXT_SIZE], place[TEXT_SIZE], all[TEXT_SIZE];

    print("%s  %s: %s%s%s, score %.2f, %s of %s\n", s->c.x.id, s->c.x.foi, s->c.x.verdict,
          s->c.x.label ? ", labelled " : "", s->c.x.label ? s->c.x.label : "", s->c.x.score,
          text_count(s->c.place, place), text_count(s->c.n_executions, all));
    print("%s\n\n", s->c.x.why);
    print("rank %u thread %u, entered at %s: %s (usually %s), %s calls, %s messages\n",
          s->c.x.rank, s->c.x.thread, text_duration((double)s->c.x.enter_ns, enter),
          text_duration((double)s->c.x.duration_ns, duration),
          text_duration(s->c.model->root_ns, usual), text_count(s->c.x.n_vertices, vertices),
          text_count(s->c.x.n_messages, messages));
}

static void print_time(struct show *s)
{
    size_t n = why_sort_pairs(&s->c.why, 0);
    struct table *t;
    char text[TEXT_SIZE], name[WHY_NAME_SIZE];

    if (n == 0)
        return;
    print("\nwhere the time went, against calls of the same path and subtree:\n");
    t = table_new("rrrrrl", "excess", "took", "usually", "calls", "usually", "call path");
    for (size_t i = 0; i < n && i < MOST_CONTEXTS; i++) {
        const struct residual_pair *pair = &s->c.why.pairs.pair[i];

        table_cell(t, "+%s", text_duration(pair->lost_ns, text));
        table_cell(t, "%s", text_duration(pair->observed_ns, text));
        table_cell(t, "%s",
                   why_is_usual(&s->c.why, pair->path)
                       ? text_duration(fmax(pair->typical_ns, 0), text)
                       : "none");
        table_cell(t, "%u", pair->n_calls);
        table_cell(t, "%.4g", closeup_usual_calls(&s->c, pair->path));
        table_cell(t, "%s", why_path_name(&s->c.why, pair->path, name));
    }
    table_print(t, stdout);
}

static void print_structure(const struct show *s)
{
    struct why_child child[WHY_MOST_CHILDREN];
    size_t n = why_children(&s->c.why, s->c.measure.rarest, child);
    const char *name = s->run.defs.region[s->c.forest.region[s->c.measure.rarest]].short_name;
    char share[TEXT_SIZE];
    struct table *t;

    if (n == 0 || s->c.measure.structure < RARE_NATS)
        return;
    print("\nwhat %s calls directly, where that differs (1 in %s of its calls is so rare):\n",
          name, text_count((uint64_t)llrint(exp(fmin(s->c.measure.structure, 40))), share));
    t = table_new("rrl", "calls", "usually", "function");
    for (size_t i = 0; i < n && i < MOST_CONTEXTS; i++) {
        table_cell(t, "%u", child[i].observed);
        if (child[i].least == child[i].most)
            table_cell(t, "%u", child[i].most);
        else
            table_cell(t, "%u to %u", child[i].least, child[i].most);
        table_cell(t, "%s", s->run.defs.region[child[i].region].short_name);
    }
    table_print(t, stdout);
}

static int print_peers(const struct show *s)
{
    sqlite3_stmt *query = NULL;
    struct table *t = NULL;
    int rc = closeup_peers(&s->c, &query);

    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        char id[EXECUTION_ID_SIZE], text[TEXT_SIZE];

        if (t == NULL) {
            print("\nanomalies on other ranks at the same time:\n");
            t = table_new("lrrrl", "execution", "score", "entered", "duration", "why");
        }
        execution_id(id, NULL, (uint32_t)sqlite3_column_int64(query, 0),
                     (uint32_t)sqlite3_column_int64(query, 1),
                     (uint32_t)sqlite3_column_int64(query, 2));
        table_cell(t, "%s", id);
        table_cell(t, "%.2f", sqlite3_column_double(query, 3));
        table_cell(t, "%s%s", sqlite3_column_int64(query, 4) >= 0 ? "+" : "",
                   text_duration((double)sqlite3_column_int64(query, 4), text));
        table_cell(t, "%s", text_duration((double)sqlite3_column_int64(query, 5), text));
        table_cell(t, "%s", rundb_text(query, 6));
    }
    sqlite3_finalize(query);
    if (t)
        table_print(t, stdout);
    return rc;
}

static int print_as_text(struct show *s)
{
    print_head(s);
    print_time(s);
    print_structure(s);
    if (s->c.has_cause && cause_has_news(&s->c.causes.cause))
        cause_print(&s->c.causes.view, &s->c.causes.cause);
    if (s->settings->has_subtrees)
        subtree_print(&s->subtrees, s->settings->threshold, s->settings->is_all);
    path_tree_print(&s->c.why, s->settings->depth, s->settings->is_all);
    return print_peers(s);
}

static int print_as_json(struct show *s)
{
    json_t *json = NULL;
    int rc = closeup_to_json(&s->c, &json);

    if (rc < 0)
        return rc;
    if (s->settings->has_subtrees)
        json_object_set_new(json, "subtrees",
                            subtree_to_json(&s->subtrees, s->settings->threshold));
    print_json(json, true);
    return 0;
}

static void show_release(struct show *s)
{
    subtrees_release(&s->subtrees);
    pool_free(s->pool);
    closeup_release(&s->c);
    run_close(&s->run);
}

int cmd_show(const struct settings *settings)
{
    struct show s = {.settings = settings};
    int rc = selection_open(&s.run, settings);

    closeup_init(&s.c, s.run.db, &s.run.columns, &s.run.defs);
    if (rc == 0)
        rc = find_execution(&s, settings->args[1]);
    if (rc == 0)
        rc = closeup_locate(&s.c, NULL);
    if (rc == 0)
        rc = find_subtrees(&s);
    if (rc == 0)
        rc = settings->is_json ? print_as_json(&s) : print_as_text(&s);
    show_release(&s);
    return rc < 0 ? rc : STATUS_DONE;
}
