#include "monitor/live_points.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

const char *const live_kind_names[LIVE_KINDS] = {
    [LIVE_CALL] = "calls", [LIVE_EXECUTION] = "executions"};

int live_kind_find(const char *name)
{
    int k = 0;

    while (k < LIVE_KINDS && strcmp(live_kind_names[k], name) != 0)
        k++;
    return k;
}

static struct live_block *new_block(void)
{
    /* Not zeroed: only what was written is read. */
    struct live_block *block = mem_resize(NULL, 1, sizeof *block);

    block->n = 0;
    block->n_users = 1;
    return block;
}

static void drop(struct live_block *block)
{
    if (--block->n_users == 0)
        free(block);
}

void live_points_release(struct live_points *points)
{
    for (uint32_t i = 0; i < points->n_old; i++)
        drop(points->old_block[i]);
    for (uint32_t i = 0; i < points->n_new; i++)
        drop(points->new_block[i]);
    *points = (struct live_points){0};
}

/* Appends to a chain of at most `most` blocks; false when it is full. */
static bool append(struct live_block **block, uint32_t *n, uint32_t most,
                   const struct live_point *point)
{
    if (*n == 0 || block[*n - 1]->n == LIVE_BLOCK) {
        if (*n == most)
            return false;
        block[(*n)++] = new_block();
    }
    block[*n - 1]->point[block[*n - 1]->n++] = *point;
    return true;
}

static void drop_first(struct live_block **block, uint32_t *n)
{
    drop(block[0]);
    memmove(block, block + 1, --*n * sizeof(struct live_block *));
}

static void keep_anomalies(struct live_points *points, const struct live_block *block)
{
    for (uint32_t i = 0; i < block->n; i++) {
        if (block->point[i].verdict != LIVE_ANOMALY)
            continue;
        if (append(points->old_block, &points->n_old, LIVE_OLD_BLOCKS, &block->point[i]))
            continue;
        drop_first(points->old_block, &points->n_old);
        append(points->old_block, &points->n_old, LIVE_OLD_BLOCKS, &block->point[i]);
    }
}

void live_points_add(struct live_points *points, const struct live_point *point)
{
    struct live_point numbered = *point;

    numbered.id = points->next++;
    if (append(points->new_block, &points->n_new, LIVE_NEW_BLOCKS, &numbered))
        return;
    keep_anomalies(points, points->new_block[0]);
    drop_first(points->new_block, &points->n_new);
    append(points->new_block, &points->n_new, LIVE_NEW_BLOCKS, &numbered);
}

/* Returns the block, or another in its place. */
static struct live_block *revise(struct live_points *points, struct live_block *block,
                                 bool (*is_taken)(void *, const struct live_point *), void *ctx)
{
    struct live_block *revised = NULL;

    for (uint32_t i = 0; i < block->n; i++) {
        if (block->point[i].verdict != LIVE_ANOMALY || !is_taken(ctx, &block->point[i]))
            continue;
        if (revised == NULL) {
            revised = new_block();
            revised->n = block->n;
            memcpy(revised->point, block->point, block->n * sizeof *block->point);
        }
        revised->point[i].verdict = LIVE_NORMAL;
        points->n_taken_back++;
    }
    if (revised == NULL)
        return block;
    drop(block);
    return revised;
}

void live_points_take_back(struct live_points *points,
                           bool (*is_taken)(void *ctx, const struct live_point *point),
                           void *ctx)
{
    for (uint32_t i = 0; i < points->n_old; i++)
        points->old_block[i] = revise(points, points->old_block[i], is_taken, ctx);
    for (uint32_t i = 0; i < points->n_new; i++)
        points->new_block[i] = revise(points, points->new_block[i], is_taken, ctx);
}

static void take(struct live_cut *cut, struct live_block *const *block, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        block[i]->n_users++;
        cut->part[cut->n].block = block[i];
        cut->part[cut->n++].n = block[i]->n;
    }
}

void live_points_take(struct live_points *points, struct live_cut *cut)
{
    cut->n = 0;
    cut->next = points->next;
    take(cut, points->old_block, points->n_old);
    take(cut, points->new_block, points->n_new);
    cut->oldest_whole = points->n_new ? points->new_block[0]->point[0].id : 0;
    cut->oldest = points->n_old ? points->old_block[0]->point[0].id : cut->oldest_whole;
}

void live_points_give_back(struct live_cut *cut)
{
    for (uint32_t i = 0; i < cut->n; i++)
        drop(cut->part[i].block);
    cut->n = 0;
}
