/*
 * sequence -- several threads finish numbered pieces of work; something must happen in order.
 *
 *     sequence_wait(&seq, i);   piece 0..i-1 have had their turn
 *     ...                       short: give piece i its place
 *     sequence_next(&seq);      now it is the turn of i + 1
 *
 * Every number must have its turn, also after a failure, and numbers must be handed to
 * threads in ascending order (as pool_for does): otherwise a thread waits for ever.
 */
#ifndef SNAG_BASE_SEQUENCE_H
#define SNAG_BASE_SEQUENCE_H

#include <pthread.h>
#include <stddef.h>

struct sequence {
    pthread_mutex_t lock; /* guards turn */
    pthread_cond_t moved;
    size_t turn;
};

void sequence_init(struct sequence *seq);
void sequence_release(struct sequence *seq);
void sequence_wait(struct sequence *seq, size_t i);
void sequence_next(struct sequence *seq);

#endif
