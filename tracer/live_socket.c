/* What was sent is cut off the queue when it is most of it. */
#include "live_socket.h"

#include "live_frame.h"
#include "memory.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_RETRY_NS 1000000000u
#define MAX_DOUBLINGS 3 /* eight seconds */

static void empty(struct live_socket *s)
{
    s->queue.n = s->n_sent = s->n_queued = 0;
    s->queue.is_short = false;
}

bool live_socket_connect(struct live_socket *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (s->fd >= 0 || clock_ns() < s->retry_ns || strlen(s->path) >= sizeof address.sun_path)
        return false;
    strcpy(address.sun_path, s->path);
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0)
        return false;
    empty(s);
    if (connect(s->fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        s->connected_ns = clock_ns();
        return true;
    }
    live_socket_close(s);
    return false;
}

void live_socket_listen(struct live_socket *s)
{
    char frame[sizeof s->refusal];
    const char *why;
    ssize_t n;

    if (s->fd < 0)
        return;
    n = recv(s->fd, frame, sizeof frame - 1, MSG_DONTWAIT); /* small: it comes in one piece */
    why = n > 0 ? frame_refusal(frame, (size_t)n) : NULL;
    if (why) {
        snprintf(s->refusal, sizeof s->refusal, "%s", why);
        s->retry_ns = clock_ns() + ((uint64_t)FIRST_RETRY_NS << s->n_refusals);
        s->n_refusals += s->n_refusals < MAX_DOUBLINGS;
        live_socket_close(s);
    } else if (clock_ns() - s->connected_ns > FIRST_RETRY_NS) {
        s->n_refusals = 0; /* we are wanted */
    }
}

bool live_socket_has_room(const struct live_socket *s, size_t n)
{
    return s->fd >= 0 && s->queue.n - s->n_sent + n <= s->limit;
}

void live_socket_queued(struct live_socket *s, uint64_t n_records)
{
    if (memory_grow(&s->queued, s->n_queued, s->cap_queued))
        s->queued[s->n_queued++] = (struct queued_records){s->queue.n, n_records};
}

uint64_t live_socket_unsent(const struct live_socket *s)
{
    uint64_t n = 0;

    for (size_t i = 0; i < s->n_queued; i++)
        n += s->queued[i].end > s->n_sent ? s->queued[i].n : 0;
    return n;
}

/* What was sent goes. */
static void cut_off(struct live_socket *s)
{
    size_t n_left = 0;

    memmove(s->queue.data, s->queue.data + s->n_sent, s->queue.n - s->n_sent);
    for (size_t i = 0; i < s->n_queued; i++)
        if (s->queued[i].end > s->n_sent)
            s->queued[n_left++] =
                (struct queued_records){s->queued[i].end - s->n_sent, s->queued[i].n};
    s->n_queued = n_left;
    s->queue.n -= s->n_sent;
    s->n_sent = 0;
}

void live_socket_send(struct live_socket *s)
{
    if (s->queue.is_short) /* half a frame is none */
        live_socket_close(s);
    while (s->fd >= 0 && s->n_sent < s->queue.n) {
        ssize_t n = send(s->fd, s->queue.data + s->n_sent, s->queue.n - s->n_sent,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n > 0) {
            s->n_sent += (size_t)n;
        } else if (errno == EAGAIN) {
            break;
        } else if (errno != EINTR) {
            live_socket_listen(s);
            live_socket_close(s);
        }
    }
    if (s->n_sent > s->queue.n / 2)
        cut_off(s);
}

void live_socket_wait(const struct live_socket *s, int wait_ms)
{
    poll(&(struct pollfd){.fd = s->fd, .events = POLLOUT}, 1, wait_ms);
}

void live_socket_close(struct live_socket *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    empty(s);
}
