/* A counter behind a lock; everybody is woken, the one whose turn it is goes on. */
#include "base/sequence.h"

void sequence_init(struct sequence *seq)
{
    pthread_mutex_init(&seq->lock, NULL);
    pthread_cond_init(&seq->moved, NULL);
    seq->turn = 0;
}

void sequence_release(struct sequence *seq)
{
    pthread_mutex_destroy(&seq->lock);
    pthread_cond_destroy(&seq->moved);
}

void sequence_wait(struct sequence *seq, size_t i)
{
    pthread_mutex_lock(&seq->lock);
    while (seq->turn != i)
        pthread_cond_wait(&seq->moved, &seq->lock);
    pthread_mutex_unlock(&seq->lock);
}

void sequence_next(struct sequence *seq)
{
    pthread_mutex_lock(&seq->lock);
    seq->turn++;
    pthread_cond_broadcast(&seq->moved);
    pthread_mutex_unlock(&seq->lock);
}
