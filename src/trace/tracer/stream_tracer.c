/*
 * stream_tracer -- programs that run under the tracer of examples/, as they run.
 *
 * tracer:PATH listens at a Unix socket; the ranks connect to it whenever they are there, and
 * again when they come back. docs/wire.md has what they say.
 *
 * Trace time goes in steps as long as the ranks' own ticks. A step is there when every rank
 * that is connected has said that it has told all up to the step's end, or when that end is so
 * long ago that a rank which has not must be stuck; what it says later is in a later step. The
 * stream is over when all ranks have said goodbye, or when nobody has been connected for a
 * second, or the program has been started again. Then stream_again waits for its next run, at
 * the same socket. opts.connect_ms 0 waits for ever; opts.step_ns is not looked at.
 *
 * One thread: poll(2), and a connection is read a piece at a time so that each gets its turn.
 * All is done within stream_next: the sockets are read for as long as no step is complete, and
 * not at all while MAX_WAITING events wait, so that a slow caller makes the tracer drop frames
 * rather than this process grow.
 *
 * Nothing that comes through a connection can hurt the others: what is no frame closes it, is
 * counted and logged, and what it had said stays. One run of one program is listened to at a
 * time. A process that is not of it is told why and sent away while the run is there; when all
 * of the run's processes have gone it waits, unheard, for the next run (tracer_socket_next_run).
 */
#include "trace/stream.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/search.h"
#include "trace/monotone.h"
#include "trace/tracer/tracer_frame.h"
#include "trace/tracer/tracer_locations.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_PEERS 1024
#define PIECE ((size_t)1 << 18)
#define BACKLOG 256

#define TRACER_SENT_AWAY 16 /* of which we remember that it was said */

struct tracer_peer {
    int fd;
    bool is_next; /* its hello is in `in`, and waits for the next run */
    struct tracer_sender sender;
    unsigned char *in; /* [n] of a frame that is not complete */
    size_t n, cap;
};

struct tracer_socket {
    char *path; /* NULL until it is bound */
    int fd;
    struct tracer_peer *peer; /* [n_peers] */
    size_t n_peers, peer_cap;
    struct pollfd *poll; /* [n_peers + 1] */
    size_t poll_cap;
    uint64_t heard_ns;  /* when anything last came */
    uint64_t n_bytes;   /* that came, of this run */
    uint64_t closed_ns; /* when a process that had said hello last went */
    struct idmap done;  /* ranks that have said goodbye */
    char *program;      /* that is listened to, as it says; NULL: none yet */
    uint32_t pid;       /* of the first of its processes */
    struct key sent_away[TRACER_SENT_AWAY]; /* a ring */
    uint32_t n_sent_away;
};

/* -------------------------------------------------------------------------------- opening */

static int address_of(const char *path, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (path[0] == '\0' || strlen(path) >= sizeof address->sun_path)
        return err_set(ERR_USAGE, "'%s' cannot be the path of a socket: 1 to %zu characters",
                       path, sizeof address->sun_path - 1);
    strcpy(address->sun_path, path);
    return 0;
}

/* A socket that nobody listens at any more is in the way: its reader was killed. */
static int make_way(const struct sockaddr_un *address)
{
    struct stat info;
    int fd, rc, why;

    if (lstat(address->sun_path, &info) != 0)
        return 0;
    if (!S_ISSOCK(info.st_mode))
        return err_set(ERR_EXISTS, "'%s' is there, and is no socket", address->sun_path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rc = connect(fd, (const struct sockaddr *)address, sizeof *address);
    why = errno;
    close(fd);
    if (rc == 0 || why != ECONNREFUSED)
        return err_set(ERR_EXISTS, "somebody listens at '%s' already", address->sun_path);
    unlink(address->sun_path);
    return 0;
}

/* Listen at a path; only this user may connect. ERR_IO, ERR_EXISTS. */
static int tracer_socket_open(struct tracer_socket *s, const char *path)
{
    struct sockaddr_un address;
    int rc = address_of(path, &address);

    *s = (struct tracer_socket){.fd = -1};
    if (rc == 0)
        rc = make_way(&address);
    if (rc < 0)
        return rc;
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&address, sizeof address) != 0)
        return err_set(ERR_IO, "cannot listen at '%s': %s", path, strerror(errno));
    s->path = mem_copy_string(path);
    if (chmod(path, 0600) != 0 || listen(s->fd, BACKLOG) != 0)
        return err_set(ERR_IO, "cannot listen at '%s': %s", path, strerror(errno));
    return 0;
}

static void peer_release(struct tracer_peer *peer)
{
    close(peer->fd);
    free(peer->in);
    tracer_sender_release(&peer->sender);
}

/* A zeroed one is harmless. */
static void tracer_socket_close(struct tracer_socket *s)
{
    for (size_t i = 0; i < s->n_peers; i++)
        peer_release(&s->peer[i]);
    if (s->path) {
        unlink(s->path);
        free(s->path);
    }
    if (s->fd > 0)
        close(s->fd);
    free(s->program);
    free(s->peer);
    free(s->poll);
    idmap_release(&s->done);
    *s = (struct tracer_socket){.fd = -1};
}

/* ------------------------------------------------------------------------------ receiving */

static void accept_all(struct tracer_socket *s)
{
    while (s->n_peers < MAX_PEERS) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0)
            return;
        *mem_push(&s->peer, &s->n_peers, &s->peer_cap) = (struct tracer_peer){.fd = fd};
    }
}

/* Another connection has said that it is this rank, and is still there. */
static bool is_taken(const struct tracer_socket *s, const struct tracer_peer *peer)
{
    for (size_t i = 0; i < s->n_peers; i++) {
        const struct tracer_sender *other = &s->peer[i].sender;

        if (&s->peer[i] != peer && other->is_known && !other->is_done &&
            other->rank == peer->sender.rank)
            return true;
    }
    return false;
}

/* A process is connected that has not said goodbye. One that has gone may have left something
 * to be read. */
static bool has_program(const struct tracer_socket *s)
{
    for (size_t i = 0; i < s->n_peers; i++) {
        struct pollfd one = {.fd = s->peer[i].fd, .events = POLLRDHUP};

        if (s->peer[i].sender.is_known && !s->peer[i].sender.is_done &&
            (poll(&one, 1, 0) <= 0 || !(one.revents & (POLLRDHUP | POLLHUP | POLLERR))))
            return true;
    }
    return false;
}

/* True the first time for a program. */
static bool is_news(struct tracer_socket *s, const struct tracer_process *who)
{
    struct key key = who->job ? key_pair(who->job, 0) : key_pair(who->start_ns, who->pid);

    for (uint32_t i = 0; i < TRACER_SENT_AWAY; i++)
        if (memcmp(&s->sent_away[i], &key, sizeof key) == 0)
            return false;
    s->sent_away[s->n_sent_away++ % TRACER_SENT_AWAY] = key;
    return true;
}

/* A frame that says why; whether anybody reads it is not our business. */
static void send_away(struct tracer_socket *s, const struct tracer_peer *peer,
                      const struct tracer_hello *hello)
{
    char why[512];
    struct pack out = {0};

    snprintf(why, sizeof why, "%.300s (process %u) is listened to there, one program at a time",
             s->program ? s->program : "another program", s->pid);
    tracer_frame_refusal(&out, why);
    if (send(peer->fd, out.data, out.n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        log_debug("tracer", "a program that was sent away was not told why");
    pack_release(&out);
    if (is_news(s, &hello->who))
        log_warn(
            "tracer",
            "%.300s (process %u) is not listened to at '%s', as %.300s (process %u) is: one "
            "program at a time",
            hello->program, hello->who.pid, s->path, s->program ? s->program : "another one",
            s->pid);
}

enum greeting { GREETING_IS_TAKEN, GREETING_WAITS, GREETING_IS_SENT_AWAY };

/* Whether a process is of the run that there is. */
static enum greeting greet(struct tracer_socket *s, const struct tracer_run *run,
                           struct tracer_peer *peer, const struct tracer_hello *hello)
{
    if (tracer_run_is_of(run, &hello->who)) {
        if (s->program == NULL) {
            s->program = mem_copy_string(hello->program);
            s->pid = hello->who.pid;
        }
        return GREETING_IS_TAKEN;
    }
    s->n_bytes -= peer->n; /* what it has said is of no run, or of the next */
    if (has_program(s)) {
        send_away(s, peer, hello);
        return GREETING_IS_SENT_AWAY;
    }
    peer->is_next = true;
    return GREETING_WAITS;
}

static int take_frame(struct tracer_socket *s, struct tracer_run *run, struct tracer_peer *peer,
                      const unsigned char *frame, size_t size, uint64_t now_ns)
{
    bool was_known = peer->sender.is_known;
    int rc = tracer_frame_take(run, &peer->sender, frame, size, now_ns);

    if (rc == 0 && peer->sender.is_known && !was_known && is_taken(s, peer)) {
        peer->sender.is_known = false;
        return err_set(ERR_FORMAT, "a second process says that it is rank %u",
                       peer->sender.rank);
    }
    if (rc == 0 && peer->sender.is_done)
        idmap_add(&s->done, key_pair(0, peer->sender.rank));
    else if (rc == 0 && peer->sender.is_known && s->done.n == run->rank.n)
        idmap_release(&s->done); /* all had gone, and the program is there again */
    return rc;
}

/* All frames that are complete. Returns 0, 1 when the process is not to be listened to, or
 * ERR_FORMAT. */
static int take_frames(struct tracer_socket *s, struct tracer_run *run,
                       struct tracer_peer *peer, uint64_t now_ns)
{
    size_t at = 0, size;
    int rc;

    for (;;) {
        struct tracer_hello hello;

        rc = tracer_frame_size(peer->in + at, peer->n - at, &size);
        if (rc < 0 || size == 0 || size > peer->n - at)
            break;
        if (!peer->sender.is_known &&
            (rc = tracer_frame_hello(peer->in + at, size, &hello)) == 0)
            rc = greet(s, run, peer, &hello) == GREETING_IS_SENT_AWAY;
        if (rc != 0 || peer->is_next)
            break;
        rc = take_frame(s, run, peer, peer->in + at, size, now_ns);
        if (rc < 0)
            break;
        at += size;
    }
    peer->n -= at;
    mem_to_front(peer->in, at, peer->n, 1);
    return rc;
}

/* What has arrived. Returns false when the connection is to be closed. */
static bool take_bytes(struct tracer_socket *s, struct tracer_run *run,
                       struct tracer_peer *peer, uint64_t now_ns)
{
    int rc = take_frames(s, run, peer, now_ns);

    if (rc >= 0)
        return rc == 0;
    run->quality->n[QUALITY_bad_record]++;
    if (peer->sender.is_known)
        log_warn("tracer", "rank %u is not listened to any more: %s", peer->sender.rank,
                 err_message());
    else
        log_warn("tracer", "a connection is closed: %s", err_message());
    return false;
}

/* Returns false when the connection is over. */
static bool read_peer(struct tracer_socket *s, struct tracer_run *run, struct tracer_peer *peer,
                      uint64_t now_ns)
{
    ssize_t n;

    mem_grow(&peer->in, &peer->cap, peer->n + PIECE);
    n = recv(peer->fd, peer->in + peer->n, PIECE, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0) {
        run->quality->n[QUALITY_truncated] += peer->sender.is_known && !peer->sender.is_done;
        if (peer->sender.is_known && !peer->sender.is_done)
            log_warn("tracer", "rank %u is gone without a goodbye", peer->sender.rank);
        return false;
    }
    s->heard_ns = now_ns;
    s->n_bytes += (uint64_t)n;
    peer->n += (size_t)n;
    return take_bytes(s, run, peer, now_ns);
}

static void drop_peer(struct tracer_socket *s, size_t i, uint64_t now_ns)
{
    if (s->peer[i].sender.is_known)
        s->closed_ns = now_ns;
    peer_release(&s->peer[i]);
    s->peer[i] = s->peer[--s->n_peers];
}

/* Those that waited for this run have their greeting in their buffer already. */
static void hear_waiting(struct tracer_socket *s, struct tracer_run *run, uint64_t now_ns)
{
    for (size_t i = s->n_peers; i-- > 0;)
        if (!s->peer[i].is_next && !s->peer[i].sender.is_known && s->peer[i].n > 0 &&
            !take_bytes(s, run, &s->peer[i], now_ns))
            drop_peer(s, i, now_ns);
}

/*
 * Wait for whatever comes, and take it.
 *   wait_ms  at most that long
 *   now      this machine's clock, asked again after waiting
 * Returns true if anything came.
 */
static bool tracer_socket_receive(struct tracer_socket *s, struct tracer_run *run, int wait_ms,
                                  uint64_t (*now)(void))
{
    size_t n;
    uint64_t now_ns;

    hear_waiting(s, run, now());
    n = s->n_peers;
    mem_grow(&s->poll, &s->poll_cap, n + 1);
    for (size_t i = 0; i < n; i++)
        s->poll[i] =
            (struct pollfd){.fd = s->peer[i].is_next ? -1 : s->peer[i].fd, .events = POLLIN};
    s->poll[n] = (struct pollfd){.fd = n < MAX_PEERS ? s->fd : -1, .events = POLLIN};
    if (poll(s->poll, n + 1, wait_ms) <= 0)
        return false;
    now_ns = now();
    for (size_t i = n; i-- > 0;) /* backwards: the last one takes the place of one that goes */
        if (s->poll[i].revents && !read_peer(s, run, &s->peer[i], now_ns))
            drop_peer(s, i, now_ns);
    if (s->poll[n].revents)
        accept_all(s);
    for (size_t i = s->n_peers; i-- > n;)
        if (!read_peer(s, run, &s->peer[i], now_ns))
            drop_peer(s, i, now_ns);
    return true;
}

/* A process of another run waits for this one to be over. */
static bool tracer_socket_has_next(const struct tracer_socket *s)
{
    for (size_t i = 0; i < s->n_peers; i++)
        if (s->peer[i].is_next)
            return true;
    return false;
}

/*
 * Forget the run that is over: connections of its processes are
 * closed, those that wait are listened to from now on.
 */
static void tracer_socket_next_run(struct tracer_socket *s)
{
    s->n_bytes = 0;
    for (size_t i = s->n_peers; i-- > 0;) {
        s->peer[i].is_next = false;
        if (s->peer[i].sender.is_known)
            drop_peer(s, i, 0);
        else
            s->n_bytes += s->peer[i].n;
    }
    idmap_release(&s->done);
    free(s->program);
    s->program = NULL;
    s->heard_ns = s->closed_ns = 0;
}

/* All processes that are connected have told all that was before. */
static bool tracer_socket_until(const struct tracer_socket *s, uint64_t clock_ns)
{
    for (size_t i = 0; i < s->n_peers; i++) {
        const struct tracer_sender *sender = &s->peer[i].sender;

        if (sender->is_known && !sender->is_done && sender->until_ns < clock_ns)
            return false;
    }
    return true;
}

/* Connections that have said hello. */
static size_t tracer_socket_n_known(const struct tracer_socket *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_peers; i++)
        n += s->peer[i].sender.is_known;
    return n;
}

/* ------------------------------------------------------------------------------- the stream */

#define PREFIX "tracer:"
#define MAX_WAITING ((size_t)4 << 20) /* events; a frame more may come */
#define MS 1000000u
#define PATIENCE_NS (1000u * MS) /* after two ticks */
#define GRACE_NS (1000u * MS)
#define LONGEST_WAIT_MS 20

struct listening {
    struct tracer_run run;
    struct tracer_socket socket;
    uint64_t opened_ns;
    uint64_t interval_ns; /* 0 until somebody has said hello */
    uint64_t until_ns;    /* end of the last step */
    uint32_t current;     /* location that the next part is of */
};

static bool accepts(const char *url)
{
    return strncmp(url, PREFIX, strlen(PREFIX)) == 0;
}

static int open_tracer(struct stream *stream, const char *url)
{
    struct listening *l = mem_alloc(1, sizeof *l);

    stream->impl = l;
    stream->defs = &l->run.defs;
    l->run.quality = &stream->quality;
    l->run.wants_counters = stream->opts.wants_counters;
    l->opened_ns = clock_ns();
    return tracer_socket_open(&l->socket, url + strlen(PREFIX));
}

static void close_tracer(struct stream *stream)
{
    struct listening *l = stream->impl;

    tracer_socket_close(&l->socket);
    tracer_run_release(&l->run);
    free(l);
}

/* ---------------------------------------------------------------------------------- steps */

/* The end of the next step: the one with the earliest event in it. */
static uint64_t next_border(struct listening *l)
{
    uint64_t earliest = UINT64_MAX, border;

    /* The length of a step is that of the ticks of who came first. */
    for (size_t i = 0; l->interval_ns == 0 && i < l->socket.n_peers; i++)
        if (l->socket.peer[i].sender.is_known)
            l->interval_ns = l->socket.peer[i].sender.interval_ns;
    if (l->interval_ns == 0)
        l->interval_ns = MS; /* who said hello is gone already */
    for (uint32_t i = 0; i < l->run.defs.n_locations; i++) {
        const struct tracer_location *location = &l->run.location[i];

        if (location->at < location->waiting.all.n &&
            location->waiting.all.event[location->at].time_ns < earliest)
            earliest = location->waiting.all.event[location->at].time_ns;
    }
    border = earliest - earliest % l->interval_ns + l->interval_ns;
    return border > l->until_ns ? border : l->until_ns + l->interval_ns;
}

static bool is_complete(const struct listening *l, uint64_t border)
{
    uint64_t end_ns = border + l->run.origin_ns;

    if (l->run.n_waiting >= MAX_WAITING || tracer_socket_n_known(&l->socket) == 0 ||
        time_before(end_ns + 2 * l->interval_ns + PATIENCE_NS, clock_ns()))
        return true;
    return l->run.rank.n >= l->run.n_expected && tracer_socket_until(&l->socket, end_ns);
}

/* Begin the next step if it is complete. */
static bool begin_step(struct stream *stream)
{
    struct listening *l = stream->impl;
    uint64_t border;

    if (l->run.n_waiting == 0)
        return false;
    border = next_border(l);
    if (!is_complete(l, border))
        return false;
    stream->begin_ns = border - l->interval_ns;
    stream->end_ns = l->until_ns = border;
    l->current = 0;
    return true;
}

static size_t first_from(const struct event_batch *batch, size_t begin, uint64_t time_ns)
{
    return FIRST_NOT(i, begin, batch->n, batch->event[i].time_ns < time_ns);
}

static bool part(struct stream *stream, struct stream_part *out)
{
    struct listening *l = stream->impl;

    for (; l->current < l->run.defs.n_locations; l->current++) {
        struct tracer_location *location = &l->run.location[l->current];
        size_t end = first_from(&location->waiting.all, location->at, l->until_ns);

        if (end == location->at)
            continue;
        *out = (struct stream_part){l->current, &location->waiting.all, location->at, end};
        l->run.n_waiting -= end - location->at;
        location->at = end;
        return true;
    }
    return false;
}

static void end_step(struct stream *stream)
{
    struct listening *l = stream->impl;
    struct stream_part skipped;

    while (part(stream, &skipped))
        ;
    for (uint32_t i = 0; i < l->run.defs.n_locations; i++)
        tracer_location_trim(&l->run.location[i]);
}

/* ----------------------------------------------------------------------------------- ends */

static bool is_over(const struct listening *l)
{
    if (l->run.rank.n == 0 || l->run.n_waiting > 0 || tracer_socket_n_known(&l->socket) > 0)
        return false;
    return l->socket.done.n >= l->run.n_expected || tracer_socket_has_next(&l->socket) ||
           clock_ns() - l->socket.closed_ns >= GRACE_NS;
}

static int check_patience(const struct stream *stream)
{
    const struct listening *l = stream->impl;
    uint64_t now = clock_ns();

    if (l->run.rank.n == 0 && stream->opts.connect_ms > 0 &&
        now - l->opened_ns > (uint64_t)stream->opts.connect_ms * MS)
        return err_set(ERR_IO, "no program has connected to '%s'", l->socket.path);
    if (l->run.rank.n > 0 && stream->opts.silence_ms > 0 &&
        tracer_socket_n_known(&l->socket) > 0 &&
        now - l->socket.heard_ns > (uint64_t)stream->opts.silence_ms * MS)
        return err_set(ERR_IO, "the program at '%s' says nothing any more", l->socket.path);
    return 0;
}

static int next(struct stream *stream, int timeout_ms)
{
    struct listening *l = stream->impl;
    uint64_t deadline_ns = clock_ns() + (uint64_t)timeout_ms * MS;
    int wait_ms = 0;

    end_step(stream);
    for (;;) {
        uint64_t now;
        bool is_any = l->run.n_waiting < MAX_WAITING &&
                      tracer_socket_receive(&l->socket, &l->run, wait_ms, clock_ns);
        int rc;

        stream->n_lost = l->run.n_lost;
        stream->n_bytes = l->socket.n_bytes;
        stream->accesses = l->run.accesses;
        if (begin_step(stream))
            return STREAM_STEP;
        if (is_over(l))
            return STREAM_OVER;
        rc = check_patience(stream);
        if (rc < 0)
            return rc;
        now = clock_ns();
        if (now >= deadline_ns)
            return STREAM_IDLE;
        wait_ms = is_any ? 0 : (int)((deadline_ns - now) / MS) + 1;
        if (wait_ms > LONGEST_WAIT_MS)
            wait_ms = LONGEST_WAIT_MS;
    }
}

/* The socket stays; who has waited at it is heard now. */
static int again(struct stream *stream, int timeout_ms)
{
    struct listening *l = stream->impl;
    uint64_t deadline_ns = clock_ns() + (uint64_t)timeout_ms * MS;

    if (!stream->is_again) {
        tracer_run_release(&l->run);
        l->run.quality = &stream->quality;
        l->run.wants_counters = stream->opts.wants_counters;
        l->interval_ns = l->until_ns = 0;
        tracer_socket_next_run(&l->socket);
    }
    do
        tracer_socket_receive(&l->socket, &l->run, LONGEST_WAIT_MS, clock_ns);
    while (l->run.rank.n == 0 && clock_ns() < deadline_ns);
    return l->run.rank.n > 0 ? STREAM_STEP : STREAM_IDLE;
}

const struct stream_ops stream_tracer_ops = {
    .name = "tracer",
    .what =
        "tracer:PATH, a program that runs under the tracer; PATH is a socket it connects to",
    .accepts = accepts,
    .open = open_tracer,
    .close = close_tracer,
    .next = next,
    .part = part,
    .again = again,
};
