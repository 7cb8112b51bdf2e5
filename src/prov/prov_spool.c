/*
 * Where the writer is, is the one thing that both threads look at: a segment and the bytes in
 * it, in one number. The reader follows it, segment by segment.
 */
#include "prov/prov_spool.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/lock_file.h"
#include "base/log.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_BYTES ((uint64_t)16 << 20)
#define SEGMENT_MAGIC "snagspl1"
#define FRAME_MAGIC 0x72666e73u /* "snfr" */
#define HEAD_BYTES 72u          /* of a segment */
#define FRAME_BYTES 32u         /* of a frame's head */
#define TRIES 20                /* to make the directory */
#define WINDOW 65536u           /* looked through at once for the next frame */
#define NAME_SIZE 64

/* The reader's account of a segment. */
struct spool_segment {
    uint32_t number;
    uint64_t last; /* row that was read from it */
};

struct prov_spool {
    struct prov_spool_opts opts;
    char path[FS_PATH_SIZE]; /* of the directory, for messages */
    char *parent;            /* opts.dir */
    char store[PROV_SPOOL_STORE_SIZE];
    int dir;
    int64_t run;
    struct lock_file lock_file;
    atomic_uint_fast64_t written; /* segment << 40 | bytes of it */
    atomic_uint_fast64_t bytes;   /* of all segments */
    /* the writer's */
    int write_fd;
    struct pack out;
    /* the reader's */
    int read_fd;
    uint32_t number; /* of the segment, */
    uint64_t at;     /* and where in it */
    uint64_t last_read, last_done;
    struct spool_segment *passed; /* [n_passed] not removed yet */
    size_t n_passed, cap;
};

static uint64_t place(uint32_t segment, uint64_t at)
{
    return (uint64_t)segment << 40 | at;
}

static void segment_name(int64_t run, uint32_t number, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "run-%" PRId64 "-%06u.spool", run, number);
}

static void lock_name(int64_t run, char out[NAME_SIZE])
{
    snprintf(out, NAME_SIZE, "run-%" PRId64 ".lock", run);
}

/* -------------------------------------------------------------------------------- opening */

static int make_dir(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST
               ? 0
               : err_set(ERR_IO, "cannot create '%s': %s", path, strerror(errno));
}

static struct prov_spool *spool_new(const struct prov_spool_opts *opts, int64_t run)
{
    struct prov_spool *s = mem_alloc(1, sizeof *s);

    s->opts = *opts;
    if (opts->segment_bytes == 0)
        s->opts.segment_bytes =
            opts->most_bytes / 8 < SEGMENT_BYTES ? opts->most_bytes / 8 : SEGMENT_BYTES;
    s->parent = mem_copy_string(opts->dir);
    snprintf(s->store, sizeof s->store, "%s", opts->store);
    s->run = run;
    s->dir = s->write_fd = s->read_fd = -1;
    return s;
}

static int open_dir(struct prov_spool *s)
{
    int rc = fs_join(s->path, s->parent, s->store);

    return rc == 0 ? fs_open_dir(s->path, &s->dir) : rc;
}

static int take(struct prov_spool *s)
{
    char name[NAME_SIZE];

    lock_name(s->run, name);
    return lock_file_take(&s->lock_file, s->dir, name, s->path, 0, LOCK_FILE_ALL);
}

/* Another process that goes last may remove the directories between any two of these. */
static int make_place(struct prov_spool *s)
{
    int rc = fs_join(s->path, s->parent, s->store);

    if (rc == 0)
        rc = make_dir(s->parent);
    if (rc == 0)
        rc = make_dir(s->path);
    if (rc == 0)
        rc = open_dir(s);
    if (rc == 0)
        rc = take(s);
    if (rc < 0 && s->dir >= 0) {
        close(s->dir);
        s->dir = -1;
    }
    return rc;
}

int prov_spool_open(const struct prov_spool_opts *opts, int64_t run, struct prov_spool **out)
{
    struct prov_spool *s = spool_new(opts, run);
    int rc = ERR_IO;

    *out = NULL;
    for (int i = 0; i < TRIES && rc < 0 && rc != ERR_EXISTS; i++)
        rc = make_place(s);
    s->number = 1;
    if (rc == 0)
        *out = s;
    else
        prov_spool_close(s);
    return rc;
}

int64_t prov_spool_run(const struct prov_spool *s)
{
    return s->run;
}

static void remove_segment(struct prov_spool *s, uint32_t number)
{
    char name[NAME_SIZE];
    struct stat about;

    segment_name(s->run, number, name);
    if (fstatat(s->dir, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
        unlinkat(s->dir, name, 0) == 0) {
        uint64_t bytes = atomic_load(&s->bytes), gone = (uint64_t)about.st_size;

        /* a part of a frame, for want of room, was never counted */
        atomic_fetch_sub(&s->bytes, gone < bytes ? gone : bytes);
    }
}

static bool is_all_done(const struct prov_spool *s)
{
    return s->last_done >= s->last_read &&
           atomic_load(&s->written) <= place(s->number, s->at) + (s->at == 0 ? HEAD_BYTES : 0);
}

void prov_spool_close(struct prov_spool *s)
{
    if (s == NULL)
        return;
    if (s->dir >= 0 && is_all_done(s)) {
        for (size_t i = 0; i < s->n_passed; i++)
            remove_segment(s, s->passed[i].number);
        remove_segment(s, s->number);
    }
    lock_file_release(&s->lock_file);
    if (s->dir >= 0) {
        close(s->dir);
        rmdir(s->path); /* if nothing is left there */
        rmdir(s->parent);
    }
    if (s->write_fd >= 0)
        close(s->write_fd);
    if (s->read_fd >= 0)
        close(s->read_fd);
    pack_release(&s->out);
    free(s->passed);
    free(s->parent);
    free(s);
}

/* -------------------------------------------------------------------------------- writing */

static void pack_head(const struct prov_spool *s, struct pack *out)
{
    out->n = 0;
    pack_bytes(out, SEGMENT_MAGIC, 8);
    pack_u32(out, s->opts.version);
    pack_u32(out, 0);
    pack_u64(out, (uint64_t)s->run);
    pack_bytes(out, s->store, PROV_SPOOL_STORE_SIZE - 1);
    pack_u64(out, 0);
    pack_u64(out, checksum_of(out->data, out->n));
}

static uint64_t frame_checksum(const unsigned char *head, const void *payload, size_t bytes)
{
    return checksum_seeded(payload, bytes, checksum_of(head, FRAME_BYTES - 8));
}

static int begin_segment(struct prov_spool *s, uint32_t number)
{
    char name[NAME_SIZE];
    struct pack head = {0};
    int fd, rc;

    segment_name(s->run, number, name);
    fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(ERR_IO, "cannot write '%s/%s': %s", s->path, name, strerror(errno));
    pack_head(s, &head);
    rc = fs_write_at(fd, head.data, head.n, 0, name);
    pack_release(&head);
    if (rc < 0) {
        close(fd);
        unlinkat(s->dir, name, 0);
        return rc;
    }
    if (s->write_fd >= 0)
        close(s->write_fd);
    s->write_fd = fd;
    atomic_fetch_add(&s->bytes, HEAD_BYTES);
    atomic_store(&s->written, place(number, HEAD_BYTES));
    return 0;
}

static void pack_frame(struct pack *out, uint64_t first, uint32_t n, const struct pack *payload)
{
    out->n = 0;
    pack_u32(out, FRAME_MAGIC);
    pack_u32(out, (uint32_t)payload->n);
    pack_u64(out, first);
    pack_u32(out, n);
    pack_u32(out, 0);
    pack_u64(out, frame_checksum(out->data, payload->data, payload->n));
    pack_bytes(out, payload->data, payload->n);
}

int prov_spool_append(struct prov_spool *s, uint64_t first, uint32_t n,
                      const struct pack *payload)
{
    uint64_t written = atomic_load(&s->written), at = written & (place(1, 0) - 1);
    uint64_t need = FRAME_BYTES + payload->n;
    int rc = 0;

    if (payload->n > PROV_SPOOL_MAX_FRAME_BYTES ||
        atomic_load(&s->bytes) + need + HEAD_BYTES > s->opts.most_bytes)
        return err_set(ERR_RANGE, "the spool '%s' is full", s->path);
    if (s->write_fd < 0 || at + need > s->opts.segment_bytes)
        rc = at == HEAD_BYTES ? 0 : begin_segment(s, (uint32_t)(written >> 40) + 1);
    if (rc < 0)
        return rc;
    written = atomic_load(&s->written);
    at = written & (place(1, 0) - 1);
    pack_frame(&s->out, first, n, payload);
    rc = fs_write_at(s->write_fd, s->out.data, s->out.n, at, s->path);
    if (rc == 0) {
        atomic_fetch_add(&s->bytes, need);
        atomic_store(&s->written, written + need);
    } else if (ftruncate(s->write_fd, (off_t)at) != 0) {
        log_debug("prov", "a part of a frame stays in '%s'", s->path);
    }
    return rc;
}

/* -------------------------------------------------------------------------------- reading */

/* Bytes of the segment that may be read. */
static uint64_t end_of(const struct prov_spool *s)
{
    uint64_t written = atomic_load(&s->written);
    struct stat about;

    if (s->number == written >> 40)
        return written & (place(1, 0) - 1);
    return s->number < written >> 40 && fstat(s->read_fd, &about) == 0 ? (uint64_t)about.st_size
                                                                       : 0;
}

static bool read_at(int fd, void *out, size_t bytes, uint64_t at)
{
    return fs_read_at(fd, out, bytes, at) == bytes;
}

/* Whether it is a segment of this run; what is none has nothing for us. */
static bool is_segment(struct prov_spool *s)
{
    unsigned char head[HEAD_BYTES];
    struct pack expected = {0};
    bool is_one;

    pack_head(s, &expected);
    is_one = read_at(s->read_fd, head, sizeof head, 0) &&
             memcmp(head, expected.data, sizeof head) == 0;
    pack_release(&expected);
    return is_one;
}

/* The next segment that is there. Returns 1, or 0 when the writer has not come so far. */
static int open_segment(struct prov_spool *s)
{
    char name[NAME_SIZE];

    for (; place(s->number, HEAD_BYTES) <= atomic_load(&s->written); s->number++) {
        segment_name(s->run, s->number, name);
        s->read_fd = openat(s->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        s->at = HEAD_BYTES;
        if (s->read_fd >= 0 && is_segment(s))
            return 1;
        log_warn("prov", "'%s/%s' is missing, damaged or of another version: left as it is",
                 s->path, name);
        if (s->read_fd >= 0)
            close(s->read_fd);
        s->read_fd = -1;
        if (s->number == atomic_load(&s->written) >> 40)
            break;
    }
    return 0;
}

/* The frame at s->at into frame; false when there is none. */
static bool read_frame(struct prov_spool *s, uint64_t end, struct prov_frame *frame)
{
    unsigned char head[FRAME_BYTES];
    struct pack in = {.data = head, .n = sizeof head};
    struct pack *payload = &frame->payload;
    uint32_t bytes;

    if (s->at + FRAME_BYTES > end || !read_at(s->read_fd, head, sizeof head, s->at) ||
        unpack_u32(&in) != FRAME_MAGIC)
        return false;
    bytes = unpack_u32(&in);
    if (bytes > PROV_SPOOL_MAX_FRAME_BYTES || s->at + FRAME_BYTES + bytes > end)
        return false;
    mem_grow(&payload->data, &payload->cap, bytes + 1);
    frame->first = unpack_u64(&in);
    frame->n = unpack_u32(&in);
    unpack_u32(&in);
    *payload = (struct pack){.data = payload->data, .cap = payload->cap, .n = bytes};
    return read_at(s->read_fd, payload->data, bytes, s->at + FRAME_BYTES) &&
           unpack_u64(&in) == frame_checksum(head, payload->data, bytes) &&
           frame->first > s->last_read && frame->n > 0;
}

/* Where the mark of a frame is after s->at, or the end. */
static uint64_t next_mark(const struct prov_spool *s, uint64_t end)
{
    static const uint32_t mark = FRAME_MAGIC;
    unsigned char window[WINDOW];

    for (uint64_t at = s->at + 1; at + FRAME_BYTES <= end; at += WINDOW - 3) {
        size_t n = end - at < WINDOW ? (size_t)(end - at) : WINDOW;
        unsigned char *found =
            read_at(s->read_fd, window, n, at) ? memmem(window, n, &mark, sizeof mark) : NULL;

        if (found)
            return at + (uint64_t)(found - window);
    }
    return end;
}

int prov_spool_read(struct prov_spool *s, struct prov_frame *frame)
{
    for (;;) {
        bool is_past = s->number < atomic_load(&s->written) >> 40; /* before its end is asked */
        uint64_t end;

        if (s->read_fd < 0 && !open_segment(s))
            return 0;
        for (end = end_of(s); s->at < end; s->at = next_mark(s, end))
            if (read_frame(s, end, frame)) {
                s->at += FRAME_BYTES + frame->payload.n;
                s->last_read = frame->first + frame->n - 1;
                return 1;
            }
        if (!is_past)
            return 0;
        *mem_push(&s->passed, &s->n_passed, &s->cap) =
            (struct spool_segment){s->number, s->last_read};
        close(s->read_fd);
        s->read_fd = -1;
        s->number++;
        s->at = 0;
    }
}

void prov_spool_done(struct prov_spool *s, uint64_t last)
{
    size_t n = 0;

    s->last_done = last > s->last_done ? last : s->last_done;
    while (n < s->n_passed && s->passed[n].last <= s->last_done)
        remove_segment(s, s->passed[n++].number);
    mem_to_front(s->passed, n, s->n_passed - n, sizeof *s->passed);
    s->n_passed -= n;
}

/* -------------------------------------------------------------------------- what was left */

static bool parse_name(const char *name, int64_t *run, uint32_t *number)
{
    char again[NAME_SIZE];

    if (sscanf(name, "run-%" SCNd64 "-%" SCNu32 ".spool", run, number) != 2)
        return false;
    segment_name(*run, *number, again);
    return *number > 0 && strcmp(name, again) == 0;
}

/* The least run after one, and its first and last segment; false when there is none. */
static bool find_run(int dir, int64_t after, int64_t *run, uint32_t *first, uint32_t *last)
{
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    bool is_found = false;

    while (list && (entry = readdir(list))) {
        int64_t of;
        uint32_t number;

        if (!parse_name(entry->d_name, &of, &number) || of <= after || (is_found && of > *run))
            continue;
        if (!is_found || of < *run)
            *first = *last = number;
        *run = of;
        *first = number < *first ? number : *first;
        *last = number > *last ? number : *last;
        is_found = true;
    }
    if (list)
        closedir(list);
    return is_found;
}

/* Bytes there, so that the end of the last one is known. */
static void measure(struct prov_spool *s, uint32_t first, uint32_t last)
{
    struct stat about = {.st_size = 0};
    char name[NAME_SIZE];

    segment_name(s->run, last, name);
    if (fstatat(s->dir, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
        about.st_size = 0;
    s->number = first;
    atomic_store(&s->written, place(last, (uint64_t)about.st_size));
}

int prov_spool_left(const struct prov_spool_opts *opts, int64_t own, int64_t *after,
                    struct prov_spool **out)
{
    uint32_t first, last;
    int64_t run = 0;
    int rc = 0;

    *out = NULL;
    while (rc == 0) {
        struct prov_spool *s = spool_new(opts, 0);

        rc = open_dir(s);
        if (rc < 0 || !find_run(s->dir, *after, &run, &first, &last)) {
            prov_spool_close(s);
            return rc == ERR_NOT_FOUND ? 0 : rc;
        }
        s->run = *after = run;
        if (run != own && take(s) == 0 && find_run(s->dir, run - 1, &s->run, &first, &last) &&
            s->run == run) {
            measure(s, first, last); /* nobody appends to it any more */
            *out = s;
            return 1;
        }
        s->last_read = 1; /* it is another's: nothing of it is done */
        prov_spool_close(s);
    }
    return rc;
}
