/* Nothing is waited for but the stream. */
#include "sample_ranks.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

static char directory[] = "sample_ranks_XXXXXX";
static uint64_t start_of[16]; /* by rank: when its process started */
char sample_path[64], sample_url[80];

uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct stream *open_stream(struct stream *stream)
{
    /* the socket may be that of a test that failed */
    struct stream_opts opts = {.connect_ms = 5000, .wants_counters = true};

    unlink(sample_path);
    memset(start_of, 0, sizeof start_of);
    assert_int_equal(stream_open(stream, sample_url, &opts), 0);
    assert_string_equal(stream->ops->name, "tracer");
    return stream;
}

int connect_to(const char *to)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, to);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

struct rank come_as(const struct sample_process *process)
{
    struct rank r = {.fd = connect_to(sample_path), .start_ns = process->start_ns};

    frame_hello(&r.out, process, now_ns(), TICK_NS);
    frame_definitions(&r.out, process->n_ranks);
    return r;
}

struct rank come_late(uint32_t rank, uint32_t n_ranks, uint64_t since_ns)
{
    uint64_t now = now_ns();

    if (start_of[rank] == 0)
        start_of[rank] = now - now % TICK_NS - since_ns;
    return come_as(&(struct sample_process){
        .rank = rank, .n_ranks = n_ranks, .pid = 4711 + rank, .start_ns = start_of[rank]});
}

struct rank come(uint32_t rank, uint32_t n_ranks)
{
    return come_late(rank, n_ranks, 0);
}

/* Send what is packed, while the stream reads. */
int talk(struct stream *stream, struct rank *r)
{
    size_t at = 0;
    int state = STREAM_IDLE;

    while (at < r->out.n && state == STREAM_IDLE) {
        ssize_t n = send(r->fd, r->out.data + at, r->out.n - at, MSG_DONTWAIT | MSG_NOSIGNAL);

        at += n > 0 ? (size_t)n : 0;
        if (n < 0 && errno != EAGAIN)
            break;
        state = stream_next(stream, 0);
    }
    r->out.n = 0;
    return state;
}

void go(struct rank *r)
{
    close(r->fd);
    pack_release(&r->out);
}

int wait_for_step(struct stream *stream)
{
    int state;

    while ((state = stream_next(stream, 100)) == STREAM_IDLE)
        ;
    return state;
}

/* The kinds of the events of the next part, a letter each, and what it refers to of calls. */
const char *letters(struct stream *stream, struct stream_part *p)
{
    static char text[256];
    size_t n = 0;

    if (!stream_part(stream, p))
        return "";
    for (size_t i = p->begin; i < p->end; i++) {
        const struct event *event = &p->batch->event[i];

        text[n++] = "(),s|#t~"[event->kind];
        if (event->kind <= EVENT_LEAVE)
            text[n++] = stream->defs->region[event->ref].name[0];
    }
    text[n] = '\0';
    return text;
}

/* One call of step, at a time in ticks. */
void send_step(struct rank *r, double at)
{
    uint64_t time_ns = r->start_ns + (uint64_t)(at * TICK_NS);

    frame_events(&r->out, 0, 0, time_ns, 0, 0);
    frame_record(&r->out, RECORD_ENTER, 0);
    pack_varint(&r->out, 1);
    frame_record(&r->out, RECORD_LEAVE, 10);
    frame_close(&r->out);
}

void send_all_kinds(struct pack *to)
{
    static const struct {
        enum sample_record kind;
        uint64_t number[6];
        int n;
    } record[] = {
        {RECORD_ENTER, {0}, 1},
        {RECORD_ENTER, {2}, 1},
        {RECORD_SEND, {0, 1, 9, 300}, 4},
        {RECORD_LEAVE, {0}, 0},
        {RECORD_IRECV_REQUEST, {71}, 1},
        {RECORD_ISEND, {1, 0, 8, 1u << 20, 70}, 5},
        {RECORD_RECV, {0, 1, 7, 0}, 4},
        {RECORD_IRECV, {0, 1, 6, 5, 71}, 5},
        {RECORD_ISEND_COMPLETE, {70}, 1},
        {RECORD_CANCELLED, {12345}, 1},
        {RECORD_COLLECTIVE_BEGIN, {0}, 0},
        {RECORD_COLLECTIVE_END, {1, 0, 4294967295u, 8, 16}, 5},
        {RECORD_COUNTER, {0, 2 * 77 - 1}, 2}, /* -77 */
        {RECORD_ENTER_ESTIMATED, {1, 40}, 2},
        {RECORD_ICOLLECTIVE_REQUEST, {72}, 1},
        {RECORD_ICOLLECTIVE, {1, 0, 4294967295u, 24, 32, 72}, 6},
        {RECORD_LEAVE_ESTIMATED, {30}, 1},
        {RECORD_LEAVE, {0}, 0},
        {RECORD_WINDOW_BEGIN, {0}, 6},
        {RECORD_WINDOW_CREATE, {0}, 6},
        {RECORD_WINDOW_END, {0, 23, 3}, 6},
        {RECORD_GROUP_SYNC, {0, 1, 1}, 6},
        {RECORD_LOCK_REQUEST, {0, 4294967295u, 1}, 6},
        {RECORD_PUT, {0, 1, 0, 90, 1000}, 6},
        {RECORD_GET, {0, 1, 0, 91, 0, 200}, 6},
        {RECORD_ATOMIC, {0, 1, 4, 92, 30, 4}, 6},
        {RECORD_TRANSFERRED, {0, 0, 0, 91}, 6},
        {RECORD_TRANSFERRED_REMOTE, {0, 0, 0, 91}, 6},
        {RECORD_MEMORY_SYNC, {0, 0, 0}, 6},
        {RECORD_LOCK_RELEASE, {0, 4294967295u}, 6},
        {RECORD_WINDOW_DESTROY, {0}, 6},
        {RECORD_FILE_OPEN, {3, 2, 1, 2}, 6},
        {RECORD_FILE_SEEK, {3, 0, 1, 0, 64, 64}, 6},
        {RECORD_IO_BEGIN, {3, 1, 2, 93, 4096}, 6},
        {RECORD_IO_ISSUED, {3, 0, 0, 93}, 6},
        {RECORD_IO_COMPLETE, {3, 0, 0, 93, 4000}, 6},
        {RECORD_IO_COMPLETE, {3, 0, 0, 94, UINT64_MAX}, 6}, /* it failed */
        {RECORD_FILE_CLOSE, {3}, 6},
        {RECORD_FILE_DELETE, {2}, 6},
    };

    for (size_t i = 0; i < sizeof record / sizeof record[0]; i++) {
        frame_record(to, record[i].kind, 100);
        for (int k = 0; k < record[i].n; k++)
            pack_varint(to, record[i].number[k]);
    }
}

void sample_begin(void)
{
    if (test_dir(directory) == NULL)
        abort();
    snprintf(sample_path, sizeof sample_path, "%s/socket", directory);
    snprintf(sample_url, sizeof sample_url, "tracer:%s", sample_path);
    log_set_level(LOG_ERROR);
}

int sample_end(int status)
{
    rmdir(directory);
    return status;
}
