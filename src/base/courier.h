/*
 * courier -- a child process that brings blocks of bytes, and may crash or hang.
 *
 * For libraries that read what others wrote, where guard.h cannot help because the reading goes
 * on beside everything else, for hours: each file or stream is read by a child of its own, and
 * what becomes of the child is one of the things that can be received from it.
 *
 *     child                                  parent
 *     memcpy(courier_room(end), ...)         courier_open(&courier, fn, ctx)
 *     courier_send(end, kind, n)     ---->   courier_receive(courier, 1000, &block)
 *     courier_beat(end)              ---->   (it lives, there is just nothing to bring)
 *     return 0                       ---->   COURIER_OVER
 *
 * Blocks lie in memory that both share; there are two, so that the child can fill one while the
 * parent looks at the other. A child that says nothing for longer than the parent's patience,
 * though it is its turn, is killed. A child whose parent is gone ends by itself.
 */
#ifndef SNAG_BASE_COURIER_H
#define SNAG_BASE_COURIER_H

#include <stddef.h>
#include <stdint.h>

#define COURIER_BYTES ((size_t)1 << 20) /* the largest block */

struct courier;     /* the parent's end */
struct courier_end; /* the child's */

enum courier_state {
    COURIER_IDLE,  /* nothing yet */
    COURIER_BLOCK, /* there is a block */
    COURIER_OVER,  /* the child's function has returned 0 */
    COURIER_DIED,  /* a signal ended it; err_message says which */
    COURIER_HUNG,  /* it was killed because it said nothing */
};

/* What was brought: kind is between the two of them. */
struct courier_block {
    uint32_t kind;
    const void *data; /* valid until the next courier_receive */
    size_t bytes;
};

/*
 * courier_open -- start a child that runs fn.
 *   fn          returns 0, or a negative ERR_* with err_set, which courier_receive passes on.
 *               It may not touch what threads of the parent share, nor return to the caller
 *   patience_s  seconds without a word that are too many
 *   now_ns      what tells the time, for tests; NULL: clock_ns
 * What the child writes to standard output is dropped, what it writes to standard error can be
 * looked at with courier_said. Returns 0 or ERR_IO. Close in any case.
 */
int courier_open(struct courier **courier, int (*fn)(void *ctx, struct courier_end *end),
                 void *ctx, unsigned patience_s, uint64_t (*now_ns)(void));

/* courier_close -- ends the child, whatever it does. NULL is harmless. */
void courier_close(struct courier *courier);

/*
 * courier_receive -- the next block; gives the last one back.
 *   timeout_ms  wait no longer than that; 0: not at all
 * Returns an enum courier_state or what fn has returned. After COURIER_OVER and what comes
 * after it in the list, or an error, it is the same every time.
 */
int courier_receive(struct courier *courier, int timeout_ms, struct courier_block *block);

/* courier_fd -- becomes readable when there may be something to receive, for poll(). */
int courier_fd(const struct courier *courier);

/* courier_room -- COURIER_BYTES of memory for the next block. Waits until it is free. */
void *courier_room(struct courier_end *end);

/* courier_send -- the first n bytes of the room are a block. */
void courier_send(struct courier_end *end, uint32_t kind, size_t n);

/* courier_beat -- say that we live. */
void courier_beat(struct courier_end *end);

/*
 * courier_said -- the end of what the calling child has written to standard error.
 *   out  [n] zero-terminated
 */
void courier_said(struct courier_end *end, char *out, size_t n);

#endif
