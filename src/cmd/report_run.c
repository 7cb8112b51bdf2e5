/*
 * The figures are empty elements with the address of what is drawn in them: web/src/report/
 * fills them. Those whose data had no room in the report are not there.
 */
#include "cmd/report_run.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/cmd_list.h"
#include "cmd/cmd_ranks.h"
#include "cmd/cmd_report.h"
#include "cmd/headline.h"
#include "cmd/reading.h"
#include "cmd/settings.h"
#include "run/run_sql.h"
#include "run/run_summary.h"
#include "run/rundb.h"
#include "view/html.h"
#include "view/incident_list.h"
#include "view/results_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FOI 8u       /* functions of interest that are reported on */
#define MAX_CLOSE 5u     /* executions that are looked at closely, of each */
#define MAX_METADATA 60u /* of what the trace says of the run */
#define MAX_CELLS 8192u  /* of a picture of ranks */

struct run_report {
    FILE *out;
    const struct settings *settings;
    struct answers *answers;
    sqlite3 *db;
    const struct run *run;
    struct headline_foi foi[MAX_FOI];
    int64_t foi_id[MAX_FOI];
    char *name[MAX_FOI]; /* of the functions */
    uint32_t n_foi, n_more;
    struct {
        int64_t tree, incident; /* incident: 0 for what is no part of one that has a number */
    } close[MAX_CLOSE];         /* [n_close] executions of one function */
    uint32_t n_close;
    bool are_few; /* executions of that function: what they lost is not known */
};

static struct execution_filter filter_of(const struct run_report *r, uint32_t i)
{
    struct execution_filter filter = {
        .foi_id = r->foi_id[i], .rank = NO_RANK, .most = r->settings->top};

    return filter;
}

/* ------------------------------------------------------------------------------- headline */

static void keep_foi(int64_t id, const struct headline_foi *foi, void *ctx)
{
    struct run_report *r = ctx;

    if (r->n_foi == MAX_FOI) {
        r->n_more++;
        return;
    }
    r->foi_id[r->n_foi] = id;
    r->foi[r->n_foi] = *foi;
    r->foi[r->n_foi].name = r->name[r->n_foi] = mem_copy_string(foi->name);
    r->n_foi++;
}

static int read_fois(struct run_report *r)
{
    int64_t only = 0;
    int rc =
        r->settings->foi.n > 0 ? executions_foi(r->db, r->settings->foi.text[0], &only) : 0;

    if (rc == 0)
        rc = headline_fois(r->db, only, keep_foi, r);
    if (rc == 0 && r->n_foi == 0)
        rc = err_set(ERR_NOT_FOUND, "the run has no executions of a function of interest");
    return rc;
}

static void put_trace(const struct run_report *r)
{
    char *path = rundb_get_text(r->db, "trace"), *text;
    struct headline_trace trace = {
        .path = path ? path : "",
        .n_records = (uint64_t)rundb_get(r->db, "n_records"),
        .length_ns = r->answers->served.end_ns - r->answers->served.begin_ns,
        .n_locations = r->run->defs.n_locations,
        .kind = trace_kind_of(&r->run->defs),
    };

    trace.kind.n_sampled = (uint32_t)rundb_get(r->db, "n_sampled");
    text = headline_trace(&trace);
    report_text(r->out, "%s", text);
    free(text);
    free(path);
}

static int put_headline(const struct run_report *r, uint32_t i)
{
    char *text = headline_foi(&r->foi[i]), *line[HEADLINE_LINES];
    struct outcome outcome;
    struct outcome_lost lost;
    int rc = outcome_find(r->db, r->foi_id[i], r->foi[i].n_anomalies, &outcome);

    headline_answer(&outcome, line);
    outcome_release(&outcome);
    if (rc == 0)
        rc = outcome_lost(r->db, r->foi_id[i], &lost);
    report_text(r->out, "%s", text);
    free(text);
    for (size_t k = 0; k < HEADLINE_LINES; k++) {
        if (line[k])
            report_text(r->out, "%s", line[k]);
        free(line[k]);
    }
    if (rc == 0)
        report_text(r->out, "%s", lost.text);
    return rc;
}

/* -------------------------------------------------------------------------------- figures */

static int put_overview(const struct run_report *r, uint32_t i)
{
    char address[64], caption[256], shown[TEXT_SIZE], all[TEXT_SIZE], strangest[TEXT_SIZE];
    struct answers_points points = {.n = 0};
    int rc =
        answers_add_points(r->answers, r->foi_id[i], ANSWERS_MAX_POINTS / r->n_foi, &points);

    if (rc < 0 || points.n == 0)
        return rc;
    text_count(points.n, shown);
    text_count(points.of, all);
    snprintf(address, sizeof address, "/fois/%lld/columns", (long long)r->foi_id[i]);
    if (points.n_anomalies < r->foi[i].n_anomalies)
        snprintf(caption, sizeof caption,
                 "%s of all %s executions by time and duration: the strangest %s anomalies, "
                 "orange and outlined, and some of the others.",
                 shown, all, text_count(points.n_anomalies, strangest));
    else if (points.n < points.of)
        snprintf(caption, sizeof caption,
                 "%s of all %s executions by time and duration: the anomalies, orange and "
                 "outlined, and some of the others.",
                 shown, all);
    else
        snprintf(caption, sizeof caption,
                 "The %s executions by time and duration; anomalies are orange and outlined.",
                 all);
    report_figure(r->out, "points", address, caption);
    return 0;
}

/* ------------------------------------------------------------------------- what is strange */

/* Anomalies, then what made the run longer without being one. */
struct worth {
    struct run_report *report;
    struct table *table;
    uint32_t n, n_anomalies;
};

static void keep_head(const struct incident_row *x, void *ctx)
{
    struct worth *worth = ctx;
    struct run_report *r = worth->report;

    if (!x->is_anomaly && !x->is_costly && !(x->has_cost && x->cost_ns > 0))
        return;
    if (r->settings->top > 0 && worth->n == r->settings->top)
        return;
    worth->n++;
    worth->n_anomalies += x->is_anomaly;
    list_incident_row(x, r->are_few, worth->table);
    if (r->n_close == MAX_CLOSE)
        return;
    r->close[r->n_close].tree = x->head_tree;
    r->close[r->n_close++].incident = x->id;
}

static void keep_execution(const struct execution *x, void *ctx)
{
    struct run_report *r = ctx;

    if (r->n_close > 0)
        return;
    r->close[0].tree = x->tree;
    r->close[0].incident = 0;
    r->n_close = 1;
}

static int put_executions(struct run_report *r, const struct execution_filter *filter)
{
    struct table *table = list_table();
    int rc = executions_each(r->db, filter, list_text, table);

    if (rc < 0) {
        table_free(table);
        return rc;
    }
    report_text(
        r->out,
        r->are_few
            ? "Too few executions to say what is typical. The longest come first:"
            : "No execution is an anomaly. These are the strangest, which may be by chance:");
    table_print_html(table, r->out);
    return executions_each(r->db, filter, keep_execution, r);
}

static int put_incidents(struct run_report *r, struct execution_filter *filter,
                         const struct worth *worth)
{
    uint64_t n;
    int rc;

    report_text(
        r->out,
        "Executions that were strange together, because they waited for each other, are "
        "one incident. Those with an anomaly stand first, then what cost the run time "
        "though it is none; of each, those that lost most first. The cost of an incident "
        "is by how much the replayed run is shorter without it, where that is known: of "
        "two numbers the first is without what its cause alone lost, the second without "
        "all that was lost at that time; \"at most\": its cause alone cost nothing, or "
        "only this much is known. Its head is the execution that delayed the others.");
    table_print_html(worth->table, r->out);
    filter->verdict = "anomaly";
    rc = incident_list_count(r->db, filter, &n);
    if (rc == 0 && n > worth->n_anomalies)
        report_text(r->out, "and %" PRIu64 " more", n - worth->n_anomalies);
    return rc;
}

static int put_groups(struct run_report *r, const struct execution_filter *filter)
{
    struct table *table;
    int rc = list_group_table(r->db, filter, GROUP_MIN_EXECUTIONS, &table);

    if (table == NULL)
        return rc;
    report_text(r->out,
                "Anomalies that are strange in the same way, whenever and on whatever rank "
                "they are, are one group; those first that others go back to.");
    table_print_html(table, r->out);
    return rc;
}

/* The drawings of a function's executions say with what these are compared. */
static void add_foi(const struct run_report *r, uint32_t i)
{
    char address[64];
    bool is_in;

    snprintf(address, sizeof address, "/fois/%lld", (long long)r->foi_id[i]);
    answers_add(r->answers, address, json_pack("{s:b}", "is_few", r->are_few), &is_in);
}

static int put_list(struct run_report *r, uint32_t i)
{
    static const char *const verdicts[] = {"anomaly", "normal"};
    struct execution_filter filter = filter_of(r, i), each = filter;
    struct worth worth = {.report = r, .table = list_incident_table()};
    int rc = executions_are_few(r->db, r->foi_id[i], &r->are_few);

    each.most =
        0; /* keep_head counts: of what is normal, those that cost nothing may stand first */
    for (size_t k = 0; k < 2 && rc == 0; k++) {
        each.verdict = verdicts[k];
        rc = incident_list_each(r->db, &each, keep_head, &worth);
    }
    if (rc < 0 || worth.n == 0)
        table_free(worth.table);
    if (rc < 0)
        return rc;
    add_foi(r, i);
    report_heading(r->out, 3, "What is strange");
    rc = worth.n > 0 ? put_incidents(r, &filter, &worth) : put_executions(r, &filter);
    return rc < 0 ? rc : put_groups(r, &filter);
}

static void put_facts(const struct execution *x, void *ctx)
{
    const struct run_report *r = ctx;
    FILE *out = r->out;
    char enter[TEXT_SIZE], took[TEXT_SIZE], typical[TEXT_SIZE], lost[TEXT_SIZE],
        cost[TEXT_SIZE];
    char calls[TEXT_SIZE], messages[TEXT_SIZE], score[TEXT_SIZE];
    bool has_cost = x->has_cost && !r->are_few;
    bool is_unended = x->is_open && strcmp(x->verdict, "anomaly") == 0;

    report_text(out, "%s, %s%s%s: %s", x->id, x->verdict, x->label ? ", labelled " : "",
                x->label ? x->label : "", x->why);
    report_text(
        out,
        "rank %u thread %u, entered at %s: took %s%s, %s %s; lost %s%s%s; score %s; %s "
        "calls, %s messages",
        x->rank, x->thread, text_duration((double)x->enter_ns, enter),
        text_duration((double)x->duration_ns, took), x->is_open ? " so far" : "",
        r->are_few ? "median" : "typical", text_duration((double)x->typical_ns, typical),
        is_unended   ? "not known: it does not end"
        : r->are_few ? "not known"
                     : text_duration((double)x->lost_ns, lost),
        !has_cost          ? ""
        : x->is_cost_bound ? ", cost at most "
                           : ", cost ",
        has_cost ? text_duration((double)x->cost_ns, cost) : "", text_score(x->score, score),
        text_count(x->n_vertices, calls), text_count(x->n_messages, messages));
}

static int put_close(struct run_report *r, uint32_t i, uint32_t k, bool *has_room)
{
    char address[96], caption[256];
    int64_t tree = r->close[k].tree;
    bool is_in = false;
    int rc;

    if (r->close[k].incident > 0)
        report_heading(r->out, 4, "Incident %lld and its head",
                       (long long)r->close[k].incident);
    else
        report_heading(r->out, 4, "The execution closely");
    rc = executions_tree(r->db, r->foi_id[i], tree, put_facts, r);
    if (rc == 0 && *has_room)
        rc = answers_add_execution(r->answers, r->foi_id[i], tree, &is_in);
    if (rc < 0)
        return rc;
    if (!is_in) {
        *has_room = false;
        report_text(r->out, "(It is not drawn: the report would be too large to send.)");
        return 0;
    }
    snprintf(address, sizeof address, "/fois/%lld/executions/%lld", (long long)r->foi_id[i],
             (long long)tree);
    snprintf(caption, sizeof caption,
             "Call paths by time; below, those of most executions with %s, at the same scale. "
             "\342\226\262 takes longer than %s, by 5 %% of the execution or more, or is rare.",
             r->are_few ? "the medians of their times" : "their typical times",
             r->are_few ? "the median" : "is typical");
    report_figure(r->out, "tree", address, caption);
    report_figure(r->out, "timeline", address,
                  "Around it on its rank, on those it waited for, numbered, and on those it "
                  "exchanged messages with.");
    return 0;
}

static int put_execution_details(struct run_report *r, uint32_t i)
{
    bool has_room = true;
    int rc = 0;

    for (uint32_t k = 0; k < r->n_close && rc == 0; k++) {
        fputs("<section class=\"closeup\">\n", r->out);
        rc = put_close(r, i, k, &has_room);
        fputs("</section>\n", r->out);
    }
    return rc;
}

/* ----------------------------------------------------------------------------------- ranks */

static void put_rank_picture(struct run_report *r, const struct rank_table *ranks, int64_t foi)
{
    const struct peers *peers = &ranks->peers;
    char address[64];
    bool is_in;

    if (peers->n > ANSWERS_MAX_PLACES || peers->n_compared < PEERS_MIN_PLACES)
        return;
    snprintf(address, sizeof address, "/fois/%lld/ranks", (long long)foi);
    answers_add(r->answers, address,
                ranks_to_json(&ranks->scoring, &ranks->why, peers, MAX_CELLS / peers->n),
                &is_in);
    if (is_in)
        report_figure(r->out, "ranks", address, "By rank, downwards, and time.");
}

static int put_ranks(struct run_report *r, uint32_t i)
{
    struct rank_table ranks;
    uint32_t n_more;
    char *text;
    int rc = rank_table_load(&ranks, r->run, r->foi_id[i], NULL);

    if (rc == 0) {
        report_heading(r->out, 3, "Ranks");
        text = rank_table_headline(&ranks);
        report_text(r->out, "%s", text);
        free(text);
        put_rank_picture(r, &ranks, r->foi_id[i]);
        if (ranks.peers.n_compared >= PEERS_MIN_PLACES) {
            table_print_html(rank_table_places(&ranks, r->settings->top, &n_more), r->out);
            if (n_more > 0)
                report_text(r->out, "and %u more", n_more);
        }
    }
    rank_table_release(&ranks);
    return rc;
}

/* --------------------------------------------------------------------------------- quality */

static int read_quality(sqlite3 *db, struct quality *quality)
{
    sqlite3_stmt *query;
    int rc = rundb_prepare(db, run_sql_show_quality, &query);

    *quality = (struct quality){{0}};
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW)
        for (int k = 0; k < QUALITY_N; k++)
            if (strcmp(rundb_text(query, 0), quality_name(k)) == 0)
                quality->n[k] += (uint64_t)sqlite3_column_int64(query, 2);
    return rundb_close_query(db, query, rc, "cannot read the quality of the trace");
}

static int put_quality(const struct run_report *r)
{
    struct clock_report clock = {
        .n_checked = (size_t)rundb_get(r->db, "order_checked"),
        .n_wrong_before = (size_t)rundb_get(r->db, "order_wrong_before"),
        .n_wrong_messages = (size_t)rundb_get(r->db, "order_wrong"),
        .worst_before_ns = rundb_get(r->db, "worst_before_ns"),
        .worst_ns = rundb_get(r->db, "worst_ns"),
    };
    struct quality quality;
    struct table *table;
    char text[256];
    int rc = read_quality(r->db, &quality);

    if (rc < 0)
        return rc;
    report_heading(r->out, 2, "Trace quality");
    table = reading_quality_table(&quality);
    if (table)
        table_print_html(table, r->out);
    else
        report_text(r->out, "Nothing was wrong with the trace.");
    reading_clock_text(&clock, text, sizeof text);
    if (*text)
        report_text(r->out, "%s", text);
    return 0;
}

/* ---------------------------------------------------------------------------------- all of it
 */

static int put_foi(struct run_report *r, uint32_t i)
{
    int rc;

    report_heading(r->out, 2, "%s", r->name[i]);
    r->n_close = 0;
    rc = put_headline(r, i);
    if (rc == 0)
        rc = put_overview(r, i);
    if (rc == 0)
        rc = put_list(r, i);
    if (rc == 0)
        rc = put_execution_details(r, i);
    return rc == 0 ? put_ranks(r, i) : rc;
}

int report_run(FILE *out, const struct settings *settings, struct answers *answers)
{
    struct run_report r = {.out = out,
                           .settings = settings,
                           .answers = answers,
                           .db = answers->worker.db,
                           .run = &answers->served.run};
    int rc = read_fois(&r);

    if (rc == 0)
        put_trace(&r);
    for (uint32_t i = 0; i < r.n_foi && rc == 0; i++)
        rc = put_foi(&r, i);
    if (r.n_more > 0)
        report_text(out, "and %u more functions of interest: --foi names one", r.n_more);
    if (rc == 0)
        rc = put_quality(&r);
    for (uint32_t i = 0; i < MAX_FOI; i++)
        free(r.name[i]);
    return rc < 0 ? rc : answers_finish(answers);
}

static void put_fact(struct table *table, const char *what, const char *text)
{
    if (text && *text) {
        table_cell(table, "%s", what);
        table_cell(table, "%s", text);
    }
}

/* What the trace says of the run: its command line, compilers, libraries, nodes. */
static void put_metadata(FILE *out, sqlite3 *db)
{
    struct table *table = table_new("ll", "the trace says of", "value");
    struct run_metadata metadata;

    if (run_metadata_load(&metadata, db) == 0)
        for (size_t i = 0; i < metadata.n && i < MAX_METADATA; i++)
            put_fact(table, metadata.at[i].key, metadata.at[i].value);
    table_print_html(table, out);
    if (metadata.n > MAX_METADATA)
        report_text(out, "and %zu more", metadata.n - MAX_METADATA);
    run_metadata_release(&metadata);
}

void report_made(FILE *out, const struct settings *settings, const struct answers *answers)
{
    struct table *table = table_new("ll", "what", "which");
    sqlite3 *db = answers ? answers->worker.db : NULL;
    static const char *const facts[][2] = {{"run made", "created"},
                                           {"by snag", "snag"},
                                           {"as", "command"},
                                           {"trace", "trace"},
                                           {"its format", "source"}};
    char *command = command_line(settings), now[TEXT_UTC_SIZE];

    for (size_t i = 0; db && i < sizeof facts / sizeof *facts; i++) {
        char *text = rundb_get_text(db, facts[i][1]);

        put_fact(table, facts[i][0], text);
        free(text);
    }
    put_fact(table, "report made", text_utc_now(now));
    put_fact(table, "by snag", SNAG_VERSION);
    put_fact(table, "as", command);
    report_heading(out, 2, "How it was made");
    table_print_html(table, out);
    if (db)
        put_metadata(out, db);
    free(command);
}
