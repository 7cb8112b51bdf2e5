/* snag compare -- what changed between runs, and a gate for it. */
#include "analysis/compare.h"
#include "analysis/run_digest.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/compare_print.h"
#include "cmd/options.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "run/rundir.h"
#include "trace/region_name.h"
#include "view/compare_json.h"
#include "view/executions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct loaded {
    const char *path;
    dev_t device;
    ino_t inode;
};

struct comparing {
    const struct settings *settings;
    struct loaded *run;    /* [n_before + n_after] those before first */
    struct digest *digest; /* [n_before + n_after] */
    uint32_t n_before, n_after, n_loaded;
    struct compare_rename rename[LIST_MOST];
    char text[LIST_MOST][COMPARE_NAME_SIZE]; /* what the renames refer to */
    char foi[COMPARE_NAME_SIZE];             /* of the first run, its short name */
    struct compare_limit limit[LIST_MOST];
    struct compare_gate gate;
    struct comparison c;
};

/* ------------------------------------------------------------------------- what was said */

static int read_renames(struct comparing *x)
{
    const struct compare_settings *s = &x->settings->compare;

    for (uint32_t i = 0; i < s->rename.n; i++) {
        char *equals;

        snprintf(x->text[i], COMPARE_NAME_SIZE, "%s", s->rename.text[i]);
        equals = strchr(x->text[i], '=');
        if (equals == NULL || equals == x->text[i] || equals[1] == '\0')
            return err_set(ERR_USAGE, "--rename takes A=B, not '%s'", s->rename.text[i]);
        *equals = '\0';
        x->rename[i] = (struct compare_rename){x->text[i], equals + 1};
    }
    return 0;
}

/* "5%", "PATH:2ms", "PATH:5%": what stands behind the last colon is the limit. */
static int read_limits(struct comparing *x)
{
    const struct compare_settings *s = &x->settings->compare;

    for (uint32_t i = 0; i < s->limit.n; i++) {
        struct compare_limit *limit = &x->limit[i];
        const char *colon = strrchr(s->limit.text[i], ':'),
                   *number = colon ? colon + 1 : s->limit.text[i];
        uint64_t ns;

        limit->said = s->limit.text[i];
        if (colon)
            snprintf(limit->path, sizeof limit->path, "%.*s", (int)(colon - limit->said),
                     limit->said);
        if (option_share(number, &limit->share))
            continue;
        limit->share = 0;
        if (!text_parse_duration(number, &ns))
            return err_set(ERR_USAGE,
                           "--fail-on takes a limit such as 5%%, 'PATH:2ms' or 'PATH:5%%', not "
                           "'%s'",
                           limit->said);
        limit->ns = (double)ns;
    }
    x->gate = (struct compare_gate){x->limit, s->limit.n};
    return 0;
}

/* ------------------------------------------------------------------------------- loading */

static int check_once(struct comparing *x, const struct run *run)
{
    struct loaded *this = &x->run[x->n_loaded];
    struct stat stat;

    if (fstat(run->dir, &stat) < 0)
        return err_set(ERR_IO, "cannot look at '%s'", this->path);
    this->device = stat.st_dev;
    this->inode = stat.st_ino;
    for (uint32_t i = 0; i < x->n_loaded; i++)
        if (x->run[i].device == this->device && x->run[i].inode == this->inode)
            return err_set(ERR_USAGE, "'%s' and '%s' are one run", x->run[i].path, this->path);
    return 0;
}

/* What the function of interest of the first run is called in this one, in short. */
static const char *foi_name(const struct comparing *x)
{
    const struct digest *first = &x->digest[0];
    const char *name;

    if (x->n_loaded == 0)
        return x->settings->foi.n > 0 ? x->settings->foi.text[0] : NULL;
    name = first->names.name[first->foi];
    for (uint32_t i = 0; x->n_loaded >= x->n_before && i < x->settings->compare.rename.n; i++) {
        const char *from = digest_name(first, x->rename[i].from);

        if (from && strcmp(from, name) == 0)
            return x->rename[i].to;
    }
    return x->foi;
}

static void keep_foi(struct comparing *x)
{
    struct arena arena = {0};
    const struct digest *first = &x->digest[0];

    snprintf(x->foi, sizeof x->foi, "%s",
             region_name_short(first->names.name[first->foi], &arena));
    arena_release(&arena);
}

static int check_foi(const struct comparing *x, const char *name)
{
    const struct digest *d = &x->digest[x->n_loaded];
    const char *found = x->n_loaded > 0 ? digest_name(d, name) : NULL;

    if (x->n_loaded == 0 || (found && strcmp(d->names.name[d->foi], found) == 0))
        return 0;
    return err_set(ERR_NOT_FOUND, "the run has no function of interest '%s'", name);
}

static int load_run(struct comparing *x, const char *path)
{
    const char *name = foi_name(x);
    struct run run = {0};
    int64_t foi;
    int rc = run_open(&run, path, false);

    x->run[x->n_loaded].path = path;
    if (rc < 0 && fs_exists(path) && !rundir_is_run(path))
        rc = err_set(rc, "'%s' is no run; 'snag analyze %s' makes one of a trace", path, path);
    else if (rc == 0) {
        rc = check_once(x, &run);
        if (rc == 0 && x->settings->is_verified)
            rc = columns_verify(&run.columns);
        if (rc == 0)
            rc = executions_foi(run.db, name, &foi);
        if (rc == 0)
            rc = run_digest_load(&x->digest[x->n_loaded], &run, foi);
        if (rc == 0 && x->n_loaded == 0)
            keep_foi(x);
        if (rc == 0)
            rc = check_foi(x, name);
        if (rc < 0 && rc != ERR_USAGE)
            rc = err_set(rc, "%s: %s%s", path, err_message(),
                         rc == ERR_NOT_FOUND && x->n_loaded > 0
                             ? "; --rename A=B says what A is called there"
                             : "");
    }
    run_close(&run);
    x->n_loaded++;
    return rc;
}

static int load(struct comparing *x)
{
    const struct settings *s = x->settings;
    uint32_t n_base = s->compare.base.n, n_args = (uint32_t)s->n_args;
    int rc = 0;

    if (n_base + n_args < 2)
        return err_set(ERR_USAGE, "two runs are needed: snag compare BASE NEW");
    if (n_base + n_args > COMPARE_MOST_RUNS)
        return err_set(ERR_USAGE, "%u runs are too many, %u at most", n_base + n_args,
                       COMPARE_MOST_RUNS);
    x->n_before = n_base > 0 ? n_base : 1;
    x->n_after = n_base + n_args - x->n_before;
    x->run = mem_alloc(n_base + n_args, sizeof *x->run);
    x->digest = mem_alloc(n_base + n_args, sizeof *x->digest);
    for (uint32_t i = 0; i < n_base && rc == 0; i++)
        rc = load_run(x, s->compare.base.text[i]);
    for (uint32_t i = 0; i < n_args && rc == 0; i++)
        rc = load_run(x, s->args[i]);
    return rc;
}

/* ---------------------------------------------------------------------------------- gate */

static bool is_beyond(const struct compare_limit *limit, const struct compare_change *x)
{
    double change = x->ns[COMPARE_AFTER] - x->ns[COMPARE_BEFORE];
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

int cmd_compare(const struct settings *settings)
{
    struct comparing x = {.settings = settings};
    struct compare_opts opts = {.least = settings->compare.least,
                                .rename = x.rename,
                                .n_renames = settings->compare.rename.n};
    int rc = read_renames(&x);

    if (rc == 0)
        rc = read_limits(&x);
    if (rc == 0)
        rc = load(&x);
    if (rc == 0) {
        compare_runs(x.digest, x.n_before, x.digest + x.n_before, x.n_after, &opts, &x.c);
        rc = judge(&x);
    }
    if (rc == 0) {
        show(&x);
        rc = is_any_beyond(&x.gate) ? STATUS_BEYOND : STATUS_DONE;
    }
    compare_release(&x.c);
    for (uint32_t i = 0; i < x.n_loaded; i++)
        digest_release(&x.digest[i]);
    free(x.digest);
    free(x.run);
    return rc;
}
