/*
 * The order makes it safe to be interrupted: first the ends of event files, which are the same
 * each time; then the definitions, which replace each other; then traces.unfinished gets
 * another name, which says that all is there; then that is removed.
 */
#include "trace/tracer/finish.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/progress.h"
#include "trace/tracer/archive.h"
#include "trace/tracer/source_lines.h"
#include "trace/tracer/tracer_otf2.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS 20
#define LAUNCHER_NS 2000000000u /* a launcher takes until it has ended after its ranks */

/* ------------------------------------------------------------------- the end of an event file
 */

struct finish_tail {
    int fd;
    const char *path;
    uint8_t *chunk; /* [TRACER_OTF2_CHUNK] */
    struct tracer_otf2 out;
    struct state_commit now;
    int rc;
};

static void write_chunk(struct finish_tail *t, size_t bytes)
{
    if (t->rc == 0)
        t->rc =
            fs_write_at(t->fd, t->chunk, bytes, t->now.n_chunks * TRACER_OTF2_CHUNK, t->path);
}

/* Where the process was in its last chunk. */
static void resume(struct finish_tail *t, const struct recorded_location *l)
{
    uint64_t first;

    t->now = *l->commit;
    t->out.n_events = t->now.n_events;
    t->out.time_ns = t->now.last_ns;
    tracer_otf2_begin(&t->out, t->chunk, TRACER_OTF2_CHUNK);
    if (l->chunk == NULL || t->now.n_bytes < TRACER_OTF2_HEADER ||
        t->now.n_bytes > TRACER_OTF2_CHUNK)
        return;
    memcpy(t->chunk, l->chunk, t->now.n_bytes);
    memcpy(&first, t->chunk + 2, sizeof first);
    t->out.at = t->chunk + t->now.n_bytes;
    t->out.has_time = first <= t->now.n_events;
}

/* A record; a kind that there is not is left out. */
static void put_one(struct finish_tail *t, const union slot *slot, const union slot *end)
{
    if (tracer_otf2_put(&t->out, slot, end) > slot || record_slots(slot->head.kind) == 0)
        return;
    tracer_otf2_end(&t->out, t->chunk, TRACER_OTF2_CHUNK);
    write_chunk(t, TRACER_OTF2_CHUNK);
    t->now.n_chunks++;
    tracer_otf2_begin(&t->out, t->chunk, TRACER_OTF2_CHUNK);
    tracer_otf2_put(&t->out, slot, end);
}

/* The calls that are open, as far as they have a record: those from the state, of which the
 * innermost may have been left since, and those that were entered since. */
struct unfinished_calls {
    uint32_t *entered; /* [n_entered] regions */
    size_t n_entered, cap;
    uint64_t n_before;
};

static void follow(struct unfinished_calls *o, const union slot *slot)
{
    if (record_is_enter(slot->head.kind)) {
        *mem_push(&o->entered, &o->n_entered, &o->cap) = slot->head.id;
    } else if (record_is_leave(slot->head.kind) && o->n_entered > 0) {
        o->n_entered--;
    } else if (record_is_leave(slot->head.kind)) {
        o->n_before -= o->n_before > 0;
    }
}

/* What is in the slots, and in no chunk. */
static void put_slots(struct finish_tail *t, const struct recorded_location *l,
                      struct unfinished_calls *o)
{
    const union slot *end = l->slot + l->n_slots;

    for (const union slot *slot = l->slot; slot < end;) {
        uint32_t n = record_slots(slot->head.kind);

        if (n == 0 || n > (size_t)(end - slot))
            return;
        follow(o, slot);
        if (t->now.n_events == 0 && t->out.n_events == 0)
            t->now.first_ns = slot->head.time_ns;
        if (!t->now.has_ended || tracer_otf2_lose(&t->now, slot))
            put_one(t, slot, slot + n);
        slot += n;
    }
}

/* When calls ended that were open: as well as it is known, and at the latest. */
struct call_end {
    uint64_t time_ns, latest_ns;
};

static void put_leave(struct finish_tail *t, uint32_t region, struct call_end end)
{
    uint64_t last_ns = t->now.last_ns;
    bool is_estimate = end.latest_ns > last_ns;
    union slot slot[2] = {{.head = {.time_ns = end.time_ns > last_ns ? end.time_ns : last_ns,
                                    .kind = is_estimate ? RECORD_LEAVE_BETWEEN : RECORD_LEAVE,
                                    .id = region}},
                          {.between = {.earliest_ns = last_ns, .latest_ns = end.latest_ns}}};

    put_one(t, slot, slot + (is_estimate ? 2 : 1));
}

/* Leaves of what is open, from the inside; up to where it is not known what that is. */
static void put_leaves(struct finish_tail *t, const struct recorded_location *l,
                       const struct unfinished_calls *o, struct call_end end)
{
    uint32_t *before = mem_alloc(o->n_before, sizeof *before);
    uint64_t n_known = 0, n_lost = t->now.n_lost_open;

    for (size_t i = 0; i < l->n_open && n_known < o->n_before; i++)
        if (!(l->open[i].region & REGION_SKIPPED))
            before[n_known++] = l->open[i].region;
    t->now.last_ns = t->out.time_ns;
    for (uint64_t i = o->n_entered; i-- > 0;)
        if (n_lost > 0)
            n_lost--;
        else
            put_leave(t, o->entered[i], end);
    for (uint64_t i = n_known == o->n_before ? n_known : 0; i-- > 0;)
        if (n_lost > 0)
            n_lost--;
        else
            put_leave(t, before[i], end);
    free(before);
}

/* Up to where chunks follow each other, of those from one on and before another. */
static uint64_t count_chunks(struct finish_tail *t, uint64_t from, uint64_t end,
                             uint64_t *n_events)
{
    uint64_t n = from, first, last;
    uint8_t head[TRACER_OTF2_HEADER];

    while (n < end &&
           pread(t->fd, head, sizeof head, (off_t)(n * TRACER_OTF2_CHUNK)) == sizeof head) {
        memcpy(&first, head + 2, sizeof first);
        memcpy(&last, head + 10, sizeof last);
        if (head[0] != TRACER_OTF2_MARK || first != *n_events + 1 || last < first)
            break;
        *n_events = last;
        n++;
    }
    return n;
}

/*
 * Whether the file is as long as the process left it. If not, either of the two was cut or is
 * an older copy, as when a machine went down before all was on the disk: then the file ends
 * with the last chunk that is whole, and the process's last records do not follow that.
 */
static bool is_as_said(struct finish_tail *t, const struct recorded_location *l)
{
    uint64_t said = l->commit->n_chunks, n_events = l->commit->n_events, most, first_ns, n;
    struct stat info;

    if (l->chunk && l->commit->n_bytes >= TRACER_OTF2_HEADER) {
        memcpy(&n_events, l->chunk + 2, sizeof n_events);
        n_events--;
    }
    most = l->commit->n_events + l->commit->n_open + 2 * l->n_slots;
    if (fstat(t->fd, &info) != 0)
        return true;
    n = (uint64_t)info.st_size / TRACER_OTF2_CHUNK;
    if (n >= said) {
        count_chunks(t, said, n, &n_events);
        if (n_events <= most) /* not more than it is going to have */
            return true;
    }
    n_events = 0;
    if (pread(t->fd, &first_ns, sizeof first_ns, TRACER_OTF2_HEADER + 1) == sizeof first_ns)
        t->now.first_ns = first_ns;
    t->now.n_chunks = count_chunks(t, 0, n, &n_events);
    t->now.n_events = t->out.n_events = n_events;
    return false;
}

/* What somebody else has put there is not written to: a link, or a file with a second name. */
static int open_events(const char *path, int *fd)
{
    struct stat info;

    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (*fd < 0)
        return err_set(ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    if (fstat(*fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1)
        return 0;
    close(*fd);
    return err_set(ERR_FORMAT, "'%s' is no file of its own: it is left alone", path);
}

/* The file of a location is complete then. */
static int finish_location(struct archived_location *a, const char *directory, uint32_t rank,
                           struct call_end end)
{
    const struct recorded_location *l = a->from;
    uint64_t id = (uint64_t)l->state->block.thread << 32 | rank;
    uint64_t known = l->commit->n_events; /* so that what is missing is seen */
    size_t bytes = 0;
    char path[FS_PATH_SIZE];
    struct finish_tail t = {.path = path};
    struct unfinished_calls o = {.n_before =
                                     (uint64_t)l->commit->n_open + l->commit->n_lost_open};

    if (snprintf(path, sizeof path, "%s/" ARCHIVE_NAME "/%llu.evt", directory,
                 (unsigned long long)id) >= (int)sizeof path)
        return err_set(ERR_RANGE, "path too long: '%.200s...'", directory);
    t.rc = open_events(path, &t.fd);
    if (t.rc < 0)
        return t.rc;
    t.chunk = mem_alloc(TRACER_OTF2_CHUNK, 1);
    resume(&t, l);
    if (is_as_said(&t, l)) {
        put_slots(&t, l, &o);
        put_leaves(&t, l, &o, end);
        bytes = tracer_otf2_end_file(&t.out, t.chunk);
        write_chunk(&t, bytes);
    }
    if (t.rc == 0 && ftruncate(t.fd, (off_t)(t.now.n_chunks * TRACER_OTF2_CHUNK + bytes)) != 0)
        t.rc = err_set(ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    if (close(t.fd) != 0 && t.rc == 0)
        t.rc = err_set(ERR_IO, "cannot write '%s': %s", path, strerror(errno));
    a->n_events = t.out.n_events > known ? t.out.n_events : known;
    a->first_ns = t.now.first_ns;
    a->last_ns = t.out.time_ns > t.now.first_ns ? t.out.time_ns : t.now.first_ns;
    a->n_lost = t.now.n_lost;
    free(t.chunk);
    free(o.entered);
    return t.rc;
}

/* -------------------------------------------------------------------------------- processes */

struct finish_work {
    const char *directory;
    char unfinished[FS_PATH_SIZE];
    struct recording *recording; /* [n] */
    struct archived_rank *rank;  /* [n] */
    struct unified unified;
    size_t n, cap;
    size_t n_unread; /* files that are not, or not of this version, what a process leaves */
    char unread[FS_PATH_SIZE + 80]; /* what is said of the first of them */
    uint64_t last_ns;               /* of the records of all processes of this machine */
};

static bool is_number(const char *name)
{
    size_t n = strspn(name, "0123456789");

    return n > 0 && n < 10 && name[n] == '\0' && (n == 1 || *name != '0');
}

static int by_rank(const void *a, const void *b)
{
    const struct recording *x = a, *y = b;

    return ORDER(x->head->rank, y->head->rank);
}

/* Until its process has ended the file changes, and grows. */
static int wait_for_end(const struct finish_work *w, const char *path, unsigned wait_ms)
{
    struct recording r;
    int rc = recording_open(&r, path);

    for (unsigned ms = 0; rc == 0 && recording_is_alive(&r, path); ms += LOOK_MS) {
        if (ms >= wait_ms)
            rc = err_set(ERR_EXISTS,
                         "process %d on '%s' (rank %u) still records: finish it when that has "
                         "ended, by snag record --finish %s",
                         r.head->pid, r.head->host, r.head->rank, w->directory);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
    }
    recording_close(&r);
    return rc;
}

static int open_one(struct finish_work *w, const char *name, const struct finish_opts *opts)
{
    char path[FS_PATH_SIZE];
    struct recording *r;
    int rc = fs_join(path, w->unfinished, name);

    if (rc == 0)
        rc = wait_for_end(w, path, opts->wait_ms);
    if (rc < 0)
        return rc;
    mem_grow(&w->recording, &w->cap, w->n + 1);
    r = &w->recording[w->n];
    rc = recording_open(r, path);
    if (rc == 0 && r->head->rank != strtoul(name, NULL, 10))
        rc = err_set(ERR_FORMAT, "'%s' is of rank %u", path, r->head->rank);
    if (rc < 0) {
        recording_close(r);
        return rc;
    }
    recording_read(r);
    w->n++;
    return 0;
}

/*
 * A process that was killed before it had begun has a file of which nothing can be read. One that
 * cannot be read now may be later: nothing is finished, as its file would go. One of another version
 * never will be by this one: the others are finished, and it is kept.
 */
static int open_all(struct finish_work *w, const struct finish_opts *opts)
{
    DIR *files = opendir(w->unfinished);
    int rc = 0, unread = 0;

    if (files == NULL)
        return err_set(ERR_IO, "cannot open '%s': %s", w->unfinished, strerror(errno));
    for (struct dirent *file;
         rc != ERR_EXISTS && rc != ERR_IO && (file = readdir(files)) != NULL;) {
        if (!is_number(file->d_name))
            continue;
        rc = open_one(w, file->d_name, opts);
        if (rc != ERR_FORMAT)
            continue;
        unread = rc;
        if (w->n_unread++ == 0)
            snprintf(w->unread, sizeof w->unread, "%s", err_message());
    }
    closedir(files);
    if (rc == ERR_EXISTS || rc == ERR_IO)
        return rc;
    if (w->n == 0)
        return unread < 0
                   ? unread
                   : err_set(ERR_NOT_FOUND, "nothing was recorded in '%s'", w->directory);
    qsort(w->recording, w->n, sizeof *w->recording, by_rank);
    return 0;
}

static bool is_of_here(const struct recording *r)
{
    char host[STATE_HOST] = "";

    gethostname(host, sizeof host - 1);
    return strcmp(host, r->head->host) == 0;
}

/* The last record of any process of this machine. */
static uint64_t last_of_all(const struct finish_work *w)
{
    uint64_t last_ns = 0;

    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; is_of_here(&w->recording[i]) && k < w->recording[i].n_locations;
             k++) {
            const struct recorded_location *l = &w->recording[i].location[k];
            uint64_t one_ns = l->commit->last_ns;

            for (const union slot *s = l->slot; s < l->slot + l->n_slots;
                 s += record_slots(s->head.kind)) {
                if (record_slots(s->head.kind) == 0)
                    break;
                one_ns = s->head.time_ns > one_ns ? s->head.time_ns : one_ns;
            }
            last_ns = one_ns > last_ns ? one_ns : last_ns;
        }
    return last_ns;
}

/*
 * When the calls ended that were open in a process. One that was killed had ended when its
 * launcher had, at the latest. If there were records shortly before, it ended with the last of
 * them; else it was silent, and for how long is what is to be seen.
 */
static struct call_end end_of(const struct finish_work *w, size_t i,
                              const struct finish_opts *opts)
{
    const struct recording *r = &w->recording[i];

    if (r->head->error != 0)
        return (struct call_end){r->head->stopped_ns, r->head->stopped_ns};
    if (r->head->ending != STATE_RUNS)
        return (struct call_end){r->head->end_ns, r->head->end_ns};
    if (!is_of_here(r) || opts->ended_ns < w->last_ns)
        return (struct call_end){0};
    return (struct call_end){opts->ended_ns - w->last_ns < LAUNCHER_NS ? w->last_ns
                                                                       : opts->ended_ns,
                             opts->ended_ns};
}

static int finish_process(struct finish_work *w, size_t i, const struct finish_opts *opts)
{
    const struct recording *r = &w->recording[i];
    struct archived_rank *rank = &w->rank[i];
    struct call_end end = end_of(w, i, opts);
    int rc = 0;

    rank->from = r;
    rank->n_lost = r->head->n_lost;
    rank->location = mem_alloc(r->n_locations, sizeof *rank->location);
    unify_add(&w->unified, r, &rank->map);
    for (size_t k = 0; k < r->n_locations && rc == 0; k++) {
        rank->location[k].from = &r->location[k];
        rc = finish_location(&rank->location[k], w->directory, r->head->rank, end);
        rank->location[k].n_lost += r->location[k].state->n_missed;
    }
    return rc;
}

static void close_all(struct finish_work *w)
{
    for (size_t i = 0; i < w->n; i++) {
        unified_map_release(&w->rank[i].map);
        free(w->rank[i].location);
        recording_close(&w->recording[i]);
    }
    unified_release(&w->unified);
    free(w->rank);
    free(w->recording);
}

static int finish_all(struct finish_work *w, const struct finish_opts *opts)
{
    char reserve[FS_PATH_SIZE], definitions[FS_PATH_SIZE];
    struct progress progress;
    int rc = open_all(w, opts);

    w->rank = mem_alloc(w->n, sizeof *w->rank);
    if (rc < 0)
        return rc;
    w->last_ns = last_of_all(w);
    if (fs_join(reserve, w->unfinished, STATE_RESERVE) == 0)
        unlink(reserve);
    progress_begin(&progress, "finishing", "processes", w->n);
    for (size_t i = 0; i < w->n && rc == 0; i++) {
        rc = finish_process(w, i, opts);
        progress_add(&progress, 1);
        if (opts->on_process)
            opts->on_process(opts->ctx, i + 1);
    }
    progress_end(&progress);
    if (rc == 0)
        rc = fs_join(definitions, w->unfinished, "definitions");
    if (rc == 0)
        source_lines_find(&w->unified);
    return rc < 0 ? rc : archive_write(w->directory, definitions, &w->unified, w->rank, w->n);
}

/* ----------------------------------------------------------------------------- the directory
 */

bool finish_is_wanted(const char *directory)
{
    char path[FS_PATH_SIZE];

    return fs_join(path, directory, STATE_DIRECTORY) == 0 && fs_exists(path);
}

/* Whether this is still what has the name: somebody else may have been faster. */
static bool is_still(int fd, const char *path)
{
    struct stat ours, now;

    return fstat(fd, &ours) == 0 && stat(path, &now) == 0 && fs_is_same(&ours, &now);
}

static int rename_unfinished(const struct finish_work *w, const char *name,
                             char path[FS_PATH_SIZE])
{
    int rc = fs_join(path, w->directory, name);

    if (rc == 0)
        rc = fs_remove_tree(path); /* of a finisher that was interrupted here */
    if (rc == 0 && rename(w->unfinished, path) != 0)
        rc = err_set(ERR_IO, "cannot rename '%s': %s", w->unfinished, strerror(errno));
    return rc;
}

/* All is there: it says so by another name, and goes; but what could not be read stays. */
static int remove_unfinished(const struct finish_work *w)
{
    char path[FS_PATH_SIZE];
    int rc = rename_unfinished(w, w->n_unread ? STATE_UNREAD : STATE_FINISHED, path);

    if (rc == 0 && w->n_unread == 0)
        return fs_remove_tree(path);
    if (rc == 0)
        log_warn("tracer", "%s; the trace is without %s, kept in '%s'", w->unread,
                 w->n_unread == 1 ? "this file" : "files like it", path);
    return rc;
}

/* Both are directories, and no links to some. */
static int check_directories(const struct finish_work *w, int *unfinished)
{
    char events[FS_PATH_SIZE];
    struct stat info;
    int rc = fs_join(events, w->directory, ARCHIVE_NAME);

    if (rc < 0)
        return rc;
    if (lstat(events, &info) == 0 && !S_ISDIR(info.st_mode))
        return err_set(ERR_FORMAT, "'%s' is no directory: it is left alone", events);
    *unfinished = open(w->unfinished, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    return *unfinished < 0
               ? err_set(ERR_IO, "cannot open '%s': %s", w->unfinished, strerror(errno))
               : 0;
}

int finish(const char *directory, const struct finish_opts *opts)
{
    struct finish_work w = {.directory = directory};
    int fd = -1, rc;

    if (!finish_is_wanted(directory)) /* a sentence for synth: is longer than a path */
        return 0;
    rc = fs_join(w.unfinished, directory, STATE_DIRECTORY);
    if (rc == 0)
        rc = check_directories(&w, &fd);
    if (rc < 0)
        return rc;
    flock(fd, LOCK_EX); /* where files cannot be locked nobody waits */
    if (is_still(fd, w.unfinished)) {
        rc = finish_all(&w, opts);
        close_all(&w);
        if (rc == 0)
            rc = remove_unfinished(&w);
    }
    close(fd);
    return rc;
}
