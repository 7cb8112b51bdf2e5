/*
 * Reading and finishing go through libotf2, which may crash where a disk is full, or on what it
 * cannot read: in a child process. What that has found the parent is told by its exit status.
 */
#include "cmd/recorded.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/guard.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/headline.h"
#include "cmd/print.h"
#include "trace/recorder_names.h"
#include "trace/source.h"
#include "trace/tracer/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MUCH 0.05         /* of the processor time for recording is worth a hint, */
#define LITTLE 0.005      /* less is not worth saying what it was for */
#define MUCH_NS 50000000u /* if it is more than this */
#define MAX_LEFT_OUT 5    /* functions, by name */
#define LAST_WAIT_MS 5000 /* for ranks whose launcher has ended */

void record_say(const struct settings *settings, const char *fmt, ...)
{
    char text[2 * FS_PATH_SIZE];
    va_list args;

    if (settings->is_quiet)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    fprintf(stderr, "snag: %s\n", text_printable(text));
}

/* A line of it on standard error. */
static void put_json(json_t *json)
{
    json_put(stderr, json, JSON_COMPACT);
    fputc('\n', stderr);
    json_decref(json);
}

/* Whose calls there are, besides those of the program's own functions. */
static const char *runtimes(const struct trace_kind *found)
{
    if (found->n_openmp == 0)
        return "MPI";
    return found->n_mpi > 0 ? "MPI and OpenMP" : "OpenMP";
}

static uint64_t count_events(const struct definitions *defs)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < defs->n_locations; i++)
        n += defs->location[i].n_events_said;
    return n;
}

/* What the first of them says; NULL: none does. *n: how many do, unless it is NULL. */
static const char *said_by_any(const struct definitions *defs, const char *key, uint32_t *n)
{
    const char *value = NULL;

    for (size_t i = defs->n_metadata; i-- > 0;)
        if (strcmp(defs->metadata[i].key, key) == 0) {
            value = defs->metadata[i].value;
            if (n)
                (*n)++;
        }
    return value;
}

/* Of all threads. */
struct cost {
    uint64_t recording_ns, program_ns; /* the latter without the former; 0: unknown */
    uint64_t once_ns;                  /* of recording, for what is done once a process */
    double ratio;
};

static struct cost cost_of(const struct definitions *defs)
{
    struct cost cost = {0};

    for (uint32_t i = 0; i < defs->n_locations; i++) {
        const struct location *l = &defs->location[i];
        uint64_t ns = l->processor_ns ? l->processor_ns : l->recorded_ns;

        cost.recording_ns += l->cost_ns;
        cost.once_ns += l->once_ns;
        cost.program_ns += ns > l->cost_ns ? ns - l->cost_ns : 0;
    }
    if (cost.program_ns > 0)
        cost.ratio = (double)cost.recording_ns / (double)cost.program_ns;
    return cost;
}

/* The directory of a process without MPI that ran besides the first; false if there is none. */
static bool find_other(const struct recorded *r, unsigned i, char path[FS_PATH_SIZE + 32])
{
    snprintf(path, FS_PATH_SIZE + 32, "%s/process-%u", r->dir, i + 2);
    return fs_exists(path);
}

static unsigned count_others(const struct recorded *r)
{
    char path[FS_PATH_SIZE + 32];
    unsigned n = 0;

    while (find_other(r, n, path))
        n++;
    return n;
}

static void put_recorded(const struct recorded *r, const struct source *source)
{
    const struct definitions *defs = &source->defs;
    struct trace_kind found = trace_kind_of(defs);
    struct cost cost = cost_of(defs);
    const char *trouble = said_by_any(defs, PROPERTY_TROUBLE, NULL);

    put_json(json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:i}", "trace",
        json_text(r->dir), "traces", json_count(1 + count_others(r)), "ranks",
        json_count(defs->n_ranks), "threads", json_count(defs->n_locations), "events",
        json_count(count_events(defs)), "functions", json_count(found.n_functions), "has_mpi",
        (int)(found.n_mpi > 0), "has_openmp", (int)(found.n_openmp > 0), "is_sampled",
        (int)(found.n_sampled > 0), "cost",
        cost.program_ns ? json_number(cost.ratio) : json_null(), "once_ns",
        json_count(cost.once_ns), "left_out", left_out_json(defs), "lost_calls",
        json_count(source->quality.n[QUALITY_lost_call]), "trouble",
        trouble ? json_text(trouble) : json_null(), "status", r->status));
}

/* There are calls of MPI or OpenMP alone: what can be done with them, and how there would be
 * more. */
static void say_functions_missing(const struct recorded *r, const struct trace_kind *found)
{
    const struct settings *s = r->settings;

    if (s->is_functions)
        record_say(s,
                   "the program's own functions are missing: it was not compiled with "
                   "-finstrument-functions. Without --functions they are found on its stacks");
    else if (!s->is_mpi_alone)
        record_say(s, "the program's own functions are missing: none was found on its stacks");
    record_say(s, "%s%s%sits loops are found in its calls of %s: snag analyze %s --foi loop",
               s->is_mpi_alone ? "--stacks would record the functions that call " : "",
               s->is_mpi_alone ? runtimes(found) : "", s->is_mpi_alone ? ", too; " : "",
               runtimes(found), r->dir);
}

static void say_left_out(const struct settings *s, const struct definitions *defs)
{
    size_t n;
    struct left_out_function *of = left_out_list(defs, &n);
    char text[4 * TEXT_SIZE];

    for (size_t i = 0; i < n && i < MAX_LEFT_OUT; i++)
        record_say(s, "no longer recorded, as that cost too much: %.200s, %s",
                   defs->region[of[i].region].short_name, left_out_text(&of[i], text));
    if (n > MAX_LEFT_OUT)
        record_say(s, "%zu more functions are no longer recorded: snag info", n - MAX_LEFT_OUT);
    free(of);
}

static void say_cost(const struct settings *s, const struct definitions *defs,
                     bool has_functions)
{
    struct cost cost = cost_of(defs);
    const char *advice = "";
    char once[128] = "", time[TEXT_SIZE];

    if (cost.program_ns == 0)
        return;
    if (s->overhead > 0 && cost.ratio > s->overhead)
        advice = ", more than was allowed: --overhead cannot save the begin and the end, some "
                 "ms of each thread whenever something is left out, messages, collectives of "
                 "several ranks, and counting what is left out";
    else if (s->overhead == 0 && has_functions && cost.ratio > MUCH &&
             cost.recording_ns > MUCH_NS)
        advice = ": --overhead 2% leaves out short functions that are called too often";
    if (2 * cost.once_ns > cost.recording_ns && cost.ratio > LITTLE)
        snprintf(once, sizeof once,
                 ", most of it (%s) for its begin and end, however long the run",
                 text_duration((double)cost.once_ns, time));
    record_say(s, "recording cost about %.*g %% of the program's processor time%s%s",
               cost.ratio < 1 ? 2 : 4, 100 * cost.ratio, once, advice);
    say_left_out(s, defs);
}

/* What is in the event files. */
static double bytes_of(const struct recorded *r, const struct definitions *defs)
{
    char path[FS_PATH_SIZE + 64];
    struct stat info;
    double bytes = 0;

    for (uint32_t i = 0; i < defs->n_locations; i++) {
        snprintf(path, sizeof path, "%s/traces/%llu.evt", r->dir,
                 (unsigned long long)defs->location[i].id);
        if (stat(path, &info) == 0)
            bytes += (double)info.st_size;
    }
    return bytes;
}

static void say_lost(const struct recorded *r, const struct source *source)
{
    const char *trouble = said_by_any(&source->defs, PROPERTY_TROUBLE, NULL);
    struct settings loud = *r->settings;
    char lost[TEXT_SIZE], kept[TEXT_SIZE];

    loud.is_quiet = false;
    if (trouble == NULL)
        return;
    text_bytes(bytes_of(r, &source->defs), kept);
    if (source->quality.n[QUALITY_lost_call] > 0)
        record_say(&loud, "%s calls were lost: %s; %s of events are kept",
                   text_count(source->quality.n[QUALITY_lost_call], lost), trouble, kept);
    else
        record_say(&loud, "not all was recorded: %s; %s of events are kept", trouble, kept);
}

/* What ended a process before it could end by itself. */
static void say_killed(const struct recorded *r, const struct definitions *defs)
{
    uint32_t n = 0;

    if (said_by_any(defs, PROPERTY_ENDING, &n) == NULL)
        return;
    record_say(r->settings,
               "%u of %u %s did not end by %s: what was recorded until then is there", n,
               defs->n_ranks, defs->n_ranks == 1 ? "process" : "processes",
               trace_kind_of(defs).n_mpi > 0 ? "MPI_Finalize" : "exit");
}

static void say_recorded(const struct recorded *r, const struct source *source)
{
    const struct definitions *defs = &source->defs;
    struct trace_kind found = trace_kind_of(defs);
    char text[TEXT_SIZE];

    record_say(r->settings,
               "recorded in '%s': %s events of %u rank%s, %u thread%s; %u function%s%s%s%s",
               r->dir, text_count(count_events(defs), text), defs->n_ranks,
               text_plural(defs->n_ranks), defs->n_locations, text_plural(defs->n_locations),
               found.n_functions, text_plural(found.n_functions),
               found.n_sampled ? " from stacks" : "",
               found.n_mpi && found.n_openmp   ? ", "
               : found.n_mpi || found.n_openmp ? " and "
                                               : "",
               found.n_mpi || found.n_openmp ? runtimes(&found) : "");
    say_lost(r, source);
    say_killed(r, defs);
    say_cost(r->settings, defs, found.n_functions > 0);
    if (found.n_functions == 0 && said_by_any(defs, PROPERTY_TROUBLE, NULL) == NULL)
        say_functions_missing(r, &found);
    if (found.n_sampled > 0 && r->settings->sample)
        record_say(r->settings,
                   "functions were seen when they called %s, and %s of processor time: "
                   "when each began, and some ended, is estimated",
                   runtimes(&found), r->settings->sample);
    else if (found.n_sampled > 0)
        record_say(
            r->settings,
            "functions were seen when they called %s: when each began, and some ended, is "
            "estimated, and those that do not call it are missing (--sample 200Hz finds these)",
            runtimes(&found));
}

/* ------------------------------------------------------------------------------------ the end
 */

/* A trace without events; what was it that could not be? */
static int said_nothing(const struct recorded *r, const struct source *source)
{
    const char *trouble = said_by_any(&source->defs, PROPERTY_TROUBLE, NULL);
    struct settings loud = *r->settings;
    char lost[TEXT_SIZE];

    loud.is_quiet = false;
    if (trouble == NULL)
        return RECORDED_NOTHING;
    if (!loud.is_json)
        record_say(&loud, "nothing was recorded: %s; %s calls were lost", trouble,
                   text_count(source->quality.n[QUALITY_lost_call], lost));
    return RECORDED_EMPTY;
}

static int look_at_trace(void *ctx, struct guard *guard)
{
    const struct recorded *r = ctx;
    struct finish_opts opts = {.ended_ns = r->ended_ns, .wait_ms = LAST_WAIT_MS};
    struct source source = {0};
    int rc = finish(r->dir, &opts), found;

    (void)guard;
    if (rc == 0)
        rc = source_open(&source, r->dir);
    if (rc == 0 && r->settings->is_json)
        put_recorded(r, &source);
    else if (rc == 0 && count_events(&source.defs) > 0)
        say_recorded(r, &source);
    if (rc == 0)
        found = count_events(&source.defs) > 0 ? RECORDED : said_nothing(r, &source);
    else
        found = rc == ERR_NOT_FOUND ? RECORDED_NOTHING : RECORDED_UNFINISHED;
    if (found == RECORDED_UNFINISHED)
        status_of(rc);
    source_close(&source);
    return found;
}

/* Each of them has a trace of its own. */
static unsigned finish_others(const struct recorded *r)
{
    char path[FS_PATH_SIZE + 32];
    unsigned n = 0;

    for (; find_other(r, n, path); n++)
        if (finish(path, &(struct finish_opts){r->ended_ns, LAST_WAIT_MS, NULL, NULL}) < 0)
            fprintf(stderr, "snag: %s\n", err_message());
    return n;
}

/* Why, and what to do: it is an error, so that it is said in any case. */
static void say_nothing(const struct recorded *r)
{
    struct settings loud = *r->settings;

    loud.is_quiet = false;
    if (r->settings->is_json)
        put_json(json_pack("{s:n, s:o*, s:i}", "trace", "trouble",
                           r->why_none ? json_text(r->why_none) : NULL, "status", r->status));
    else if (r->why_none)
        record_say(&loud, "there is no trace: %s", r->why_none);
    else if (r->program == NULL)
        record_say(&loud, "nothing was recorded in '%s'", r->dir);
    else if (r->program->kind != TRACER_SERIAL)
        record_say(&loud,
                   "nothing was recorded: MPI was not started, or is another one than %s "
                   "(--tracer %s). Programs without MPI: --tracer serial",
                   r->program->kind == TRACER_OPEN_MPI ? "Open MPI" : "MPICH",
                   r->program->kind == TRACER_OPEN_MPI ? "mpich" : "openmpi");
    else if (r->settings->sample)
        record_say(
            &loud,
            "nothing was recorded: '%s' computed for too short a time to be sampled, and "
            "is no program of MPI (if it starts one: --tracer openmpi or mpich)",
            r->program->name);
    else
        record_say(&loud,
                   "nothing was recorded: '%s' was not compiled with -finstrument-functions, "
                   "and is no program of MPI (if it starts one: --tracer openmpi or mpich). "
                   "--sample 200Hz finds what computes",
                   r->program->name);
}

/* There is something, which could not be made a trace of: the child has said why, unless it
 * died. */
static void say_unfinished(const struct recorded *r, int rc)
{
    if (rc < 0)
        status_of(rc);
    fprintf(stderr,
            "snag: what was recorded stays in '%s': snag record --finish makes a trace of it "
            "when that is mended\n",
            r->dir);
}

/* Returns 0 if what is in a directory can be seen, or ERR_*. */
static int look_into(const char *dir)
{
    int fd, rc = fs_open_dir(dir, &fd);

    if (rc < 0)
        return rc;
    rc = faccessat(fd, ".", R_OK | X_OK, AT_EACCESS) == 0
             ? 0
             : err_set(ERR_IO, "cannot open '%s': %s", dir, strerror(errno));
    close(fd);
    return rc;
}

enum recorded_outcome recorded_finish(const struct recorded *r)
{
    char anchor[FS_PATH_SIZE + 32];
    unsigned n_others;
    int rc = r->why_none ? RECORDED_NOTHING : look_into(r->dir);

    snprintf(anchor, sizeof anchor, "%s/traces.otf2", r->dir);
    if (rc == ERR_NOT_FOUND || rc == ERR_FORMAT) {
        status_of(rc);
        return RECORDED_UNFINISHED;
    }
    if (rc == 0 && !finish_is_wanted(r->dir) && !fs_exists(anchor))
        rc = RECORDED_NOTHING;
    else if (rc == 0)
        rc = guard_run(look_at_trace, (void *)(uintptr_t)r, NULL, NULL);
    if (rc == RECORDED_NOTHING)
        say_nothing(r);
    else if (rc != RECORDED && rc != RECORDED_EMPTY)
        say_unfinished(r, rc);
    if (rc != RECORDED)
        return rc < 0 ? RECORDED_UNFINISHED : (enum recorded_outcome)rc;
    n_others = finish_others(r);
    if (r->settings->is_json)
        return RECORDED;
    if (n_others > 0)
        record_say(r->settings, "%u more process%s: '%s/process-2'%s", n_others,
                   n_others == 1 ? "" : "es", r->dir, n_others == 1 ? "" : " and so on");
    record_say(r->settings, "next: snag analyze %s", r->dir);
    return RECORDED;
}
