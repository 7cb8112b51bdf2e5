/*
 * board -- the newest of something, for whoever looks: one thread writes bytes on it, others
 * take copies.
 */
#ifndef SNAG_BASE_BOARD_H
#define SNAG_BASE_BOARD_H

#include <pthread.h>
#include <stddef.h>

struct board {
    pthread_mutex_t lock; /* guards all below; nothing else is locked under it */
    void *data;
    size_t size, cap;
};

void board_init(struct board *board);
void board_release(struct board *board);

/* board_write -- replace what is on it; size 0 wipes it. */
void board_write(struct board *board, const void *data, size_t size);

/* board_copy -- what is on it, NULL for nothing. Free with free(). */
void *board_copy(struct board *board, size_t *size);

#endif
