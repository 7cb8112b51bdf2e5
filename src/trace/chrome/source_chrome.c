/*
 * source_chrome -- Chrome/Perfetto trace JSON, as uftrace, PyTorch and many others write it:
 * one file, or one per rank (a list, a directory, a pattern).
 *
 * What the ranks are: chrome_locations.h. Durations (X) and begin/end pairs (B, E) are calls, of
 * regions whose names have no numbers of calls (chrome_trace.h); a flow (s .. f) is a message,
 * if it is not a launch. What belongs together by name and arguments, rules say (link_rules.h).
 * Other phases are counted as ignored.
 *
 * The format knows no order, so all files are read when the trace is opened; the events of a
 * location are made of what was kept of them (marks.h) when it is read. A trace may have a
 * file per rank: a list of files, all of a directory, which is read with a filter, or what
 * fits a pattern, which is left to glob().
 */
#include "trace/source.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "trace/chrome/backward.h"
#include "trace/chrome/chrome_events.h"
#include "trace/chrome/chrome_locations.h"
#include "trace/chrome/chrome_trace.h"

#include <dirent.h>
#include <glob.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------------------------ files */

struct chrome_files {
    char **path; /* [n] those of a directory in the order of the numbers in their names */
    size_t n, cap;
    bool is_found; /* a directory or a pattern was given: some may be no traces */
};

static int is_trace_name(const struct dirent *entry)
{
    static const char *const packed[] = {".gz", ".zst"};
    static const char *const ends[] = {".json", ".jsonl", ".pfw"};
    size_t length = strlen(entry->d_name);

    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (text_ends_with(entry->d_name, length, packed[i])) {
            length -= strlen(packed[i]);
            break;
        }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (entry->d_name[0] != '.' && text_ends_with(entry->d_name, length, ends[i]))
            return 1;
    return 0;
}

static bool is_pattern(const char *path)
{
    struct stat info;

    return strpbrk(path, "*?[") != NULL && stat(path, &info) != 0;
}

static void push(struct chrome_files *files, const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;

    mem_grow(&files->path, &files->cap, files->n + 1);
    files->path[files->n] = mem_alloc(size, 1);
    snprintf(files->path[files->n++], size, "%s%s%s", dir, *dir ? "/" : "", name);
}

static void add_directory(struct chrome_files *files, const char *dir)
{
    struct dirent **entry = NULL;
    int n = scandir(dir, &entry, is_trace_name, versionsort);

    for (int i = 0; i < n; i++) {
        push(files, dir, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
}

static int by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static void add_pattern(struct chrome_files *files, const char *pattern)
{
    size_t n_before = files->n;
    glob_t found;

    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (!fs_is_directory(found.gl_pathv[i]))
                push(files, "", found.gl_pathv[i]);
    globfree(&found);
    qsort(files->path + n_before, files->n - n_before, sizeof *files->path, by_number);
}

/*
 * What path stands for: itself, or all files in it. Of a directory those
 * whose names end as names of such files do (.json, .jsonl, .pfw; then .gz, .zst or nothing).
 * Returns 0, or ERR_NOT_FOUND.
 */
static int chrome_files_add(struct chrome_files *files, const char *path)
{
    size_t n_before = files->n;

    if (strcmp(path, "-") != 0 && fs_is_directory(path))
        add_directory(files, path);
    else if (strcmp(path, "-") != 0 && is_pattern(path))
        add_pattern(files, path);
    else {
        push(files, "", path);
        return 0;
    }
    files->is_found = true;
    return files->n > n_before ? 0 : err_set(ERR_NOT_FOUND, "no files of a trace: '%s'", path);
}

static void chrome_files_release(struct chrome_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->path[i]);
    free(files->path);
    *files = (struct chrome_files){0};
}

/* True for a directory or a pattern that has such files. */
static bool chrome_files_accepts(const char *path)
{
    struct chrome_files files = {.n = 0};
    bool is_ours = chrome_files_add(&files, path) == 0 && files.is_found;

    chrome_files_release(&files);
    return is_ours;
}

/* ------------------------------------------------------------------------------- the source */

struct chrome {
    struct chrome_trace trace;
    struct chrome_locations places;
    struct backward backward;
};

static bool accepts(const char *path)
{
    return chrome_files_accepts(path) || chrome_json_accepts(path);
}

static int list_files(const struct source *source, struct chrome_files *files)
{
    int rc = chrome_files_add(files, source->path);

    for (size_t i = 0; rc == 0 && i < source->opts.n_more; i++)
        rc = chrome_files_add(files, source->opts.more[i]);
    return rc;
}

/* A pipe that was named may be one from another program; one that is found waits for ever. */
static int read_file(struct chrome_trace *t, const struct chrome_files *files, size_t i)
{
    struct stat info;

    if (files->is_found && (stat(files->path[i], &info) != 0 || !S_ISREG(info.st_mode)))
        return err_set(ERR_FORMAT, "'%s' is no file", files->path[i]);
    return chrome_trace_read(t, files->path[i]);
}

/* Of files that were found, not named, those without events are left out. */
static int read_files(struct chrome_trace *t, const struct chrome_files *files)
{
    size_t n_read = 0;

    for (size_t i = 0; i < files->n; i++) {
        int rc = read_file(t, files, i);

        if (rc < 0 && (rc != ERR_FORMAT || !files->is_found))
            return rc;
        if (rc < 0)
            definitions_note(t->defs, "left out: %s", err_message());
        n_read += rc == 0;
    }
    if (n_read == 0)
        return err_set(ERR_FORMAT, "no trace among the %zu files", files->n);
    return chrome_trace_end(t);
}

static void end_links(struct chrome *c)
{
    const struct chrome_trace *t = &c->trace;
    struct link_thread *thread = mem_alloc(t->thread_id.n, sizeof *thread);

    for (uint32_t i = 0; i < t->thread_id.n; i++) {
        const struct chrome_part *part = &t->part[t->process[t->thread[i].process].part];

        thread[i] = (struct link_thread){.rank = c->places.rank_of[i],
                                         .location = c->places.location_of[i],
                                         .n_ranks = part->document.n_ranks,
                                         .name = t->thread[i].name,
                                         .process = t->process[t->thread[i].process].name,
                                         .shift_ns = c->places.shift_ns[i],
                                         .is_left_out = t->thread[i].n_marks == 0};
    }
    links_end(t->links, thread, t->defs);
    free(thread);
}

/* What was launched does not begin before. Ends on threads without calls are of none. */
static bool add_launch(struct chrome *c, const struct chrome_launch *x, uint32_t to,
                       int64_t to_ns, uint32_t region)
{
    const struct chrome_thread *thread = c->trace.thread;
    const struct chrome_locations *p = &c->places;

    if (x->from == CHROME_NOWHERE || to == CHROME_NOWHERE || thread[x->from].n_marks == 0 ||
        thread[to].n_marks == 0)
        return false;
    definitions_dependency(
        c->trace.defs, &(struct dependency){
                           .begin_ns = (uint64_t)to_ns + (uint64_t)p->shift_ns[to],
                           .on_begin_ns = (uint64_t)x->from_ns + (uint64_t)p->shift_ns[x->from],
                           .location = p->location_of[to],
                           .on_location = p->location_of[x->from],
                           .region = region,
                           .on_region = x->region,
                           .kind = DEPENDENCY_BEGIN});
    return true;
}

static void end_launches(struct chrome *c)
{
    struct chrome_trace *t = &c->trace;
    uint64_t n = 0;

    chrome_trace_end_launches(t);
    for (size_t i = 0; i < t->n_operations; i++) {
        const struct chrome_operation *x = &t->operation[i];

        n += add_launch(c, &t->launch[x->launch], x->thread, x->begin_ns, x->region);
    }
    for (uint32_t i = 0; i < t->launch_id.n; i++)
        if (t->launch[i].has_tail && !t->launch[i].has_operations)
            n += add_launch(c, &t->launch[i], t->launch[i].to, t->launch[i].to_ns, ANY_REGION);
    if (n > 0)
        definitions_note(t->defs, "%llu calls on streams have the call that launched them",
                         (unsigned long long)n);
}

static int by_place(const void *a, const void *b)
{
    const struct dependency *p = a, *q = b;

    return ORDER(p->location, q->location) ?: ORDER(p->begin_ns, q->begin_ns);
}

/* The communicator of flows, which is the first. */
static void define_flows(struct definitions *defs)
{
    uint32_t comm = definitions_comm(defs, "flows", defs->n_ranks);

    for (uint32_t r = 0; r < defs->n_ranks; r++)
        defs->comm[comm].member[r] = r;
}

static int chrome_open(struct source *source, const char *path)
{
    struct chrome *c = mem_alloc(1, sizeof *c);
    struct chrome_files files = {.n = 0};
    int rc;

    source->impl = c;
    rc = chrome_trace_init(&c->trace, source, source->opts.links);
    if (rc == 0)
        rc = list_files(source, &files);
    if (rc == 0)
        rc = read_files(&c->trace, &files);
    chrome_files_release(&files);
    if (rc == 0 && c->trace.n_marks == 0)
        rc = err_set(ERR_FORMAT, "no calls in '%s'", path);
    if (rc == 0)
        rc = chrome_locations_find(&c->places, &c->trace);
    if (rc < 0)
        return rc;
    define_flows(&source->defs);
    end_links(c);
    end_launches(c);
    backward_find(&c->backward, &c->trace, &c->places);
    if (source->defs.n_dependencies > 0)
        qsort(source->defs.dependency, source->defs.n_dependencies,
              sizeof *source->defs.dependency, by_place);
    return 0;
}

static void chrome_close(struct source *source)
{
    struct chrome *c = source->impl;

    backward_release(&c->backward);
    chrome_locations_release(&c->places);
    chrome_trace_release(&c->trace);
    free(c);
}

static void *reader_new(struct source *source)
{
    struct chrome *c = source->impl;

    return chrome_events_new(&c->trace, &c->places, &c->backward);
}

static void reader_free(void *reader)
{
    chrome_events_free(reader);
}

static int begin(void *reader, uint32_t location, struct quality *quality)
{
    (void)quality;
    chrome_events_begin(reader, location);
    return 0;
}

static size_t next(void *reader, struct event_batch *batch, size_t most,
                   struct quality *quality)
{
    return chrome_events_next(reader, batch, most, quality);
}

static void end(void *reader, struct quality *quality)
{
    (void)reader, (void)quality;
}

/* All files are read, whatever rank is asked for. */
static uint64_t bytes_of(const struct source *source, const uint32_t *rank)
{
    struct chrome_files files = {.n = 0};
    uint64_t sum = 0;

    (void)rank;
    if (list_files(source, &files) == 0)
        for (size_t i = 0; i < files.n; i++)
            sum += fs_bytes(files.path[i]);
    chrome_files_release(&files);
    return sum;
}

const struct source_ops source_chrome_ops = {
    .name = "chrome",
    .what =
        "Chrome/Perfetto JSON (uftrace, PyTorch, DFTracer, ...) or JSON lines, plain, gzip or "
        "zstd, one file or one per rank, '-' for standard input",
    .takes_files = true,
    .accepts = accepts,
    .open = chrome_open,
    .close = chrome_close,
    .reader_new = reader_new,
    .reader_free = reader_free,
    .begin = begin,
    .next = next,
    .end = end,
    .bytes = bytes_of,
};
