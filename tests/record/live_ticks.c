/*
 * Live output says that all up to a time was told only when it was: not while records are in a
 * chunk that it cannot look at, as a signal handler has begun another one; nor has a counter a
 * time behind them.
 *
 *     first chunk    | enter | ... full       neither is handed over before the sender has
 *     second chunk   | leave |                tried for some ticks
 */
#include "communicators.h"
#include "complain.h"
#include "live.h"
#include "objects.h"
#include "regions.h"
#include "ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET "live_ticks.socket"
#define FIRST_NS 1000
#define TICKS_BEFORE 5

static struct chunk first = {.n = 1}, second = {.n = 1};
static struct recorder recorder = {.first = &first, .next = second.slot + 1};

static void hand_over(void)
{
    atomic_fetch_add(&recorder.generation, 1);
    ring_put(&recorder, first.slot, first.n);
    ring_put(&recorder, second.slot, second.n);
    atomic_store(&recorder.next, first.slot);
    atomic_fetch_add(&recorder.generation, 1);
}

/* ----------------------------------------------------- what the sender asks, once a tick: */

void recorder_fence(void)
{
    static int n_ticks;

    if (n_ticks++ == TICKS_BEFORE)
        hand_over();
}

struct recorder *recorder_newest(void)
{
    return &recorder;
}

void recorder_give_up(int error)
{
    (void)error;
    abort();
}

uint32_t regions_from(uint32_t from, void (*each)(void *, const struct traced_region *),
                      void *ctx)
{
    (void)each, (void)ctx;
    return from;
}

uint32_t communicators_from(uint32_t from, void (*each)(void *, const struct communicator *),
                            void *ctx)
{
    (void)each, (void)ctx;
    return from;
}

uint32_t objects_count(void)
{
    return 0;
}

void objects_each(uint32_t from, uint32_t end, void (*each)(void *, const struct object *),
                  void *ctx)
{
    (void)from, (void)end, (void)each, (void)ctx;
}

void complain(const char *format, ...)
{
    puts(format);
}

/* ------------------------------------------------------------------------------- its reader */

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, path);
    unlink(path);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1) != 0)
        exit(2);
    return fd;
}

static void read_all(int fd, void *to, size_t n)
{
    if (recv(fd, to, n, MSG_WAITALL) != (ssize_t)n)
        exit(2);
}

/* The kind of the next frame, and its payload. */
static enum tracer_frame_kind read_frame(int fd, unsigned char *payload, size_t most)
{
    unsigned char header[TRACER_HEADER_SIZE];
    size_t n = 0;

    read_all(fd, header, sizeof header);
    for (int i = 0; i < 4; i++)
        n |= (size_t)header[8 + i] << 8 * i;
    if (n > most)
        exit(2);
    read_all(fd, payload, n);
    return (enum tracer_frame_kind)header[TRACER_MAGIC_SIZE];
}

/* Events: the thread, what was lost, when the frame begins; the first two are a byte here. */
static uint64_t begin_of(const unsigned char *payload)
{
    uint64_t begin_ns = 0;

    for (int i = 0; i < 8; i++)
        begin_ns |= (uint64_t)payload[2 + i] << 8 * i;
    return begin_ns;
}

int main(void)
{
    static unsigned char payload[1 << 20];
    struct live_process place = {.n_ranks = 1};
    int listening = listen_at(SOCKET), fd;
    enum tracer_frame_kind kind;

    first.slot[0].head.time_ns = FIRST_NS;
    first.slot[0].head.kind = RECORD_ENTER;
    second.slot[0].head.time_ns = FIRST_NS + 1;
    second.slot[0].head.kind = RECORD_LEAVE;
    setenv("SNAG_TRACER_LIVE", SOCKET, 1);
    setenv("SNAG_TRACER_LIVE_MS", "1", 1);
    if (!live_start(&place))
        return 2;
    fd = accept(listening, NULL, NULL);
    unlink(SOCKET);
    do
        kind = read_frame(fd, payload, sizeof payload);
    while (kind != TRACER_FRAME_EVENTS && kind != TRACER_FRAME_TICK);
    if (kind == TRACER_FRAME_TICK || begin_of(payload) != FIRST_NS) {
        printf("before the records that came first there is %s\n",
               kind == TRACER_FRAME_TICK ? "a tick" : "a counter");
        return 1;
    }
    while (read_frame(fd, payload, sizeof payload) != TRACER_FRAME_TICK)
        ;
    live_stop();
    return 0;
}
