/*
 * worker_process -- a child process that brings blocks of bytes, and may crash or hang.
 *
 * For libraries that read what others wrote, where guard.h cannot help because the reading goes
 * on beside everything else, for hours: each file or stream is read by a child of its own, and
 * what becomes of the child is one of the things that can be received from it.
 *
 *     child                                  parent
 *     memcpy(worker_process_room(end), ...)        worker_process_open(&worker, fn, ctx)
 *     worker_process_send(end, kind, n)    ---->   worker_process_receive(worker, 1000, &block)
 *     worker_process_beat(end)             ---->   (it lives, there is just nothing to bring)
 *     return 0                             ---->   WORKER_PROCESS_OVER
 *
 * Blocks lie in memory that both share; there are two, so that the child can fill one while the
 * parent looks at the other. A child that says nothing for longer than the parent's patience
 * (patience.h), though it is its turn, is killed. A child whose parent is gone ends by itself.
 */
#ifndef SNAG_BASE_WORKER_PROCESS_H
#define SNAG_BASE_WORKER_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#define WORKER_PROCESS_BYTES ((size_t)1 << 20) /* the largest block */

struct worker_process;     /* the parent's end */
struct worker_process_end; /* the child's */

enum worker_process_state {
    WORKER_PROCESS_IDLE,  /* nothing yet */
    WORKER_PROCESS_BLOCK, /* there is a block */
    WORKER_PROCESS_OVER,  /* the child's function has returned 0 */
    WORKER_PROCESS_DIED,  /* a signal ended it; err_message says which */
    WORKER_PROCESS_HUNG,  /* it was killed because it said nothing */
};

/* What was brought: kind is between the two of them. */
struct worker_process_block {
    uint32_t kind;
    const void *data; /* valid until the next worker_process_receive */
    size_t bytes;
};

/*
 * worker_process_open -- start a child that runs fn.
 *   fn          returns 0, or a negative ERR_* with err_set, which worker_process_receive
 *               passes on. It may not touch what threads of the parent share, nor return to the
 *               caller
 *   patience_s  seconds without a word that are too many
 *   now_ns      what tells the time, for tests; NULL: clock_ns
 * What the child writes to standard output is dropped, what it writes to standard error can be
 * looked at with worker_process_said. Returns 0 or ERR_IO. Close in any case.
 */
int worker_process_open(struct worker_process **worker_process,
                        int (*fn)(void *ctx, struct worker_process_end *end), void *ctx,
                        unsigned patience_s, uint64_t (*now_ns)(void));

/* worker_process_close -- ends the child, whatever it does. NULL is harmless. */
void worker_process_close(struct worker_process *worker_process);

/*
 * worker_process_receive -- the next block; gives the last one back.
 *   timeout_ms  wait no longer than that; 0: not at all
 * Returns an enum worker_process_state or what fn has returned. After WORKER_PROCESS_OVER and
 * what comes after it in the list, or an error, it is the same every time.
 */
int worker_process_receive(struct worker_process *worker_process, int timeout_ms,
                           struct worker_process_block *block);

/* worker_process_fd -- becomes readable when there may be something to receive, for poll(). */
int worker_process_fd(const struct worker_process *worker_process);

/* worker_process_room -- WORKER_PROCESS_BYTES of memory for the next block. Waits until it is
 * free. */
void *worker_process_room(struct worker_process_end *end);

/* worker_process_send -- the first n bytes of the room are a block. */
void worker_process_send(struct worker_process_end *end, uint32_t kind, size_t n);

/* worker_process_beat -- say that we live. */
void worker_process_beat(struct worker_process_end *end);

/*
 * worker_process_said -- the end of what the calling child has written to standard error.
 *   out  [n] zero-terminated
 */
void worker_process_said(struct worker_process_end *end, char *out, size_t n);

#endif
