/*
 * sample_ranks -- the processes of a program that talks to a tracer stream, for tests.
 *
 * The stream and its processes are one thread: each sends what fits the socket, then the stream
 * is asked. Ticks are of 100 ms.
 */
#ifndef SNAG_TESTS_SAMPLE_RANKS_H
#define SNAG_TESTS_SAMPLE_RANKS_H

#include "trace/stream.h"

#include <stdint.h>

#include "sample_frames.h"

#define MS 1000000u
#define TICK_NS ((uint64_t)100 * MS)

/* Where the stream listens. */
extern char sample_path[64], sample_url[80];

struct rank {
    int fd;
    struct pack out;
    uint64_t start_ns; /* a multiple of a tick: time 0 of the trace */
};

uint64_t now_ns(void);
struct stream *open_stream(struct stream *stream);
int connect_to(const char *path);

/*
 * come, come_late -- say hello and define all; come_late was started since_ns ago. A rank that
 * comes again to the same stream is the same process.
 * come_as -- another process, with its own number and, if it is not 0, its job's.
 */
struct rank come(uint32_t rank, uint32_t n_ranks);
struct rank come_late(uint32_t rank, uint32_t n_ranks, uint64_t since_ns);
struct rank come_as(const struct sample_process *process);

/* talk -- send what is packed, while the stream reads. Returns its last state. */
int talk(struct stream *stream, struct rank *r);

/* go -- close the connection. */
void go(struct rank *r);

int wait_for_step(struct stream *stream);

/* letters -- the kinds of the events of the next part, a letter each, and the first of the
 * region of calls. */
const char *letters(struct stream *stream, struct stream_part *p);

/* send_step -- one call of step, at a time in ticks. */
void send_step(struct rank *r, double at);

/* send_all_kinds -- a record of each kind, 100 ns apart. */
void send_all_kinds(struct pack *to);

/* sample_main -- run the tests with a place for the socket. */
#define sample_main(tests)                                                                     \
    (sample_begin(), sample_end(cmocka_run_group_tests(tests, NULL, NULL)))
void sample_begin(void);
int sample_end(int status);

#endif
