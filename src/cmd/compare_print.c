/* One headline for all four, and the same tables in three forms. */
#include "cmd/compare_print.h"

#include "base/mem.h"
#include "base/text.h"
#include "cmd/print.h"
#include "cmd/report_page.h"
#include "view/compare_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    cell(grid, compare_verdict_name(x->own.verdict));
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
        cell(&grid, compare_verdict_name(x->duration.verdict));
        snprintf(text, sizeof text, "%+.1f %%", 100 * compare_fraction(&x->duration));
        cell(&grid, text);
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
        for (uint32_t i = 0; i < DIGEST_QUANTILES; i++)
            cell(&grid, text_duration(c->duration_ns[side][i], text));
        cell(&grid, text_count((uint64_t)llrint(c->n_executions[side]), text));
        cell(&grid, text_duration(c->time_ns[side], text));
    }
    grid_end(&grid);
}

/* "3", or "1 now 3" where that is something else. */
static void count_cell(struct grid *grid, const double n[2])
{
    char before[TEXT_SIZE], after[TEXT_SIZE], text[CELL_SIZE];

    text_count((uint64_t)llrint(n[0]), before);
    text_count((uint64_t)llrint(n[1]), after);
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

/* What each function did in the whole run, whether in executions or not. */
static void print_functions(const struct comparison *c, const struct form *form)
{
    static const char *const headings[] = {"in the whole run",     "change", "before", "after",
                                           "on the critical path", "calls",  "threads"};
    char before[TEXT_SIZE], after[TEXT_SIZE], text[TEXT_SIZE], line[256];
    bool has_critical = knows_critical(c);
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
        const struct compare_function *x = &c->function[i];

        cell(&grid, c->shown.shown[x->name]);
        cell(&grid, compare_time_text(x->own_ns[1] - x->own_ns[0], text));
        cell(&grid, text_duration(x->own_ns[0], text));
        cell(&grid, text_duration(x->own_ns[1], text));
        cell(&grid, has_critical
                        ? compare_time_text(x->critical_ns[1] - x->critical_ns[0], text)
                        : "-");
        count_cell(&grid, x->calls);
        count_cell(&grid, x->locations);
    }
    grid_end(&grid);
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

static void print_gate(const struct compare_gate *gate, const char *mark)
{
    for (uint32_t i = 0; i < gate->n; i++)
        print("%slimit %s: %s\n", mark, gate->limit[i].said,
              gate->limit[i].is_beyond ? "slower beyond it" : "kept");
}

void compare_print_text(const struct comparison *c, const struct compare_gate *gate,
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

void compare_print_markdown(const struct comparison *c, const struct compare_gate *gate,
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

static void print_case(const struct comparison *c, const char *name, const char *failure)
{
    char foi[COMPARE_NAME_SIZE];

    print("    <testcase classname=\"");
    print_xml(compare_path_name(c, 0, foi));
    print("\" name=\"");
    print_xml(name);
    if (failure == NULL) {
        print("\" time=\"0\"/>\n");
        return;
    }
    print("\" time=\"0\">\n      <failure type=\"slower\" message=\"");
    print_xml(failure);
    print("\"/>\n    </testcase>\n");
}

void compare_print_junit(const struct comparison *c, const struct compare_gate *gate)
{
    char headline[COMPARE_HEADLINE_SIZE], now[TEXT_SIZE];
    struct tm utc;
    uint32_t n = gate->n > 0 ? gate->n : 1, n_beyond = 0;

    compare_headline(c, headline);
    for (uint32_t i = 0; i < gate->n; i++)
        n_beyond += gate->limit[i].is_beyond;
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S", gmtime_r(&(time_t){time(NULL)}, &utc));
    print("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite "
          "name=\"compare\" "
          "package=\"snag\" id=\"0\" timestamp=\"%s\" hostname=\"localhost\" tests=\"%u\" "
          "failures=\"%u\" errors=\"0\" time=\"0\">\n    <properties/>\n",
          now, n, n_beyond);
    if (gate->n == 0)
        print_case(c, "no limit", NULL);
    for (uint32_t i = 0; i < gate->n; i++)
        print_case(c, gate->limit[i].said, gate->limit[i].is_beyond ? headline : NULL);
    print("    <system-out>");
    print_xml(headline);
    print("</system-out>\n    <system-err/>\n  </testsuite>\n</testsuites>\n");
}
