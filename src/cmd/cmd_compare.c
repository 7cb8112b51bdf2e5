/* snag compare -- what changed between runs, and a gate for it. */
#include "base/crew.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/known.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/compare_print.h"
#include "cmd/compared.h"
#include "cmd/launched.h"
#include "cmd/options.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "compare/compare.h"
#include "view/compare_json.h"

#include <stdlib.h>
#include <string.h>

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

/* One a line; what follows a # is a comment, as are empty lines. Limits refer to the text. */
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

        line[strcspn(line, "#")] = '\0';
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

static bool is_beyond(const struct compare_limit *limit, const struct compare_change *x)
{
    double change = known_part(x->ns[COMPARE_AFTER] - x->ns[COMPARE_BEFORE], x->off_ns);
    bool is_sure = x->verdict != COMPARE_SAME && x->verdict != COMPARE_UNSURE;

    return is_sure && change > limit->ns && change > limit->share * x->ns[COMPARE_BEFORE];
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
    uint32_t n = 0;

    if (*limit->path == '\0') {
        limit->is_beyond = is_beyond(limit, &c->whole);
        return 0;
    }
    for (uint32_t i = 0; i < c->n_paths; i++)
        if (is_meant(compare_path_name(c, c->path[i].path, name), limit->path)) {
            limit->is_beyond |= is_beyond(limit, &c->path[i].own);
            n++;
        }
    if (n == 0)
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
        is_any |= gate->limit[i].is_beyond;
    return is_any;
}

/* ------------------------------------------------------------------------------- command */

static json_t *gate_json(const struct compare_gate *gate)
{
    json_t *json = json_array();

    for (uint32_t i = 0; i < gate->n; i++) {
        json_t *limit = json_object();

        json_object_set_new(limit, "limit", json_text(gate->limit[i].said));
        json_object_set_new(limit, "is_beyond", json_boolean(gate->limit[i].is_beyond));
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
    struct crew *crew = NULL;
    int looked = launched_look(x->settings, &launched);

    if (looked < 0)
        launched_break_off(&launched, looked);
    if (launched.size > 1) {
        int joined = crew_join(&crew, launched.library, launched_task(x->settings));

        rc = joined < 0 ? joined : crew_agree(crew, rc);
    }
    if (rc == 0)
        rc = compared_load(&x->compared, x->settings, crew);
    x->is_silent = crew_me(crew) > 0;
    x->compared.crew = NULL;
    crew_leave(crew);
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
