/*
 * Parent and child talk over a pair of sockets that keep messages apart: the child sends
 * "block", "beat", "failed"; the parent "free". The child's own end tells it by a signal when
 * the parent is gone, so that it goes even from the depths of a library that hangs.
 */
#include "base/worker_process.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/patience.h"
#include "base/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_ROOMS 2
#define LONGEST_REASON 480

enum word { WORD_BLOCK, WORD_BEAT, WORD_FAILED, WORD_OVER };

struct note {
    uint32_t word; /* enum word */
    uint32_t kind; /* of the block */
    uint64_t bytes;
    int32_t code;
    char reason[LONGEST_REASON];
};

struct worker_process {
    pid_t child;
    int fd;
    unsigned char *room; /* [N_ROOMS * WORKER_PROCESS_BYTES], shared */
    unsigned next;       /* room that the next block is in */
    bool has_block;      /* one is with our caller */
    uint64_t (*now_ns)(void);
    struct patience patience; /* renewed when it says something, or gets something to do */
    int state;                /* what it is for good, WORKER_PROCESS_IDLE until then */
    char *reason;
};

struct worker_process_end {
    int fd, said;
    unsigned char *room;
    unsigned next, n_free;
};

static const int defaults[] = {SIGINT, SIGTERM, SIGHUP,  SIGSEGV, SIGBUS,
                               SIGFPE, SIGILL,  SIGABRT, SIGPIPE};

/* ------------------------------------------------------------------------------- the child */

static int own_fd = -1; /* for the signal handler */

static void on_parent(int sig)
{
    struct pollfd p = {.fd = own_fd};
    int saved = errno;

    (void)sig;
    if (poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR))
        _exit(0);
    errno = saved;
}

/* Nothing of the parent's but the socket: its other sockets must close when it closes them. */
static void cut_ties(struct worker_process_end *end)
{
    struct sigaction action = {.sa_handler = on_parent, .sa_flags = SA_RESTART};
    sigset_t none;
    int nowhere = open("/dev/null", O_RDWR);

    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        signal(defaults[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(nowhere, 0);
    dup2(nowhere, 1);
    dup2(end->said, 2);
    end->fd = dup2(end->fd, 3);
    end->said = 2;
    close_range(4, ~0u, 0);
    own_fd = end->fd;
    sigaction(SIGIO, &action, NULL);
    fcntl(end->fd, F_SETOWN, getpid());
    fcntl(end->fd, F_SETFL, fcntl(end->fd, F_GETFL) | O_ASYNC);
    on_parent(0); /* it may be gone already */
}

static void say(struct worker_process_end *end, const struct note *note)
{
    ssize_t n;

    do
        n = send(end->fd, note, sizeof *note, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        _exit(0); /* nobody listens */
}

void *worker_process_room(struct worker_process_end *end)
{
    while (end->n_free == 0) {
        char word;
        ssize_t n = recv(end->fd, &word, 1, 0);

        if (n == 0 || (n < 0 && errno != EINTR))
            _exit(0);
        end->n_free += n > 0;
    }
    return end->room + end->next * WORKER_PROCESS_BYTES;
}

void worker_process_send(struct worker_process_end *end, uint32_t kind, size_t n)
{
    struct note note = {.word = WORD_BLOCK, .kind = kind, .bytes = n};

    end->next = (end->next + 1) % N_ROOMS;
    end->n_free--;
    say(end, &note);
}

void worker_process_beat(struct worker_process_end *end)
{
    struct note note = {.word = WORD_BEAT};

    say(end, &note);
}

void worker_process_said(struct worker_process_end *end, char *out, size_t n)
{
    off_t size = lseek(end->said, 0, SEEK_END);
    off_t from = size < (off_t)n ? 0 : size - (off_t)n + 1;
    ssize_t got = pread(end->said, out, n - 1, from);

    out[got < 0 ? 0 : got] = '\0';
}

static _Noreturn void run_child(struct worker_process_end *end,
                                int (*fn)(void *ctx, struct worker_process_end *end), void *ctx)
{
    struct note note = {.word = WORD_OVER};

    cut_ties(end);
    note.code = fn(ctx, end);
    if (note.code < 0) {
        note.word = WORD_FAILED;
        snprintf(note.reason, sizeof note.reason, "%s", err_message());
    }
    say(end, &note);
    _exit(0);
}

/* ------------------------------------------------------------------------------ the parent */

int worker_process_open(struct worker_process **out,
                        int (*fn)(void *ctx, struct worker_process_end *end), void *ctx,
                        unsigned patience_s, uint64_t (*now_ns)(void))
{
    struct worker_process *c = *out = mem_alloc(1, sizeof *c);
    int fd[2], said;

    c->fd = -1;
    c->now_ns = now_ns ? now_ns : clock_ns;
    c->patience.span_ns = (uint64_t)patience_s * 1000000000u;
    c->room = mmap(NULL, N_ROOMS * WORKER_PROCESS_BYTES, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->room == MAP_FAILED) {
        c->room = NULL;
        return err_set(ERR_IO, "cannot share memory: %s", strerror(errno));
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) != 0)
        return err_set(ERR_IO, "cannot make a socket: %s", strerror(errno));
    c->fd = fd[0];
    said = memfd_create("said", MFD_CLOEXEC);
    fflush(NULL);
    patience_renew(&c->patience, c->now_ns());
    c->child = fork();
    if (c->child == 0)
        run_child(&(struct worker_process_end){fd[1], said, c->room, 0, N_ROOMS}, fn, ctx);
    close(fd[1]);
    if (said >= 0)
        close(said);
    return c->child < 0 ? err_set(ERR_IO, "cannot start a process: %s", strerror(errno)) : 0;
}

/* Waits for its end; returns its wait status. */
static int bury(struct worker_process *c)
{
    int status = 0;

    while (c->child > 0 && waitpid(c->child, &status, 0) < 0 && errno == EINTR)
        ;
    c->child = 0;
    return status;
}

void worker_process_close(struct worker_process *c)
{
    if (c == NULL)
        return;
    if (c->child > 0)
        kill(c->child, SIGKILL);
    bury(c);
    if (c->fd >= 0)
        close(c->fd);
    if (c->room)
        munmap(c->room, N_ROOMS * WORKER_PROCESS_BYTES);
    free(c->reason);
    free(c);
}

int worker_process_fd(const struct worker_process *c)
{
    return c->fd;
}

/* From now on this is all there is to say. */
static int settle(struct worker_process *c, int state)
{
    c->state = state;
    c->reason = mem_copy_string(err_message());
    return state;
}

static int settle_death(struct worker_process *c)
{
    int status = bury(c);

    if (WIFSIGNALED(status))
        err_set(ERR_FORMAT, "the reading process died of signal %d (%s)", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        err_set(ERR_FORMAT, "the reading process ended early, with status %d",
                WEXITSTATUS(status));
    return settle(c, WORKER_PROCESS_DIED);
}

static int settle_hang(struct worker_process *c)
{
    kill(c->child, SIGKILL);
    bury(c);
    err_set(ERR_FORMAT, "the reading process said nothing for %llu s",
            (unsigned long long)(c->patience.span_ns / 1000000000u));
    return settle(c, WORKER_PROCESS_HUNG);
}

static void give_back(struct worker_process *c)
{
    if (!c->has_block)
        return;
    c->has_block = false;
    patience_renew(&c->patience, c->now_ns());
    (void)!send(c->fd, "f", 1, MSG_NOSIGNAL);
}

/* What the child has said. Returns a state; WORKER_PROCESS_IDLE if that was only a sign of
 * life. */
static int listen_to(struct worker_process *c, struct worker_process_block *block)
{
    struct note note;
    ssize_t n = recv(c->fd, &note, sizeof note, MSG_DONTWAIT);

    /* a reset is told once, in front of what the child said before it went */
    if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET))
        return WORKER_PROCESS_IDLE;
    if (n != (ssize_t)sizeof note)
        return settle_death(c);
    patience_renew(&c->patience, c->now_ns());
    if (note.word == WORD_OVER)
        return settle(c, WORKER_PROCESS_OVER);
    if (note.word == WORD_FAILED) {
        note.reason[sizeof note.reason - 1] = '\0';
        return settle(c, err_set(note.code < 0 ? note.code : ERR_FORMAT, "%s", note.reason));
    }
    if (note.word != WORD_BLOCK)
        return WORKER_PROCESS_IDLE;
    *block = (struct worker_process_block){
        .kind = note.kind,
        .data = c->room + c->next * WORKER_PROCESS_BYTES,
        .bytes = note.bytes < WORKER_PROCESS_BYTES ? note.bytes : WORKER_PROCESS_BYTES,
    };
    c->next = (c->next + 1) % N_ROOMS;
    c->has_block = true;
    return WORKER_PROCESS_BLOCK;
}

int worker_process_receive(struct worker_process *c, int timeout_ms,
                           struct worker_process_block *block)
{
    uint64_t until = c->now_ns() + (uint64_t)timeout_ms * 1000000u;

    if (c->state != WORKER_PROCESS_IDLE) {
        err_set(ERR_FORMAT, "%s", c->reason);
        return c->state;
    }
    give_back(c);
    for (;;) {
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        int state = listen_to(c, block);
        uint64_t now = c->now_ns(), next;

        if (state != WORKER_PROCESS_IDLE)
            return state;
        if (patience_is_over(&c->patience, now))
            return settle_hang(c);
        if (now >= until)
            return WORKER_PROCESS_IDLE;
        next = until < c->patience.until_ns ? until : c->patience.until_ns;
        poll(&p, 1, (int)((next - now) / 1000000u + 1));
    }
}
