#include "base/board.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void board_init(struct board *board)
{
    *board = (struct board){.data = NULL};
    pthread_mutex_init(&board->lock, NULL);
}

void board_release(struct board *board)
{
    pthread_mutex_destroy(&board->lock);
    free(board->data);
    board->data = NULL;
}

void board_write(struct board *board, const void *data, size_t size)
{
    pthread_mutex_lock(&board->lock);
    mem_grow(&board->data, &board->cap, size, 1);
    if (size > 0)
        memcpy(board->data, data, size);
    board->size = size;
    pthread_mutex_unlock(&board->lock);
}

void *board_copy(struct board *board, size_t *size)
{
    void *copy = NULL;

    pthread_mutex_lock(&board->lock);
    *size = board->size;
    if (board->size > 0) {
        copy = mem_alloc(board->size, 1);
        memcpy(copy, board->data, board->size);
    }
    pthread_mutex_unlock(&board->lock);
    return copy;
}
