/*
 * The function of interest is that of the first run: in the others it is looked for by its
 * identity, else by its short name, or by what --rename says it is called there.
 */
#include "cmd/compared.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/reading.h"
#include "cmd/settings.h"
#include "compare/run_history.h"
#include "compare/summary.h"
#include "compare/summary_pack.h"
#include "compare/trend.h"
#include "prov/prov_store.h"
#include "run/rundir.h"
#include "trace/region_name.h"
#include "view/executions.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TYPICAL_LAST 10u /* runs of a history */

/* ------------------------------------------------------------------------- what was said */

static int read_renames(struct compared *x)
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
    x->n_renames = s->rename.n;
    return 0;
}

/* What the function of interest of the first run is called where it is looked for now. */
static const char *foi_name(const struct compared *x)
{
    const struct summary *first = &x->summary[0];
    const char *name;

    if (x->n == 0)
        return settings_foi(x->settings);
    name = first->names.name[first->foi];
    for (uint32_t i = 0; !x->is_before && i < x->n_renames; i++) {
        const char *from = summary_name(first, x->rename[i].from);

        if (from && strcmp(from, name) == 0)
            return x->rename[i].to;
    }
    return x->foi;
}

/* ------------------------------------------------------------------------------ one more */

static struct summary *one_more(struct compared *x, const struct compared_run *run)
{
    mem_grow(&x->run, &x->run_cap, (size_t)x->n + 1);
    mem_grow(&x->summary, &x->summary_cap, (size_t)x->n + 1);
    x->run[x->n] = *run;
    x->summary[x->n] = (struct summary){0};
    return &x->summary[x->n];
}

static void keep_foi(struct compared *x)
{
    struct arena arena = {0};
    const struct summary *first = &x->summary[0];

    snprintf(x->foi, sizeof x->foi, "%s",
             region_name_short(first->names.name[first->foi], &arena));
    arena_release(&arena);
}

static bool is_same(const struct summary *a, const struct summary *b)
{
    bool is_so = a->n_executions == b->n_executions && a->time_ns == b->time_ns &&
                 a->n_paths == b->n_paths;

    for (uint32_t i = 0; is_so && i < a->n_paths; i++)
        is_so = a->path[i].time_ns == b->path[i].time_ns;
    return is_so;
}

/* One of those before. n_loaded  that there are: one more than are counted, while it is loaded
 */
static void leave_out(struct compared *x, uint32_t i, uint32_t n_loaded)
{
    uint32_t n_behind = n_loaded - i - 1;

    summary_release(&x->summary[i]);
    memmove(&x->summary[i], &x->summary[i + 1], n_behind * sizeof *x->summary);
    memmove(&x->run[i], &x->run[i + 1], n_behind * sizeof *x->run);
    x->n_before--;
    x->n--;
}

/* A new run may have been added to the history already: it is not compared with itself. */
static void leave_out_of_history(struct compared *x, const struct summary *new)
{
    for (uint32_t i = 0; i < x->n_before; i++) {
        if (x->run[i].number == 0 || !is_same(&x->summary[i], new))
            continue;
        leave_out(x, i, x->n + 1);
        return;
    }
}

/* How many runs of a history may be left out, as they are new. */
static uint32_t most_left_out(const struct compared *x)
{
    const struct settings *s = x->settings;

    return (uint32_t)s->n_args - (s->compare.base.n == 0);
}

static uint32_t last_of(const struct settings *s)
{
    return s->history.last > 0 ? s->history.last : TYPICAL_LAST;
}

/* Of each history that was before, those that --last says: some more were loaded, in case. */
static void keep_last(struct compared *x)
{
    for (uint32_t i = x->n_before; i-- > 0;) {
        const struct compared_run *run = &x->run[i];
        uint32_t n_later = 0;

        for (uint32_t k = i + 1; k < x->n_before; k++)
            n_later += x->run[k].number > 0 && fs_is_same(&x->run[k].file, &run->file);
        if (run->number > 0 && n_later >= last_of(x->settings))
            leave_out(x, i, x->n);
    }
}

static int check_number(const struct compared *x, uint32_t most)
{
    return x->n > most ? err_set(ERR_USAGE, "too many runs: %u at most", COMPARE_MAX_RUNS) : 0;
}

/* The summary behind the last one is in. `name` is what was asked for; of the first it is no
 * matter. */
static int accept(struct compared *x, const char *name)
{
    const struct summary *d = &x->summary[x->n];

    if (x->is_before)
        x->n_before++;
    else
        leave_out_of_history(x, d);
    d = &x->summary[x->n];
    if (x->n++ == 0)
        keep_foi(x);
    else if (!region_name_is(name, d->names.name[d->foi]))
        return err_set(ERR_NOT_FOUND, "the run has no function of interest '%s'; it has %s",
                       name, d->names.name[d->foi]);
    return check_number(x, COMPARE_MAX_RUNS + most_left_out(x));
}

static int check_once(const struct compared *x, const struct compared_run *run)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (fs_is_same(&x->run[i].file, &run->file) && x->run[i].number == run->number)
            return err_set(ERR_USAGE, "'%s' and '%s' are one run", x->run[i].path, run->path);
    return 0;
}

static int named(const struct compared *x, const char *path, int rc)
{
    if (strstr(err_message(), path))
        return rc; /* it says which */
    return err_set(
        rc, "%s: %s%s", path, err_message(),
        rc == ERR_NOT_FOUND && x->n > 0 ? "; --rename A=B says what A is called there" : "");
}

/* -------------------------------------------------------------------------------- a run */

/* Of several processes each reads some of it. */
static int verify(const struct compared *x, const struct columns *columns)
{
    unsigned me = process_group_me(x->process_group),
             size = process_group_size(x->process_group);
    int rc = me == 0 ? columns_verify_others(columns) : 0;

    for (uint32_t l = me; rc == 0 && l < columns->n_locations; l += size)
        rc = columns_verify_location(columns, l);
    return rc;
}

/* Of a run that is compared with the first, the same function, else what is called so. */
static int find_foi(const struct compared *x, const struct run *run, const char *name,
                    int64_t *foi)
{
    const struct summary *first = &x->summary[0];
    int rc = 0;

    *foi = 0;
    if (x->n > 0 && name == x->foi)
        rc = executions_foi_known(run->db, &run->defs, first->names.name[first->foi],
                                  settings_foi(x->settings), foi);
    return rc < 0 || *foi != 0 ? rc : executions_foi(run->db, name, foi);
}

static int look_at_run(struct compared *x, const struct run *run, const char *name,
                       bool is_named, struct compared_run *about)
{
    int rc = 0;

    if (fstat(run->dir, &about->file) < 0)
        return err_set(ERR_IO, "cannot look at '%s'", about->path);
    if (is_named)
        rc = check_once(x, about);
    if (rc == 0 && x->settings->is_verified)
        rc = verify(x, &run->columns);
    return rc == 0 ? find_foi(x, run, name, &about->foi) : rc;
}

/* A run directory at `place` that the user knows as `path`. What goes wrong with any of several
 * processes all learn in summary_of_run_load. */
static int load_run(struct compared *x, const char *path, const char *place)
{
    struct compared_run about = {.path = path};
    const char *name = foi_name(x);
    struct run run = {0};
    int rc = run_open(&run, place, false);
    int64_t foi;

    if (rc == 0)
        rc = look_at_run(x, &run, name, path == place, &about);
    foi = about.foi;
    if (path != place)
        about.foi = 0;
    rc = summary_of_run_load(one_more(x, &about), &run, foi, x->process_group, rc);
    if (rc == 0)
        rc = accept(x, name);
    if (rc < 0 && rc != ERR_USAGE)
        rc = named(x, path, rc);
    run_close(&run);
    return rc;
}

static int load_trace(struct compared *x, const char *path)
{
    char dir[FS_PATH_SIZE] = "", run[FS_PATH_SIZE];
    int rc = trace_run_make(x->settings, path, foi_name(x), dir);

    if (rc == 0)
        rc = fs_join(run, dir, TRACE_RUN_NAME);
    if (rc == 0)
        rc = load_run(x, path, run);
    trace_run_remove(dir);
    return rc;
}

/* ------------------------------------------------------------------ traces, by several */

/*
 * A trace is read and analysed by one process, into a directory of its own node; what the
 * others get is its summary. The first says which function is compared; after it each makes
 * those that are dealt to it, at the same time as the others.
 */
struct compared_made {
    bool is_done;
    struct err_kept result; /* of load_trace */
    struct pack summary;
};

/* As if this process were alone and had loaded nothing but what says which function it is. */
static void make_trace(const struct compared *x, const char *path, struct compared_made *made)
{
    struct settings alone = *x->settings;
    const char *name = foi_name(x);
    struct compared one = {.settings = &alone};

    alone.is_together = false;
    alone.is_quiet = true; /* it does not do the whole work, as launcher_look would warn */
    alone.foi.n = name != NULL;
    alone.foi.text[0] = name;
    log_info("compare", "'%s' is analysed by process %u of %u (%s)", path,
             process_group_me(x->process_group), process_group_size(x->process_group),
             process_group_host(x->process_group, process_group_me(x->process_group)));
    made->result = err_keep(load_trace(&one, path));
    if (made->result.code == 0)
        summary_pack(&made->summary, &one.summary[0]);
    made->is_done = true;
    compared_release(&one);
}

/* Everybody gets what process `owner` has made. */
static int hand_on(const struct compared *x, unsigned owner, struct compared_made *made)
{
    int32_t status = made->result.code > 0 ? made->result.code : 0;
    int rc = process_group_agree(x->process_group, status > 0 ? 0 : err_restore(&made->result));

    if (rc < 0)
        return rc;
    if (owner > 0 && process_group_me(x->process_group) == owner) {
        process_group_send(x->process_group, 0, &status, sizeof status);
        process_group_send_pack(x->process_group, 0, &made->summary);
    }
    if (owner > 0 && process_group_me(x->process_group) == 0) {
        process_group_receive(x->process_group, owner, &status, sizeof status);
        process_group_receive_pack(x->process_group, owner, &made->summary);
    }
    process_group_broadcast(x->process_group, &status, sizeof status);
    if (process_group_me(x->process_group) > 0)
        pack_release(&made->summary);
    process_group_broadcast_pack(x->process_group, &made->summary);
    return status;
}

static int load_made(struct compared *x, const char *path, unsigned owner,
                     struct compared_made *made)
{
    struct compared_run about = {.path = path};
    const char *name = foi_name(x);
    int rc;

    if (process_group_me(x->process_group) == owner && !made->is_done)
        make_trace(x, path, made);
    rc = hand_on(x, owner, made);
    if (rc == 0)
        rc = summary_unpack(one_more(x, &about), &made->summary);
    pack_release(&made->summary);
    if (rc == 0)
        rc = accept(x, name);
    return rc < 0 && rc != ERR_USAGE ? named(x, path, rc) : rc;
}

/* ----------------------------------------------------------------------------- a history */

struct history_choice {
    struct history history;
    struct compared_run about;
    struct history_list runs;
    size_t n; /* the first of them */
};

static int load_chosen(struct compared *x, struct history_choice *c)
{
    int rc = 0;

    for (size_t i = 0; i < c->n && rc == 0; i++) {
        const struct listed_run *run = &c->runs.run[i];

        c->about.number = run->id;
        rc = history_load(&c->history, run->id, run->foi, one_more(x, &c->about));
        if (rc == 0)
            rc = accept(x, foi_name(x));
    }
    return rc;
}

/* The history is an argument, too: its last run is what is new. */
static bool is_also_new(const struct compared *x, const struct compared_run *about)
{
    const struct settings *s = x->settings;
    struct stat file;
    bool is_so = s->compare.base.n == 0;

    for (int i = 0; i < s->n_args; i++)
        is_so |= stat(s->args[i], &file) == 0 && fs_is_same(&file, &about->file);
    return is_so;
}

/* What is new is the last run of a history, what was before the last few before that. */
static int choose_runs(struct compared *x, struct history_choice *c)
{
    const struct settings *s = x->settings;
    struct history_tags tags = {0};
    const char *name = foi_name(x);
    struct history_filter filter = {.foi = name, .tags = &tags, .last = 1, .is_one = true};
    bool has_new = x->is_before && is_also_new(x, &c->about);
    int rc = tags_read(&s->history.tag, &tags);

    if (name && name == x->foi) {
        filter.foi = settings_foi(x->settings);
        filter.identity = x->summary[0].names.name[x->summary[0].foi];
    }
    if (x->is_before)
        filter.last = last_of(s) + most_left_out(x) + has_new;
    if (rc == 0)
        rc = history_list_load(&c->history, &filter, &c->runs);
    history_tags_release(&tags);
    if (rc < 0)
        return rc;
    c->n = c->runs.n - (has_new && c->runs.n > 0);
    if (c->n == 0)
        return err_set(
            ERR_NOT_FOUND,
            "the history has no such runs%s%s: snag history list shows those there are",
            name ? " of " : "", name ? name : "");
    return 0;
}

static int load_history(struct compared *x, const char *path)
{
    struct history_choice c = {.about = {.path = path}};
    int rc = history_open(&c.history, path, DATABASE_READ);

    if (rc == 0 && stat(path, &c.about.file) != 0)
        c.about.file = (struct stat){0};
    if (rc == 0)
        rc = choose_runs(x, &c);
    if (rc == 0)
        rc = load_chosen(x, &c);
    if (rc < 0 && rc != ERR_USAGE)
        rc = named(x, path, rc);
    history_list_release(&c.runs);
    history_close(&c.history);
    return rc;
}

/* ------------------------------------------------------------------------------- all */

/* What cannot be looked into, or is a store, is no trace either: a run's words say what it is.
 */
static bool is_no_trace(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return strchr(path, ':') == NULL;
    return (S_ISDIR(info.st_mode) && access(path, R_OK | X_OK) != 0) || prov_store_is(path);
}

enum comparand { A_HISTORY, A_RUN, A_TRACE };

static uint8_t source_of(const char *path)
{
    if (history_is(path))
        return A_HISTORY;
    return rundir_is_run(path) || is_no_trace(path) ? A_RUN : A_TRACE;
}

/* The same for all processes, or it is an error. */
static int agree_on_source(const struct compared *x, const char *path, uint8_t *source)
{
    uint8_t own = *source;
    int rc = 0;

    process_group_broadcast(x->process_group, source, sizeof *source);
    if (own != *source)
        rc = err_set(ERR_NOT_FOUND, "'%s' is not the same here as for process 0", path);
    return process_group_agree(x->process_group, rc);
}

/* What is loaded: --base, then the arguments. */
struct named_source {
    const char *path;
    bool is_before;
};

static struct named_source nth_source(const struct settings *s, uint32_t i)
{
    uint32_t n_base = s->compare.base.n;

    if (i < n_base)
        return (struct named_source){s->compare.base.text[i], true};
    return (struct named_source){s->args[i - n_base], n_base == 0 && i == 0};
}

static unsigned owner_of(const struct compared *x, uint32_t i)
{
    return i % process_group_size(x->process_group);
}

/* Those that are this process's to make. */
static void make_traces(struct compared *x, uint32_t n)
{
    for (uint32_t i = 1; x->process_group && i < n; i++) {
        struct named_source a = nth_source(x->settings, i);

        x->is_before = a.is_before;
        if (owner_of(x, i) == process_group_me(x->process_group) &&
            source_of(a.path) == A_TRACE)
            make_trace(x, a.path, &x->made[i]);
    }
}

static int load_one(struct compared *x, uint32_t i)
{
    struct named_source a = nth_source(x->settings, i);
    uint8_t source = source_of(a.path);
    int rc = agree_on_source(x, a.path, &source);

    x->is_before = a.is_before;
    if (rc < 0)
        return rc;
    if (source == A_HISTORY)
        return process_group_agree(x->process_group, load_history(x, a.path));
    if (source == A_RUN)
        return load_run(x, a.path, a.path);
    return x->process_group ? load_made(x, a.path, owner_of(x, i), &x->made[i])
                            : load_trace(x, a.path);
}

/* A history alone is both what was before and what is new. */
static int load_all(struct compared *x, uint32_t n, bool is_history)
{
    int rc = 0;

    if (x->process_group)
        x->made = mem_alloc(n, sizeof *x->made);
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        rc = load_one(x, i);
        if (rc == 0 && i == 0)
            make_traces(x, n);
    }
    x->is_before = false;
    if (rc == 0 && is_history)
        rc = process_group_agree(x->process_group, load_history(x, x->settings->args[0]));
    for (uint32_t i = 0; x->made && i < n; i++) {
        err_kept_release(&x->made[i].result);
        pack_release(&x->made[i].summary);
    }
    free(x->made);
    x->made = NULL;
    return rc;
}

/* Runs of a history that are of two kinds are no measure for a third. Of few runs it can hardly be
 * tested whether they are; a gate that was made useless by them is worse than a warning too many. */
static void warn_of_change(const struct compared *x)
{
    struct change_point *change = mem_alloc(x->n_before + 1, sizeof *change);
    double *mean = mem_alloc(x->n_before, sizeof *mean);
    uint32_t n_changes, at = 0;

    for (uint32_t i = 0; i < x->n_before; i++)
        mean[i] = x->summary[i].time_ns / x->summary[i].n_executions;
    n_changes = change_points_find(mean, x->n_before, CHANGE_POINTS_CHANCE, change);
    if (n_changes > 0)
        at = change[n_changes - 1].at;
    else if (change_point_suspect(mean, x->n_before, CHANGE_POINTS_MIN_VALUES, change))
        at = change->at;
    if (at > 0 && x->run[at].number > 0)
        log_warn("compare",
                 "the base runs %schanged among themselves, at number %lld of '%s': --last %u "
                 "takes those since then",
                 n_changes > 0 ? "" : "seem to have ", (long long)x->run[at].number,
                 x->run[at].path, x->n_before - at);
    free(change);
    free(mean);
}

static bool has_name(const struct compared *x, uint32_t begin, uint32_t end, const char *name)
{
    bool has = false;

    for (uint32_t i = begin; i < end && !has; i++)
        has = summary_name(&x->summary[i], name) != NULL;
    return has;
}

/* A gate that keeps a name for long may meet runs that have it no more: no error, but said. */
static void warn_of_renames(const struct compared *x)
{
    for (uint32_t i = 0; i < x->n_renames; i++) {
        const struct compare_rename *rename = &x->rename[i];
        const char *missing = !has_name(x, 0, x->n_before, rename->from)    ? rename->from
                              : !has_name(x, x->n_before, x->n, rename->to) ? rename->to
                                                                            : NULL;

        if (missing)
            log_warn("compare", "--rename %s=%s: the runs %s have no function '%s'",
                     rename->from, rename->to, missing == rename->from ? "before" : "after",
                     missing);
    }
}

static int load_arguments(struct compared *x)
{
    const struct settings *s = x->settings;
    uint32_t n_base = s->compare.base.n, n_args = (uint32_t)s->n_args;
    bool is_history = n_base == 0 && n_args == 1 && history_is(s->args[0]);
    int rc = 0;

    if (n_base + n_args < 2 && !is_history)
        return err_set(ERR_USAGE, "two runs are needed: snag compare BASE NEW");
    rc = load_all(x, n_base + n_args, is_history);
    if (rc == 0 && x->n_before == 0)
        rc = err_set(ERR_NOT_FOUND, "there is nothing to compare with but the run itself");
    if (rc == 0) {
        keep_last(x);
        rc = check_number(x, COMPARE_MAX_RUNS);
    }
    if (rc == 0 && process_group_me(x->process_group) == 0) {
        warn_of_change(x);
        warn_of_renames(x);
    }
    return rc;
}

int compared_load(struct compared *x, const struct settings *settings,
                  struct process_group *process_group)
{
    int rc;

    *x = (struct compared){.settings = settings, .process_group = process_group};
    rc = read_renames(x);
    return rc == 0 ? load_arguments(x) : rc;
}

void compared_release(struct compared *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        summary_release(&x->summary[i]);
    free(x->summary);
    free(x->run);
    *x = (struct compared){0};
}

void compared_compare(const struct compared *x, struct comparison *out)
{
    const struct compare_opts opts = {
        .least = x->settings->compare.least, .rename = x->rename, .n_renames = x->n_renames};

    compare_runs(x->summary, x->n_before, x->summary + x->n_before, x->n - x->n_before, &opts,
                 out);
}
