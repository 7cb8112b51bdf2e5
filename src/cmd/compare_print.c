/* One headline for all three, and the same tables in two forms. */
#include "cmd/compare_print.h"

#include "base/mem.h"
#include "base/text.h"
#include "cmd/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HEADLINE_SIZE 4096
#define HEADLINE_PATHS 3u
#define CELL_SIZE (2 * COMPARE_NAME_SIZE)

/* ------------------------------------------------------------------------------ sentences */

static double change_of(const struct compare_change *x)
{
    return x->ns[COMPARE_AFTER] - x->ns[COMPARE_BEFORE];
}

static bool is_one_run(const struct comparison *c)
{
    return c->n_runs[0] == 1 && c->n_runs[1] == 1;
}

static bool is_sure(enum compare_verdict verdict)
{
    return verdict != COMPARE_SAME && verdict != COMPARE_UNSURE;
}

/* "caller > function", which says enough where there is space for a line only. */
static const char *last_two(const char *name)
{
    const char *from = name;

    for (const char *at = name, *next; (next = strstr(at, " > ")) != NULL; at = next + 3)
        from = at;
    return from;
}

static char *say_share(const struct comparison *c, double ns, char out[TEXT_SIZE])
{
    snprintf(out, TEXT_SIZE, "%+.1f %%", 100 * ns / c->whole.ns[COMPARE_BEFORE]);
    return out;
}

static char *say_time(double ns, char out[TEXT_SIZE])
{
    char size[TEXT_SIZE];

    snprintf(out, TEXT_SIZE, "%c%.20s", ns < 0 ? '-' : '+', text_duration(fabs(ns), size));
    return out;
}

static char *say_interval(const struct compare_change *x, char out[TEXT_SIZE])
{
    double before = x->ns[COMPARE_BEFORE];

    if (isnan(x->low_ns) || isinf(x->low_ns) || isinf(x->high_ns) || before == 0)
        snprintf(out, TEXT_SIZE, "unknown");
    else
        snprintf(out, TEXT_SIZE, "%+.1f to %+.1f", 100 * x->low_ns / before,
                 100 * x->high_ns / before);
    return out;
}

/* Where most of a change is matters where there is one. */
static bool says_kind(const struct compare_path *x)
{
    return x->kind != COMPARE_NONE && is_sure(x->own.verdict) &&
           x->own.verdict != COMPARE_MOVED;
}

static size_t say_path(const struct comparison *c, const struct compare_path *x, char *out,
                       size_t size)
{
    char name[COMPARE_NAME_SIZE], kind[COMPARE_NAME_SIZE], share[TEXT_SIZE];
    double calls = x->calls[COMPARE_AFTER] - x->calls[COMPARE_BEFORE];
    int n = snprintf(out, size, "%.300s %s", last_two(compare_path_name(c, x->path, name)),
                     say_share(c, change_of(&x->own), share));

    if (x->own.verdict >= COMPARE_NEW)
        n += snprintf(out + n, size - (size_t)n, ", %s", compare_verdict_name(x->own.verdict));
    else if (fabs(calls) > 0.05 * x->calls[COMPARE_BEFORE])
        n += snprintf(out + n, size - (size_t)n, ", %.3g calls %s", fabs(calls),
                      calls > 0 ? "more" : "fewer");
    if (says_kind(x))
        n += snprintf(out + n, size - (size_t)n, ", of it %s %.300s",
                      say_share(c, x->kind_ns, share), compare_kind_name(c, x->kind, kind));
    return (size_t)n;
}

/* Kinds of execution that changed otherwise than all of them did. */
static size_t say_kinds(const struct comparison *c, char *out, size_t size)
{
    char name[COMPARE_NAME_SIZE];
    size_t n = 0;

    for (uint32_t k = 0; k < c->n_kinds; k++) {
        const struct compare_change *x = &c->kind[k].duration;

        if (is_sure(x->verdict) && x->verdict != c->whole.verdict && n + 700 < size)
            n += (size_t)snprintf(out + n, size - n, "; executions %.500s: %+.1f %%, %s",
                                  compare_kind_name(c, k, name), 100 * compare_fraction(x),
                                  compare_verdict_name(x->verdict));
    }
    return n;
}

/* "+12.4 % (95 %: +10.1 to +14.8), slower: a > b +9.1 %, of it +8.8 % with c; ..." */
static void say_headline(const struct comparison *c, char out[HEADLINE_SIZE])
{
    char interval[TEXT_SIZE];
    size_t n = (size_t)snprintf(
        out, HEADLINE_SIZE, "%+.1f %% (95 %%%s: %s), %s", 100 * compare_fraction(&c->whole),
        is_one_run(c) ? " within one run" : "", say_interval(&c->whole, interval),
        compare_verdict_name(c->whole.verdict));

    for (uint32_t i = 0; i < c->n_paths && i < HEADLINE_PATHS; i++) {
        if (!is_sure(c->path[i].own.verdict))
            break;
        n += (size_t)snprintf(out + n, HEADLINE_SIZE - n, "%s ", i == 0 ? ":" : ";");
        n += say_path(c, &c->path[i], out + n, HEADLINE_SIZE - n);
    }
    say_kinds(c, out + n, HEADLINE_SIZE - n);
}

/* What is to be known before any of it is believed, a line each. */
static void each_note(const struct comparison *c, void (*say)(const char *text))
{
    char text[256], name[TEXT_SIZE];

    if (is_one_run(c))
        say("one run on each side: how much runs differ anyway is not known; several of --base "
            "would tell");
    if (c->runs_needed > 0) {
        snprintf(text, sizeof text, "about %s runs on each side would tell",
                 text_count(c->runs_needed, name));
        say(text);
    }
    if (c->has_other_ranks) {
        snprintf(text, sizeof text, "not comparable: other numbers of ranks (%u, %u)",
                 c->n_ranks_of[0], c->n_ranks_of[1]);
        say(text);
    } else if (c->has_other_locations) {
        snprintf(text, sizeof text, "not comparable: other numbers of threads (%u, %u)",
                 c->n_locations_of[0], c->n_locations_of[1]);
        say(text);
    }
    if (c->has_other_counts)
        say("other numbers of executions: another input, perhaps");
    if (c->unmatched > 0.2) {
        snprintf(text, sizeof text,
                 "%.0f %% of the time is on paths that only one side has: --rename A=B says "
                 "what has another name",
                 100 * c->unmatched);
        say(text);
    }
}

/* ---------------------------------------------------------------------------------- tables */

/* A table as it is, or in Markdown. */
struct grid {
    struct table *table; /* NULL: Markdown */
    uint32_t column, n_columns;
};

static void cell(struct grid *grid, const char *text)
{
    char escaped[HEADLINE_SIZE + CELL_SIZE];
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

static struct grid grid_of(const char *columns, const char *const *headings, bool is_markdown)
{
    struct grid grid = {.n_columns = (uint32_t)strlen(columns)};

    if (!is_markdown) {
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
    if (grid->table)
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
    cell(grid, say_share(c, change_of(&x->own), text));
    cell(grid, say_time(change_of(&x->own), text));
    cell(grid, text_duration(x->own.ns[0], text));
    cell(grid, text_duration(x->own.ns[1], text));
    snprintf(text, sizeof text, "%.3g", x->calls[0]);
    cell(grid, text);
    snprintf(text, sizeof text, "%.3g", x->calls[1]);
    cell(grid, text);
    cell(grid, says_kind(x) ? compare_kind_name(c, x->kind, name) : "");
}

static void print_paths(const struct comparison *c, uint32_t most, bool is_markdown)
{
    static const char *const headings[] = {"path",  "verdict", "of all", "change", "before",
                                           "after", "calls",   "now",    "mostly"};
    struct grid grid = grid_of("llrrrrrrl", headings, is_markdown);

    for (uint32_t i = 0; i < c->n_paths && (most == 0 || i < most); i++)
        path_row(c, &c->path[i], &grid);
    grid_end(&grid);
    if (most > 0 && c->n_paths > most && is_markdown)
        fputc('\n', stdout);
    if (most > 0 && c->n_paths > most)
        print("and %u more\n", c->n_paths - most);
}

static void print_kinds(const struct comparison *c, bool is_markdown)
{
    static const char *const headings[] = {"executions", "verdict", "change",
                                           "share",      "now",     "most of it"};
    struct grid grid;
    char text[CELL_SIZE], name[COMPARE_NAME_SIZE], share[TEXT_SIZE];

    if (c->n_kinds < 2)
        return;
    print("\n");
    grid = grid_of("llrrrl", headings, is_markdown);
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
        if (x->path != COMPARE_NONE && is_sure(x->duration.verdict))
            snprintf(text, sizeof text, "%s %s", compare_path_name(c, x->path, name),
                     say_time(x->path_ns, share));
        cell(&grid, text);
    }
    grid_end(&grid);
}

static void print_ranks(const struct comparison *c)
{
    uint32_t n = 0;
    char time[TEXT_SIZE];

    for (uint32_t i = 0; i < c->n_ranks; i++)
        if (c->rank[i].stands_out && n++ < 5)
            print("%srank %u %s", n == 1 ? "\nown work of an execution changed most on " : ", ",
                  c->rank[i].rank, say_time(c->rank[i].own_ns[1] - c->rank[i].own_ns[0], time));
    if (n > 0)
        print("%s\n", n > 5 ? " and more" : "");
}

static void print_durations(const struct comparison *c, bool is_markdown)
{
    static const char *const headings[] = {"",    "mean",       "median", "p95",
                                           "p99", "executions", "in all"};
    static const char *const sides[] = {"before", "after"};
    struct grid grid = grid_of("lrrrrrr", headings, is_markdown);
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

/* ----------------------------------------------------------------------------------- text */

static void note_as_text(const char *text)
{
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
    char headline[HEADLINE_SIZE], name[COMPARE_NAME_SIZE];

    say_headline(c, headline);
    print("%s: %s\n", compare_path_name(c, 0, name), headline);
    print("%u run%s before, %u after\n", c->n_runs[0], text_plural(c->n_runs[0]), c->n_runs[1]);
    each_note(c, note_as_text);
    print_gate(gate, "");
    print("\n");
    print_durations(c, false);
    print("\n");
    print_paths(c, most, false);
    print_kinds(c, false);
    print_ranks(c);
}

/* ------------------------------------------------------------------------------- markdown */

static void note_as_item(const char *text)
{
    print("- %s\n", text);
}

void compare_print_markdown(const struct comparison *c, const struct compare_gate *gate,
                            uint32_t most)
{
    struct grid line = {.n_columns = 1};
    char headline[HEADLINE_SIZE], heading[HEADLINE_SIZE + COMPARE_NAME_SIZE];
    char foi[COMPARE_NAME_SIZE];
    const char *const headings[] = {heading};

    say_headline(c, headline);
    snprintf(heading, sizeof heading, "%s: %s", compare_path_name(c, 0, foi), headline);
    line = grid_of("l", headings, true);
    snprintf(heading, sizeof heading, "%u run%s before, %u after", c->n_runs[0],
             text_plural(c->n_runs[0]), c->n_runs[1]);
    cell(&line, heading);
    print("\n");
    each_note(c, note_as_item);
    print_gate(gate, "- ");
    print("\n");
    print_durations(c, true);
    print("\n");
    print_paths(c, most, true);
    print_kinds(c, true);
    print_ranks(c);
}

/* ---------------------------------------------------------------------------------- JUnit */

/* In an attribute, or between tags. */
static void print_xml(const char *text)
{
    static const char *const entities[] = {"<&lt;", ">&gt;", "&&amp;", "\"&quot;"};
    char escaped[2 * HEADLINE_SIZE];
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
    char headline[HEADLINE_SIZE], now[TEXT_SIZE];
    struct tm utc;
    uint32_t n = gate->n > 0 ? gate->n : 1, n_beyond = 0;

    say_headline(c, headline);
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
