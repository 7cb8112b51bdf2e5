/*
 * The file grows by segments, each a mapping of its own and twice as long as the one before, as
 * a process may have only so many. A segment is a hole at first; blocks are put into it one
 * after the other. The lock guards all of that.
 *
 * As long as the process lives it has a lock (flock) on the file: it hangs on a mapping of the
 * first page that children of a fork have not, so the system takes it away when the process
 * ends, and only then.
 */
#include "state.h"

#include "quiet.h"
#include "recorder.h"
#include "trace/tracer/tracer_otf2.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FIRST_SEGMENT ((size_t)512 << 10)
#define MAX_SEGMENT_BYTES ((size_t)64 << 20)
#define MAX_PAGE_BYTES ((size_t)64 << 10)
#define MAX_SEGMENTS 4096
#define JOURNAL_BYTES ((size_t)16 << 10)
#define ROOM_BYTES ((size_t)128 << 10)   /* for the archive's definitions */
#define WRITE_AT_ONCE ((size_t)64 << 10) /* zeros */

struct state_segment {
    char *at;
    uint64_t offset; /* in the file */
    size_t bytes, used;
};

static struct {
    pthread_mutex_t lock;
    char directory[PATH_MAX], path[PATH_MAX];
    struct state_head *_Atomic head;
    struct state_segment segment[MAX_SEGMENTS];
    size_t n_segments;
    struct state_block *last, *journal;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct state_head *state_head(void)
{
    return atomic_load_explicit(&state.head, memory_order_acquire);
}

static size_t whole(size_t bytes)
{
    return (bytes + STATE_ALIGNMENT - 1) & ~(size_t)(STATE_ALIGNMENT - 1);
}

/* Segments are whole pages of any processor. */
static size_t whole_segment(size_t bytes)
{
    return (bytes + MAX_PAGE_BYTES - 1) & ~(MAX_PAGE_BYTES - 1);
}

/* ------------------------------------------------------------------------------------ files */

/* A file that would become too long for a limit: the signal that comes with that is taken away.
 */
static bool fail(void)
{
    int error = errno;
    sigset_t too_long;

    sigemptyset(&too_long);
    sigaddset(&too_long, SIGXFSZ);
    if (error == EFBIG)
        sigtimedwait(&too_long, NULL, &(struct timespec){0});
    errno = error;
    return false;
}

static bool write_all(int fd, const void *data, size_t bytes, uint64_t offset)
{
    while (bytes > 0) {
        ssize_t n = pwrite(fd, data, bytes, (off_t)offset);

        if (n == 0)
            errno = EIO;
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return fail();
        if (n > 0) {
            data = (const char *)data + n;
            bytes -= (size_t)n;
            offset += (uint64_t)n;
        }
    }
    return true;
}

static bool cannot_reserve(void)
{
    return errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM || errno == EINVAL ||
           errno == ENODEV;
}

/* Of what has never been written; where the file system has no other way zeros are. */
static bool reserve(int fd, uint64_t offset, size_t bytes)
{
    static char zeros[WRITE_AT_ONCE];

    if (fallocate(fd, 0, (off_t)offset, (off_t)bytes) == 0)
        return true;
    if (!cannot_reserve())
        return fail();
    while (bytes > 0) {
        size_t n = bytes < sizeof zeros ? bytes : sizeof zeros;

        if (!write_all(fd, zeros, n, offset))
            return false;
        offset += n;
        bytes -= n;
    }
    return true;
}

bool state_create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);

    return fd >= 0 && close(fd) == 0;
}

/* Others may be given the number of the descriptor the moment that it is closed: closing it
 * again would be worse than not to know. */
static bool closed(int fd, bool is_good)
{
    int error = errno;

    if (close(fd) != 0 && is_good) {
        error = errno;
        is_good = false;
    }
    errno = error;
    return is_good;
}

bool state_write(const char *path, const void *data, size_t bytes, uint64_t offset)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return false;
    if (data)
        return closed(fd, write_all(fd, data, bytes, offset));
    return closed(fd, fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes) == 0 ||
                          cannot_reserve() || fail());
}

/* ---------------------------------------------------------------------------------- opening */

static bool make_directory(const char *format, const char *directory)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, format, directory) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* From the root, as ranks on other machines may have none of it. */
static bool make_all_above(void)
{
    for (char *slash = state.directory + 1; *slash; slash++)
        if (*slash == '/') {
            *slash = '\0';
            mkdir(state.directory, 0777);
            *slash = '/';
        }
    return make_directory("%s", state.directory) &&
           make_directory("%s/traces", state.directory) &&
           make_directory("%s/" STATE_DIRECTORY, state.directory);
}

/* A new segment that has room for so many bytes. */
static bool add_segment(int fd, size_t bytes)
{
    struct state_segment *last = state.n_segments ? &state.segment[state.n_segments - 1] : NULL;
    struct state_segment s = {.offset = last ? last->offset + last->bytes : 0,
                              .bytes = last ? 2 * last->bytes : FIRST_SEGMENT};

    s.bytes = s.bytes > MAX_SEGMENT_BYTES ? MAX_SEGMENT_BYTES : s.bytes;
    s.bytes = s.bytes < bytes ? whole_segment(bytes) : s.bytes;
    if (state.n_segments == MAX_SEGMENTS) {
        errno = ENOMEM;
        return false;
    }
    if (ftruncate(fd, (off_t)(s.offset + s.bytes)) != 0)
        return fail();
    s.at = mmap(NULL, s.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)s.offset);
    if (s.at == MAP_FAILED)
        return false;
    state.segment[state.n_segments++] = s;
    return true;
}

/* Whoever cannot lock files goes on without: then it is not known for sure that we live. */
static void hold_lock(void)
{
    int fd = open(state.path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    void *page = MAP_FAILED;

    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        page = mmap(NULL, STATE_ALIGNMENT, PROT_READ, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED)
        madvise(page, STATE_ALIGNMENT, MADV_DONTFORK);
    close(fd);
}

static void fill_head(struct state_head *head, const struct state_process *place)
{
    head->head_bytes = sizeof *head;
    head->chunk_bytes = TRACER_OTF2_CHUNK;
    head->job = place->job;
    head->realtime_ns = place->realtime_ns;
    head->rank = place->rank;
    head->n_ranks = place->n_ranks;
    head->is_mpi = place->is_mpi;
    head->pid = (int32_t)getpid();
    gethostname(head->host, sizeof head->host - 1);
    memcpy(head->magic, STATE_MAGIC, sizeof head->magic);
}

/* What cannot be kept free may be free all the same. */
static void keep_room(uint32_t rank)
{
    char path[PATH_MAX];

    if (rank != 0)
        return;
    snprintf(path, sizeof path, "%.*s/" STATE_DIRECTORY "/" STATE_RESERVE, PATH_MAX - 64,
             state.directory);
    if (state_create(path))
        (void)state_write(path, NULL, ROOM_BYTES, 0);
}

static bool open_file(const struct state_process *place)
{
    int fd = open(state.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    bool is_good;

    if (fd < 0)
        return false;
    is_good = add_segment(fd, FIRST_SEGMENT) && reserve(fd, 0, STATE_ALIGNMENT);
    if (!closed(fd, is_good)) {
        int error = errno;

        unlink(state.path);
        errno = error;
        return false;
    }
    hold_lock();
    keep_room(place->rank);
    state.segment[0].used = STATE_ALIGNMENT;
    fill_head((struct state_head *)(void *)state.segment[0].at, place);
    atomic_store(&state.head, (struct state_head *)(void *)state.segment[0].at);
    return true;
}

bool state_open(const char *directory, const struct state_process *place)
{
    struct quiet q;
    bool is_good = false;
    int error;

    quiet_begin(&q);
    if (snprintf(state.directory, PATH_MAX, "%s", directory) >= PATH_MAX - 64)
        errno = ENAMETOOLONG;
    else if (make_all_above()) {
        snprintf(state.path, PATH_MAX, "%.*s/" STATE_DIRECTORY "/%u", PATH_MAX - 64,
                 state.directory, place->rank);
        is_good = open_file(place);
    }
    error = errno;
    quiet_end(&q);
    errno = error;
    return is_good;
}

bool state_path(char *out, size_t n, const char *name)
{
    return snprintf(out, n, "%s/traces/%s", state.directory, name) < (int)n;
}

/* ----------------------------------------------------------------------------------- blocks */

static const struct state_segment *segment_of(const void *at)
{
    for (size_t i = state.n_segments; i-- > 0;)
        if ((const char *)at >= state.segment[i].at &&
            (const char *)at < state.segment[i].at + state.segment[i].bytes)
            return &state.segment[i];
    return NULL;
}

static uint64_t offset_of(const void *at)
{
    const struct state_segment *s = segment_of(at);

    return s->offset + (uint64_t)((const char *)at - s->at);
}

uint64_t state_at(const struct state_block *block)
{
    struct quiet q;
    uint64_t offset;

    quiet_begin(&q);
    pthread_mutex_lock(&state.lock);
    offset = offset_of(block);
    pthread_mutex_unlock(&state.lock);
    quiet_end(&q);
    return offset;
}

/* With the lock held. */
static struct state_block *add(enum state_block_kind kind, uint32_t thread, size_t bytes,
                               size_t reserved)
{
    int fd = open(state.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct state_segment *s = &state.segment[state.n_segments - 1];
    struct state_block *block = NULL;
    bool is_good = fd >= 0;

    bytes = whole(bytes);
    if (is_good && s->bytes - s->used < bytes) {
        is_good = add_segment(fd, bytes);
        s = &state.segment[state.n_segments - 1];
    }
    is_good = is_good && reserve(fd, s->offset + s->used, whole(reserved));
    if (fd >= 0)
        is_good = closed(fd, is_good);
    if (!is_good)
        return NULL;
    block = (struct state_block *)(void *)(s->at + s->used);
    block->magic = STATE_BLOCK_MAGIC;
    block->kind = kind;
    block->bytes = bytes;
    block->thread = thread;
    atomic_store_explicit(state.last ? &state.last->next_at : &state_head()->first_at,
                          s->offset + s->used, memory_order_release);
    state.last = block;
    s->used += bytes;
    return block;
}

struct state_block *state_add(enum state_block_kind kind, uint32_t thread, size_t bytes,
                              size_t reserved)
{
    struct state_block *block;
    struct quiet q;
    int error;

    quiet_begin(&q);
    pthread_mutex_lock(&state.lock);
    block = add(kind, thread, bytes, reserved);
    error = errno;
    pthread_mutex_unlock(&state.lock);
    quiet_end(&q);
    errno = error;
    return block;
}

bool state_reserve(const struct state_block *block, size_t from, size_t to)
{
    uint64_t offset = state_at(block);
    struct quiet q;
    bool is_good;
    int fd, error;

    quiet_begin(&q);
    fd = open(state.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    is_good = fd >= 0 && closed(fd, reserve(fd, offset + whole(from), whole(to) - whole(from)));
    error = errno;
    quiet_end(&q);
    errno = error;
    return is_good;
}

/* ---------------------------------------------------------------------------------- journal */

static size_t entry_bytes(const struct definition *d)
{
    size_t bytes = d->n_numbers * sizeof *d->number + d->bytes;

    for (size_t i = 0; i < d->n_texts; i++)
        bytes += strlen(d->text[i]) + 1;
    return bytes;
}

/* With the lock held: room for so many bytes at the journal's end. */
static struct journal_entry *room(size_t bytes)
{
    struct state_block *j = state.journal;
    size_t head = sizeof *j, most = bytes + head > JOURNAL_BYTES ? bytes + head : JOURNAL_BYTES;

    if (j == NULL || j->bytes - head - atomic_load(&j->n_bytes) < bytes) {
        j = add(STATE_JOURNAL, 0, most, most);
        if (j == NULL)
            return NULL;
        state.journal = j;
    }
    return (struct journal_entry *)(void *)((char *)j + head + atomic_load(&j->n_bytes));
}

static void fill_entry(struct journal_entry *entry, const struct definition *d, size_t bytes)
{
    char *at = (char *)entry->number;

    entry->kind = d->kind;
    entry->bytes = (uint32_t)bytes;
    if (d->n_numbers > 0)
        memcpy(at, d->number, d->n_numbers * sizeof *d->number);
    at += d->n_numbers * sizeof *d->number;
    for (size_t i = 0; i < d->n_texts; i++) {
        size_t n = strlen(d->text[i]) + 1;

        memcpy(at, d->text[i], n);
        at += n;
    }
    if (d->bytes > 0)
        memcpy(at, d->data, d->bytes);
}

uint64_t *state_journal(const struct definition *d)
{
    size_t bytes = entry_bytes(d),
           all = (sizeof(struct journal_entry) + bytes + 7) & ~(size_t)7;
    struct journal_entry *entry;
    struct quiet q;
    int error;

    if (state_head() == NULL || atomic_load(&state_head()->error) != 0)
        return NULL;
    quiet_begin(&q);
    pthread_mutex_lock(&state.lock);
    entry = room(all);
    if (entry) {
        fill_entry(entry, d, bytes);
        atomic_fetch_add_explicit(&state.journal->n_bytes, all, memory_order_release);
    }
    error = errno;
    pthread_mutex_unlock(&state.lock);
    if (entry == NULL)
        recorder_give_up(error);
    quiet_end(&q);
    return entry ? entry->number : NULL;
}

/* -------------------------------------------------------------------------------------- end */

/* Closing a file is when NFS sends what others are to see. */
void state_end(enum state_ending ending)
{
    struct state_head *head = state_head();
    struct quiet q;
    int fd;

    if (head == NULL)
        return;
    quiet_begin(&q);
    atomic_store(&head->end_ns, clock_ns());
    atomic_store(&head->ending, ending);
    fd = open(state.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0)
        close(fd);
    quiet_end(&q);
}
