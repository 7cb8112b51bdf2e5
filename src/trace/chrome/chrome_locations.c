/* Threads are sorted as their locations shall be; those that are the same place are one. */
#include "trace/chrome/chrome_locations.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_RANK 10000000

void chrome_locations_release(struct chrome_locations *p)
{
    free(p->thread);
    free(p->first);
    free(p->rank_of);
    free(p->location_of);
    free(p->shift_ns);
    *p = (struct chrome_locations){0};
}

/* ------------------------------------------------------------------- ranks of parts */

static bool is_empty(const struct chrome_part *part)
{
    return part->first_ns > part->last_ns;
}

/* "MPI Rank 3", "rank:3" -> 3. */
static bool number_after(const char *text, const char *word, uint32_t *number)
{
    const char *at = strcasestr(text, word);
    unsigned long value;

    if (at == NULL)
        return false;
    at += strlen(word);
    at += strspn(at, " :#_=-[");
    if (!isdigit((unsigned char)*at))
        return false;
    value = strtoul(at, NULL, 10);
    *number = (uint32_t)value;
    return value < MAX_RANK;
}

/* One process wrote all of the trace, or each of its files. */
static bool is_by_part(const struct chrome_trace *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_parts; i++) {
        if (!is_empty(&t->part[i]) && t->part[i].document.is_of_process)
            return true;
        n += !is_empty(&t->part[i]);
    }
    for (uint32_t i = 0; i < t->thread_id.n; i++)
        if (t->thread[i].is_gpu || t->process[t->thread[i].process].is_gpu)
            return true;
    return n > 1;
}

/* Ranks by the numbers in the names of files. Returns false when they are not different. */
static bool rank_by_name(struct chrome_trace *t)
{
    struct idmap seen = {0};
    bool is_good = true;
    uint32_t n = 0;

    for (size_t i = 0; i < t->n_parts && is_good; i++) {
        struct chrome_part *part = &t->part[i];
        const char *slash = strrchr(part->path, '/'), *name = slash ? slash + 1 : part->path;

        if (is_empty(part))
            continue;
        is_good = number_after(name, "rank", &part->rank) ||
                  number_after(name, "worker", &part->rank);
        is_good = is_good && idmap_add(&seen, key_pair(0, part->rank)) == n++;
    }
    idmap_release(&seen);
    return is_good;
}

static int rank_parts(struct chrome_trace *t)
{
    const struct chrome_part *with = NULL, *without = NULL;
    size_t n = 0;

    for (size_t i = 0; i < t->n_parts; i++) {
        struct chrome_part *part = &t->part[i];

        if (is_empty(part))
            continue;
        n++;
        part->rank = part->document.rank;
        if (part->document.has_rank)
            with = part;
        else
            without = part;
    }
    if (with && without)
        return err_set(ERR_FORMAT, "'%s' says its rank (distributedInfo), '%s' does not",
                       with->path, without->path);
    if (without && n > 1) {
        bool is_named = rank_by_name(t);

        if (!is_named) {
            uint32_t next = 0;

            for (size_t i = 0; i < t->n_parts; i++)
                if (!is_empty(&t->part[i]))
                    t->part[i].rank = next++;
        }
        definitions_note(t->defs, "no file says its rank: ranks are %s",
                         is_named ? "the numbers in the names of the files"
                                  : "numbered in the order of the files");
    }
    return 0;
}

static int by_rank_and_time(const void *a, const void *b)
{
    const struct chrome_part *p = *(struct chrome_part *const *)a;
    const struct chrome_part *q = *(struct chrome_part *const *)b;

    return ORDER(p->rank, q->rank) ?: ORDER(p->first_ns, q->first_ns) ?: ORDER(p, q);
}

/* Parts of a rank must be one after the other. */
static int check_order(struct chrome_trace *t)
{
    struct chrome_part **part = mem_alloc(t->n_parts, sizeof *part);
    size_t n = 0, n_more = 0;
    int rc = 0;

    for (size_t i = 0; i < t->n_parts; i++)
        if (!is_empty(&t->part[i]))
            part[n++] = &t->part[i];
    qsort(part, n, sizeof *part, by_rank_and_time);
    for (size_t i = 1; i < n && rc == 0; i++) {
        if (part[i]->rank != part[i - 1]->rank)
            continue;
        n_more++;
        if (part[i]->first_ns < part[i - 1]->last_ns)
            rc = err_set(ERR_FORMAT, "'%s' and '%s' are both of rank %u, at the same time",
                         part[i - 1]->path, part[i]->path, part[i]->rank);
    }
    if (rc == 0 && n_more > 0)
        definitions_note(t->defs, "several files of one rank follow each other in time");
    free(part);
    return rc;
}

/* Times by the common clock. */
static void shift_parts(struct chrome_trace *t)
{
    for (size_t i = 0; i < t->n_parts; i++) {
        struct chrome_part *part = &t->part[i];
        uint64_t base = (uint64_t)part->document.base_time_ns;

        if (is_empty(part))
            continue;
        part->first_ns = (int64_t)((uint64_t)part->first_ns + base);
        part->last_ns = (int64_t)((uint64_t)part->last_ns + base);
    }
}

static int64_t earliest(const struct chrome_trace *t)
{
    int64_t first_ns = INT64_MAX;

    for (size_t i = 0; i < t->n_parts; i++)
        if (!is_empty(&t->part[i]) && t->part[i].first_ns < first_ns)
            first_ns = t->part[i].first_ns;
    return first_ns;
}

/* ---------------------------------------------------------------------- devices of XLA */

/*
 * XLA, which is under JAX and TensorFlow, writes what a GPU's streams did once more: by module, by operation, by step. Were these
 * lanes kept, each microsecond that is lost would be lost three times. A TPU has no streams: there they are all there is.
 */
static bool is_stream_of_xla(const struct chrome_trace *t, const struct chrome_thread *thread)
{
    return strncmp(thread->name, "Stream #", strlen("Stream #")) == 0 &&
           chrome_device(t->process[thread->process].name, NULL, NULL);
}

/* Of one stream among several it is said which: "XLA Ops - from #20". */
static bool repeats_streams(const struct chrome_thread *thread)
{
    static const char *const names[] = {
        "Steps",         "XLA Modules", "XLA Ops",     "Framework Name Scope",
        "Framework Ops", "Source code", "Launch Stats"};
    static const char of_stream[] = " - from #";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        const char *end = thread->name + length;

        if (strncmp(thread->name, names[i], length) == 0 &&
            (*end == '\0' || strncmp(end, of_stream, strlen(of_stream)) == 0))
            return true;
    }
    return false;
}

static void leave_out_repeated(struct chrome_trace *t)
{
    bool *has_streams = mem_alloc(t->process_id.n, sizeof *has_streams);
    unsigned n = 0;

    for (uint32_t i = 0; i < t->thread_id.n; i++)
        if (t->thread[i].n_marks > 0)
            has_streams[t->thread[i].process] |= is_stream_of_xla(t, &t->thread[i]);
    for (uint32_t i = 0; i < t->thread_id.n; i++)
        if (t->thread[i].n_marks > 0 && has_streams[t->thread[i].process] &&
            repeats_streams(&t->thread[i])) {
            t->thread[i].n_marks = 0;
            n++;
        }
    if (n > 0)
        definitions_note(t->defs, "%u %s left out: %s what the streams beside them did", n,
                         n == 1 ? "lane of a GPU is" : "lanes of GPUs are",
                         n == 1 ? "it repeats" : "they repeat");
    free(has_streams);
}

/* ------------------------------------------------------------------------ locations */

/* What a thread is sorted by; equal ones are one location. */
struct thread_key {
    uint64_t group; /* rank of a part; else pid */
    bool is_async, is_gpu, is_other;
    uint64_t pid, tid;
    uint32_t thread;
};

static int compare(const struct thread_key *p, const struct thread_key *q)
{
    return ORDER(p->group, q->group) ?:
           ORDER(p->is_async, q->is_async) ?:
           ORDER(p->is_gpu, q->is_gpu) ?:
           ORDER(p->is_other, q->is_other) ?:
           ORDER(p->pid, q->pid) ?:
           ORDER(p->tid, q->tid);
}

static int by_key(const void *a, const void *b)
{
    const struct thread_key *p = a, *q = b;

    return compare(p, q) ?: ORDER(p->thread, q->thread);
}

/* Kineto gives threads of Python that it does not know the number of a GPU's process. */
static bool is_gpu(const struct chrome_trace *t, const struct chrome_thread *thread)
{
    return thread->is_gpu || (t->process[thread->process].is_gpu && !thread->is_python);
}

/* In order of their locations. Returns how many there are. */
static uint32_t list_keys(const struct chrome_trace *t, bool is_part, struct thread_key *key)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->thread_id.n; i++) {
        const struct chrome_thread *thread = &t->thread[i];
        const struct chrome_process *process = &t->process[thread->process];

        if (thread->n_marks > 0)
            key[n++] = (struct thread_key){
                .group = is_part ? t->part[process->part].rank : process->pid,
                .is_async = thread->is_async,
                .is_gpu = is_part && !thread->is_async && is_gpu(t, thread),
                .is_other = is_part && (thread->tid != process->pid || process->is_gpu),
                .pid = process->pid,
                .tid = thread->tid,
                .thread = i};
    }
    qsort(key, n, sizeof *key, by_key);
    return n;
}

/* "GPU 3", which Kineto says by its pid, XLA by the name of its process. */
static uint32_t gpu_name(const struct chrome_process *process, char kind[CHROME_DEVICE])
{
    uint32_t number = (uint32_t)process->pid;

    strcpy(kind, "GPU");
    chrome_device(process->name, kind, &number);
    return number;
}

/* A thread without a name is called as its process is, unless that only says the rank. */
static void define_location(struct chrome_trace *t, const struct thread_key *key,
                            uint32_t number)
{
    const struct chrome_thread *thread = &t->thread[key->thread];
    const char *process = t->process[thread->process].name;
    char name[CHROME_TEXT + 64], kind[CHROME_DEVICE];
    uint32_t rank, device = gpu_name(&t->process[thread->process], kind);

    if (!key->is_gpu && *thread->name == '\0' && !number_after(process, "rank", &rank))
        snprintf(name, sizeof name, "%s", process);
    else if (!key->is_gpu)
        snprintf(name, sizeof name, "%s", thread->name);
    else if (*thread->name)
        snprintf(name, sizeof name, "%s %u, %s", kind, device, thread->name);
    else
        snprintf(name, sizeof name, "%s %u, stream %llu", kind, device,
                 (unsigned long long)key->tid);
    definitions_location(t->defs, number, name, key->group);
}

/* After definitions_finish, which has sorted them by their numbers in our order. */
static void describe_location(const struct chrome_trace *t, struct location *location,
                              const struct thread_key *key)
{
    char kind[CHROME_DEVICE];

    location->id = key->is_async ? (uint32_t)key->tid : key->tid;
    location->is_gpu = key->is_gpu;
    if (key->is_gpu) {
        location->gpu_device = gpu_name(&t->process[t->thread[key->thread].process], kind);
        location->gpu_stream = (uint32_t)key->tid;
    }
}

static struct process_rank *known_ranks(const struct chrome_trace *t, bool is_part, size_t *n)
{
    struct process_rank *known = mem_alloc(t->n_parts + (size_t)t->process_id.n, sizeof *known);
    uint32_t rank;

    *n = 0;
    for (size_t i = 0; is_part && i < t->n_parts; i++)
        if (!is_empty(&t->part[i]))
            known[(*n)++] = (struct process_rank){t->part[i].rank, t->part[i].rank};
    for (uint32_t i = 0; !is_part && i < t->process_id.n; i++)
        if (number_after(t->process[i].name, "rank", &rank))
            known[(*n)++] = (struct process_rank){t->process[i].pid, rank};
    return known;
}

static void define_locations(struct chrome_locations *p, struct chrome_trace *t, bool is_part)
{
    struct definitions *defs = t->defs;
    struct thread_key *key = mem_alloc(t->thread_id.n, sizeof *key);
    size_t n_known;
    struct process_rank *known = known_ranks(t, is_part, &n_known);
    uint32_t n = list_keys(t, is_part, key), *first, *begin, n_locations = 0;

    begin = mem_alloc((size_t)n + 1, sizeof *begin);
    first = p->first = mem_alloc((size_t)n + 1, sizeof *p->first);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || compare(&key[i - 1], &key[i]) != 0) {
            define_location(t, &key[i], n_locations);
            begin[n_locations++] = i;
        }
    begin[n_locations] = n;
    definitions_finish(defs, known, n_known);
    for (uint32_t l = 0, k = 0; l < n_locations; l++) {
        uint32_t number = (uint32_t)defs->location[l].id;

        describe_location(t, &defs->location[l], &key[begin[number]]);
        *first++ = k;
        for (uint32_t i = begin[number]; i < begin[number + 1]; i++, k++) {
            p->thread[k] = key[i].thread;
            p->rank_of[key[i].thread] = defs->location[l].rank;
            p->location_of[key[i].thread] = l;
        }
    }
    *first = n;
    free(begin);
    free(key);
    free(known);
}

int chrome_locations_find(struct chrome_locations *p, struct chrome_trace *t)
{
    bool is_part = p->is_by_part = is_by_part(t);
    int64_t origin_ns;
    int rc = 0;

    shift_parts(t);
    origin_ns = earliest(t);
    if (is_part && (rc = rank_parts(t)) == 0)
        rc = check_order(t);
    if (rc < 0)
        return rc;
    p->n_threads = t->thread_id.n;
    p->thread = mem_alloc(p->n_threads, sizeof *p->thread);
    p->rank_of = mem_alloc(p->n_threads, sizeof *p->rank_of);
    p->location_of = mem_alloc(p->n_threads, sizeof *p->location_of);
    p->shift_ns = mem_alloc(p->n_threads, sizeof *p->shift_ns);
    for (uint32_t i = 0; i < p->n_threads; i++) {
        const struct chrome_part *part = &t->part[t->process[t->thread[i].process].part];

        p->shift_ns[i] = (int64_t)((uint64_t)part->document.base_time_ns - (uint64_t)origin_ns);
    }
    leave_out_repeated(t);
    define_locations(p, t, is_part);
    t->defs->origin_ticks = (uint64_t)origin_ns;
    return 0;
}
