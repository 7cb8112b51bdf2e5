/*
 * snag compare -- what changed between runs, and a gate for it.
 *
 * Text, Markdown, JUnit and a page have one headline; the first two and the page have the same
 * tables, in three forms. The gate of --fail-on is judged before anything is said.
 */
#include "cmd/cmd_compare.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/error_bound.h"
#include "base/mem.h"
#include "base/process_group.h"
#include "base/text.h"
#include "cmd/cmd_report.h"
#include "cmd/commands.h"
#include "cmd/compared.h"
#include "cmd/launcher.h"
#include "cmd/options.h"
#include "cmd/print.h"
#include "view/compare_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Whether a limit is kept; of several paths the last of these that one of them has. */
enum limit_verdict { LIMIT_KEPT, LIMIT_UNDECIDED, LIMIT_BEYOND };

/* What --fail-on says: of the whole, or of the path and those that end like it, each alone. */
struct compare_limit {
    const char *said;
    char path[COMPARE_NAME_SIZE]; /* "": the whole */
    double share, ns;             /* one of them, the other 0 */
    uint32_t n_paths;             /* that are meant; 0: the whole */
    enum limit_verdict verdict;
};

struct compare_gate {
    struct compare_limit *limit; /* [n] */
    uint32_t n;
};

static const char *const limit_verdict_name[] = {"kept", "undecided", "beyond"};
static const char *const limit_verdict_text[] = {"kept", "not decided: inconclusive",
                                                 "slower beyond it"};

#define MAX_FUNCTIONS 5u
#define CELL_SIZE (2 * COMPARE_NAME_SIZE)

/* ---------------------------------------------------------------------------------- tables */

/* As text or in Markdown on standard output, or in a page. */
struct form {
    bool is_markdown;
    FILE *html; /* of the page, or NULL */
};

/* A table in one of these. */
struct grid {
    const struct form *form;
    struct table *table; /* NULL: Markdown */
    uint32_t column, n_columns;
};

static void put_line(const struct form *form, const char *text)
{
    if (form->html)
        report_text(form->html, "%s", text);
    else
        print("%s\n", text);
}

/* Between tables. */
static void put_gap(const struct form *form)
{
    if (form->html == NULL)
        print("\n");
}

static void cell(struct grid *grid, const char *text)
{
    char escaped[COMPARE_HEADLINE_SIZE + CELL_SIZE];
    size_t n = 0;

    if (grid->table) {
        table_cell(grid->table, "%s", text);
        return;
    }
    for (; *text && n + 2 < sizeof escaped; text++) {
        if (strchr("|<>`*_\\[]", *text))
            escaped[n++] = '\\';
        escaped[n++] = *text;
    }
    escaped[n] = '\0';
    print("| %s", escaped);
    grid->column = (grid->column + 1) % grid->n_columns;
    fputs(grid->column == 0 ? " |\n" : " ", stdout);
}

static struct grid grid_of(const char *columns, const char *const *headings,
                           const struct form *form)
{
    struct grid grid = {.form = form, .n_columns = (uint32_t)strlen(columns)};

    if (!form->is_markdown) {
        grid.table = table_new_from(columns, headings);
        return grid;
    }
    for (uint32_t i = 0; i < grid.n_columns; i++)
        cell(&grid, headings[i]);
    for (uint32_t i = 0; i < grid.n_columns; i++)
        print("|%s", columns[i] == 'r' ? " ---: " : " --- ");
    print("|\n");
    return grid;
}

static void grid_end(struct grid *grid)
{
    if (grid->table && grid->form->html)
        table_print_html(grid->table, grid->form->html);
    else if (grid->table)
        table_print(grid->table, stdout);
}

static void path_row(const struct comparison *c, const struct compare_path *x,
                     struct grid *grid)
{
    char text[CELL_SIZE], name[COMPARE_NAME_SIZE], from[COMPARE_NAME_SIZE];

    compare_path_name(c, x->path, name);
    if (x->from != COMPARE_NONE)
        snprintf(text, sizeof text, "%s (was %.900s)", name,
                 compare_path_name(c, x->from, from));
    else
        snprintf(text, sizeof text, "%s%s", name, x->is_waiting ? " (may wait)" : "");
    cell(grid, text);
    cell(grid, compare_verdict_word(x->own.verdict));
    cell(grid, compare_share_text(c, compare_difference(&x->own), text));
    cell(grid, compare_time_text(compare_difference(&x->own), text));
    cell(grid, text_duration(x->own.ns[0], text));
    cell(grid, text_duration(x->own.ns[1], text));
    snprintf(text, sizeof text, "%.3g", x->calls[0]);
    cell(grid, text);
    snprintf(text, sizeof text, "%.3g", x->calls[1]);
    cell(grid, text);
    cell(grid, compare_kind_is_said(x) ? compare_kind_name(c, x->kind, name) : "");
}

static void print_paths(const struct comparison *c, uint32_t most, const struct form *form)
{
    static const char *const headings[] = {"path",  "verdict", "of all", "change", "before",
                                           "after", "calls",   "now",    "mostly"};
    struct grid grid = grid_of("llrrrrrrl", headings, form);
    char more[TEXT_SIZE];

    for (uint32_t i = 0; i < c->n_paths && (most == 0 || i < most); i++)
        path_row(c, &c->path[i], &grid);
    grid_end(&grid);
    if (most == 0 || c->n_paths <= most)
        return;
    if (form->is_markdown)
        put_gap(form);
    snprintf(more, sizeof more, "and %u more", c->n_paths - most);
    put_line(form, more);
}

static void print_kinds(const struct comparison *c, const struct form *form)
{
    static const char *const headings[] = {"executions", "verdict", "change",
                                           "share",      "now",     "most of it"};
    struct grid grid;
    char text[CELL_SIZE], name[COMPARE_NAME_SIZE], share[TEXT_SIZE];

    if (c->n_kinds < 2)
        return;
    put_gap(form);
    grid = grid_of("llrrrl", headings, form);
    for (uint32_t k = 0; k < c->n_kinds; k++) {
        const struct compare_kind *x = &c->kind[k];

        cell(&grid, compare_kind_name(c, k, name));
        cell(&grid, compare_verdict_word(x->duration.verdict));
        snprintf(text, sizeof text, "%+.1f %%", 100 * compare_fraction(&x->duration));
        cell(&grid, compare_kind_is_on_both(x) ? text : "-");
        for (int side = 0; side < 2; side++) {
            snprintf(text, sizeof text, "%.1f %%", 100 * x->share[side]);
            cell(&grid, text);
        }
        *text = '\0';
        if (x->path != COMPARE_NONE && compare_is_sure(x->duration.verdict))
            snprintf(text, sizeof text, "%s %s", compare_path_name(c, x->path, name),
                     compare_time_text(x->path_ns, share));
        cell(&grid, text);
    }
    grid_end(&grid);
}

static void print_ranks(const struct comparison *c, const struct form *form)
{
    uint32_t n = 0;
    char text[512], time[TEXT_SIZE];
    size_t at = 0;

    for (uint32_t i = 0; i < c->n_ranks; i++)
        if (c->rank[i].stands_out && n++ < 5)
            at += (size_t)snprintf(
                text + at, sizeof text - at, "%srank %u %s",
                n == 1 ? "own work of an execution changed most on " : ", ", c->rank[i].rank,
                compare_time_text(c->rank[i].own_ns[1] - c->rank[i].own_ns[0], time));
    if (n == 0)
        return;
    snprintf(text + at, sizeof text - at, "%s", n > 5 ? " and more" : "");
    put_gap(form);
    put_line(form, text);
}

static void print_durations(const struct comparison *c, const struct form *form)
{
    static const char *const headings[] = {"",    "mean",       "median", "p95",
                                           "p99", "executions", "in all"};
    static const char *const sides[] = {"before", "after"};
    struct grid grid = grid_of("lrrrrrr", headings, form);
    char text[TEXT_SIZE];

    for (int side = 0; side < 2; side++) {
        cell(&grid, sides[side]);
        cell(&grid, text_duration(c->whole.ns[side], text));
        for (uint32_t i = 0; i < SUMMARY_QUANTILES; i++)
            cell(&grid, text_duration(c->duration_ns[side][i], text));
        cell(&grid, text_count((uint64_t)llrint(c->n_executions[side]), text));
        cell(&grid, text_duration(c->time_ns[side], text));
    }
    grid_end(&grid);
}

#define NOT_KNOWN "not known"

static char *known_count(double n, char out[TEXT_SIZE])
{
    if (isnan(n))
        snprintf(out, TEXT_SIZE, NOT_KNOWN);
    else
        text_count((uint64_t)llrint(n), out);
    return out;
}

/* "3", or "1 now 3" where that is something else. */
static void count_cell(struct grid *grid, const double n[2])
{
    char before[TEXT_SIZE], after[TEXT_SIZE], text[CELL_SIZE];

    known_count(n[0], before);
    known_count(n[1], after);
    snprintf(text, sizeof text, "%s%s%s", before, strcmp(before, after) == 0 ? "" : " now ",
             strcmp(before, after) == 0 ? "" : after);
    cell(grid, text);
}

/* Of both sides: the change of a run's length is that of its critical path. */
static bool knows_critical(const struct comparison *c)
{
    bool knows[2] = {false, false};

    for (uint32_t i = 0; i < c->n_functions; i++)
        for (int side = 0; side < 2; side++)
            knows[side] |= c->function[i].critical_ns[side] > 0;
    return knows[0] && knows[1];
}

static void time_cell(struct grid *grid, double ns)
{
    char text[TEXT_SIZE];

    cell(grid, isnan(ns) ? NOT_KNOWN : text_duration(ns, text));
}

static void time_change_cell(struct grid *grid, const double ns[2])
{
    char text[TEXT_SIZE];

    cell(grid, isnan(ns[1] - ns[0]) ? NOT_KNOWN : compare_time_text(ns[1] - ns[0], text));
}

static void function_row(const struct comparison *c, const struct compare_function *x,
                         struct grid *grid)
{
    cell(grid, c->shown.shown[x->name]);
    time_change_cell(grid, x->own_ns);
    time_cell(grid, x->own_ns[0]);
    time_cell(grid, x->own_ns[1]);
    if (knows_critical(c))
        time_change_cell(grid, x->critical_ns);
    else
        cell(grid, "-");
    count_cell(grid, x->calls);
    count_cell(grid, x->locations);
}

/* What each function did in the whole run, whether in executions or not. */
static void print_functions(const struct comparison *c, const struct form *form)
{
    static const char *const headings[] = {"in the whole run",     "change", "before", "after",
                                           "on the critical path", "calls",  "threads"};
    char before[TEXT_SIZE], after[TEXT_SIZE], line[256];
    bool is_known = true;
    struct grid grid;

    if (c->n_functions == 0 || !(c->run_ns[0] > 0))
        return;
    snprintf(line, sizeof line,
             "the whole run took %s before, %s after (%+.1f %%); own time of functions on all "
             "threads:",
             text_duration(c->run_ns[0], before), text_duration(c->run_ns[1], after),
             100 * (c->run_ns[1] / c->run_ns[0] - 1));
    put_gap(form);
    put_line(form, line);
    if (form->is_markdown)
        put_gap(form);
    grid = grid_of("lrrrrrr", headings, form);
    for (uint32_t i = 0; i < c->n_functions && i < MAX_FUNCTIONS; i++) {
        function_row(c, &c->function[i], &grid);
        for (int side = 0; side < 2; side++)
            is_known &= compare_function_is_known(&c->function[i], side);
    }
    grid_end(&grid);
    if (!is_known)
        put_line(form, NOT_KNOWN ": the history keeps of some runs, added by an older snag, "
                                 "only functions with 0.01 % of the time or more");
}

static void print_all(const struct comparison *c, uint32_t most, const struct form *form)
{
    print_durations(c, form);
    put_gap(form);
    print_paths(c, most, form);
    print_kinds(c, form);
    print_ranks(c, form);
    print_functions(c, form);
}

/* ----------------------------------------------------------------------------------- text */

static void note_as_text(void *ctx, const char *text)
{
    (void)ctx;
    print("note: %s\n", text);
}

/* Of several paths that end as it says nobody adds up what they changed by. */
static void print_gate(const struct compare_gate *gate, const char *mark)
{
    for (uint32_t i = 0; i < gate->n; i++) {
        const struct compare_limit *limit = &gate->limit[i];

        print("%slimit %s: %s", mark, limit->said, limit_verdict_text[limit->verdict]);
        if (limit->n_paths > 1)
            print(" (%u call paths end so, each is judged alone)", limit->n_paths);
        print("\n");
    }
}

/* compare_print_text, _markdown, _junit -- on standard output.
 *   most  paths at most; 0: all */
static void compare_print_text(const struct comparison *c, const struct compare_gate *gate,
                               uint32_t most)
{
    const struct form form = {.is_markdown = false};
    char headline[COMPARE_HEADLINE_SIZE], name[COMPARE_NAME_SIZE];

    compare_headline(c, headline);
    print("%s: %s\n", compare_path_name(c, 0, name), headline);
    print("%u run%s before, %u after\n", c->n_runs[0], text_plural(c->n_runs[0]), c->n_runs[1]);
    compare_notes(c, note_as_text, NULL);
    print_gate(gate, "");
    print("\n");
    print_all(c, most, &form);
}

/* ------------------------------------------------------------------------------- markdown */

static void note_as_item(void *ctx, const char *text)
{
    (void)ctx;
    print("- %s\n", text);
}

static void compare_print_markdown(const struct comparison *c, const struct compare_gate *gate,
                                   uint32_t most)
{
    const struct form form = {.is_markdown = true};
    struct grid line = {.n_columns = 1};
    char headline[COMPARE_HEADLINE_SIZE], heading[COMPARE_HEADLINE_SIZE + COMPARE_NAME_SIZE];
    char foi[COMPARE_NAME_SIZE];
    const char *const headings[] = {heading};

    compare_headline(c, headline);
    snprintf(heading, sizeof heading, "%s: %s", compare_path_name(c, 0, foi), headline);
    line = grid_of("l", headings, &form);
    snprintf(heading, sizeof heading, "%u run%s before, %u after", c->n_runs[0],
             text_plural(c->n_runs[0]), c->n_runs[1]);
    cell(&line, heading);
    print("\n");
    compare_notes(c, note_as_item, NULL);
    print_gate(gate, "- ");
    print("\n");
    print_all(c, most, &form);
}

/* ----------------------------------------------------------------------------------- page */

static void note_as_paragraph(void *ctx, const char *text)
{
    report_text(ctx, "%s", text);
}

void compare_print_html(const struct comparison *c, FILE *out)
{
    char headline[COMPARE_HEADLINE_SIZE], name[COMPARE_NAME_SIZE];

    compare_headline(c, headline);
    report_text(out, "%s: %s", compare_path_name(c, 0, name), headline);
    report_text(out, "%u run%s before, %u after", c->n_runs[0], text_plural(c->n_runs[0]),
                c->n_runs[1]);
    compare_notes(c, note_as_paragraph, out);
}

void compare_print_html_tables(const struct comparison *c, uint32_t most, FILE *out)
{
    const struct form form = {.html = out};

    print_all(c, most, &form);
}

/* ---------------------------------------------------------------------------------- JUnit */

/* In an attribute, or between tags. */
static void print_xml(const char *text)
{
    static const char *const entities[] = {"<&lt;", ">&gt;", "&&amp;", "\"&quot;"};
    char escaped[2 * COMPARE_HEADLINE_SIZE];
    size_t n = 0;

    for (; *text && n + 8 < sizeof escaped; text++) {
        escaped[n++] = *text;
        for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
            if (*text == *entities[i])
                n += (size_t)sprintf(escaped + n - 1, "%s", entities[i] + 1) - 1;
    }
    escaped[n] = '\0';
    print("%s", escaped);
}

/* What is not decided was not tested. */
static void print_case(const struct comparison *c, const char *name, enum limit_verdict verdict,
                       const char *headline)
{
    char foi[COMPARE_NAME_SIZE];

    print("    <testcase classname=\"");
    print_xml(compare_path_name(c, 0, foi));
    print("\" name=\"");
    print_xml(name);
    if (verdict == LIMIT_KEPT) {
        print("\" time=\"0\"/>\n");
        return;
    }
    print("\" time=\"0\">\n      <%s message=\"",
          verdict == LIMIT_BEYOND ? "failure type=\"slower\"" : "skipped");
    if (verdict == LIMIT_UNDECIDED)
        print("%s: ", limit_verdict_text[verdict]);
    print_xml(headline);
    print("\"/>\n    </testcase>\n");
}

static void compare_print_junit(const struct comparison *c, const struct compare_gate *gate)
{
    char headline[COMPARE_HEADLINE_SIZE], now[TEXT_SIZE];
    struct tm utc;
    uint32_t n = gate->n > 0 ? gate->n : 1, n_of[LIMIT_BEYOND + 1] = {0};

    compare_headline(c, headline);
    for (uint32_t i = 0; i < gate->n; i++)
        n_of[gate->limit[i].verdict]++;
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S", gmtime_r(&(time_t){time(NULL)}, &utc));
    print("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
          "name=\"compare\" "
          "package=\"snag\" id=\"0\" timestamp=\"%s\" hostname=\"localhost\" tests=\"%u\" "
          "failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"0\">\n    <properties/>\n",
          now, n, n_of[LIMIT_BEYOND], n_of[LIMIT_UNDECIDED]);
    if (gate->n == 0)
        print_case(c, "no limit", LIMIT_KEPT, headline);
    for (uint32_t i = 0; i < gate->n; i++)
        print_case(c, gate->limit[i].said, gate->limit[i].verdict, headline);
    print("    <system-out>");
    print_xml(headline);
    print("</system-out>\n    <system-err/>\n  </testsuite>\n</testsuites>\n");
}

/* ------------------------------------------------------------------------------ the command */

struct comparing {
    const struct settings *settings;
    struct compared compared;
    struct compare_limit limit[MAX_REPEATED];
    struct compare_gate gate;
    char *limits_text; /* of a file of limits */
    struct comparison c;
    bool is_silent; /* another process tells what was found */
};

/* ------------------------------------------------------------------------- what was said */

/* "5%", "PATH:2ms", "PATH:5%": what stands behind the last colon is the limit. */
static int read_limit(struct comparing *x, const char *said)
{
    struct compare_limit *limit = &x->limit[x->gate.n];
    const char *colon = strrchr(said, ':'), *number = colon ? colon + 1 : said;
    uint64_t ns;

    if (x->gate.n == MAX_REPEATED)
        return err_set(ERR_USAGE, "too many limits: %d at most", MAX_REPEATED);
    *limit = (struct compare_limit){.said = said};
    if (colon)
        snprintf(limit->path, sizeof limit->path, "%.*s", (int)(colon - said), said);
    if (!option_share(number, &limit->share)) {
        limit->share = 0;
        if (!text_parse_duration(number, &ns))
            return err_set(ERR_USAGE,
                           "--fail-on takes a limit such as 5%%, 'PATH:2ms' or 'PATH:5%%', not "
                           "'%s'",
                           said);
        limit->ns = (double)ns;
    }
    x->gate.n++;
    return 0;
}

/* Cut off what follows a # at the begin or behind a space: names of C++ have others. */
static void cut_comment(char *line)
{
    for (char *at = line; (at = strchr(at, '#')) != NULL; at++)
        if (at == line || strchr(" \t", at[-1])) {
            *at = '\0';
            return;
        }
}

/* One a line, without comments; empty lines are none. Limits refer to the text. */
static int read_limits_of(struct comparing *x, const char *path)
{
    const void *data = NULL;
    char *line, *rest;
    size_t bytes = 0;
    int rc = fs_map(path, &data, &bytes);

    if (rc < 0)
        return rc;
    x->limits_text = rest = mem_resize(x->limits_text, bytes + 1, 1);
    if (bytes > 0)
        memcpy(rest, data, bytes);
    rest[bytes] = '\0';
    fs_unmap(data, bytes);
    while (rc == 0 && (line = strsep(&rest, "\n"))) {
        size_t n;

        cut_comment(line);
        line += strspn(line, " \t\r");
        for (n = strlen(line); n > 0 && strchr(" \t\r", line[n - 1]); n--)
            line[n - 1] = '\0';
        if (*line)
            rc = read_limit(x, line);
    }
    return rc < 0 ? err_set(rc, "%s: %s", path, err_message()) : 0;
}

static int read_limits(struct comparing *x)
{
    const struct word_list *said = &x->settings->compare.limit;
    int rc = 0;

    x->gate.limit = x->limit;
    for (uint32_t i = 0; i < said->n && rc == 0; i++)
        rc = *said->text[i] == '@' && x->limits_text == NULL
                 ? read_limits_of(x, said->text[i] + 1)
                 : read_limit(x, said->text[i]);
    return rc;
}

/* ---------------------------------------------------------------------------------- gate */

/* What is inconclusive keeps a limit only where all of its interval does. */
static void judge_change(const struct compare_change *x, struct compare_limit *limit)
{
    double change = error_bound_beyond(x->ns[COMPARE_AFTER] - x->ns[COMPARE_BEFORE], x->off_ns);
    double most = fmax(limit->ns, limit->share * x->ns[COMPARE_BEFORE]);
    enum limit_verdict verdict = LIMIT_KEPT;

    if (compare_is_sure(x->verdict) && change > most)
        verdict = LIMIT_BEYOND;
    else if (x->verdict == COMPARE_INCONCLUSIVE && !(x->high_ns <= most))
        verdict = LIMIT_UNDECIDED;
    if (verdict > limit->verdict)
        limit->verdict = verdict;
}

/* A path as it was said: all of it, or how it ends. */
static bool is_meant(const char *name, const char *said)
{
    size_t n = strlen(name), m = strlen(said);

    if (m > n || strcmp(name + n - m, said) != 0)
        return false;
    return m == n || (n - m >= 3 && strncmp(name + n - m - 3, " > ", 3) == 0);
}

static int judge_limit(const struct comparison *c, struct compare_limit *limit)
{
    char name[COMPARE_NAME_SIZE];

    if (*limit->path == '\0') {
        judge_change(&c->whole, limit);
        return 0;
    }
    for (uint32_t i = 0; i < c->n_paths; i++)
        if (is_meant(compare_path_name(c, c->path[i].path, name), limit->path)) {
            judge_change(&c->path[i].own, limit);
            limit->n_paths++;
        }
    if (limit->n_paths == 0)
        return err_set(ERR_NOT_FOUND, "no call path '%s': --all lists them", limit->path);
    return 0;
}

static int judge(struct comparing *x)
{
    int rc = 0;

    for (uint32_t i = 0; i < x->gate.n && rc == 0; i++)
        rc = judge_limit(&x->c, &x->limit[i]);
    return rc;
}

static bool is_any_beyond(const struct compare_gate *gate)
{
    bool is_any = false;

    for (uint32_t i = 0; i < gate->n; i++)
        is_any |= gate->limit[i].verdict == LIMIT_BEYOND;
    return is_any;
}

/* ------------------------------------------------------------------------------- command */

static json_t *gate_json(const struct compare_gate *gate)
{
    json_t *json = json_array();

    for (uint32_t i = 0; i < gate->n; i++) {
        json_t *limit = json_object();

        json_object_set_new(limit, "limit", json_text(gate->limit[i].said));
        json_object_set_new(limit, "is_beyond",
                            json_boolean(gate->limit[i].verdict == LIMIT_BEYOND));
        json_object_set_new(limit, "verdict",
                            json_text(limit_verdict_name[gate->limit[i].verdict]));
        json_array_append_new(json, limit);
    }
    return json;
}

static void show(const struct comparing *x)
{
    const struct settings *s = x->settings;
    const char *format = settings_format(s, "text");
    uint32_t most = s->is_all ? 0 : s->top;

    if (strcmp(format, "json") == 0) {
        json_t *json = compare_to_json(&x->c, s->is_all ? 0 : 1000);

        json_object_set_new(json, "limits", gate_json(&x->gate));
        print_json(json, true);
    } else if (strcmp(format, "markdown") == 0) {
        compare_print_markdown(&x->c, &x->gate, most);
    } else if (strcmp(format, "junit") == 0) {
        compare_print_junit(&x->c, &x->gate);
    } else {
        compare_print_text(&x->c, &x->gate, most);
    }
}

/* All processes load, number 0 compares. rc: of what came before. */
static int load(struct comparing *x, int rc)
{
    struct launched launched;
    struct process_group *process_group = NULL;
    int looked = launcher_look(x->settings, &launched);

    if (looked < 0)
        launcher_break_off(&launched, looked);
    if (launched.size > 1) {
        int joined =
            process_group_join(&process_group, launched.library, launcher_task(x->settings));

        rc = joined < 0 ? joined : process_group_agree(process_group, rc);
    }
    if (rc == 0)
        rc = compared_load(&x->compared, x->settings, process_group);
    x->is_silent = process_group_me(process_group) > 0;
    x->compared.process_group = NULL;
    process_group_leave(process_group);
    return rc;
}

int cmd_compare(const struct settings *settings)
{
    struct comparing x = {.settings = settings};
    int rc = load(&x, read_limits(&x));

    if (rc == 0 && !x.is_silent) {
        compared_compare(&x.compared, &x.c);
        rc = judge(&x);
    }
    if (rc == 0 && !x.is_silent) {
        show(&x);
        rc = is_any_beyond(&x.gate) ? STATUS_BEYOND : STATUS_DONE;
    }
    if (x.is_silent) /* number 0 says what went wrong */
        rc = STATUS_DONE;
    compare_release(&x.c);
    compared_release(&x.compared);
    free(x.limits_text);
    return rc;
}
