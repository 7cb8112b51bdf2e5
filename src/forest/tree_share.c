/* Process 0 lays what the others have between its own, location by location. */
#include "forest/tree_share.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static unsigned least_loaded(const uint64_t *load, unsigned n)
{
    unsigned least = 0;

    for (unsigned p = 1; p < n; p++)
        if (load[p] < load[least])
            least = p;
    return least;
}

void tree_share_init(struct tree_share *s, struct process_group *process_group,
                     const struct definitions *defs, const uint64_t *n_calls)
{
    uint32_t n = defs->n_locations;
    uint64_t *load = mem_alloc(process_group_size(process_group), sizeof *load);

    *s = (struct tree_share){.process_group = process_group, .n_locations = n};
    s->owner = mem_alloc(n, sizeof *s->owner);
    s->mine = mem_alloc(n, sizeof *s->mine);
    s->n_trees = mem_alloc(n, sizeof *s->n_trees);
    for (uint32_t l = 0; l < n; l++) {
        bool is_same = l > 0 && forest_place(defs, l) == forest_place(defs, l - 1);

        s->owner[l] =
            is_same ? s->owner[l - 1] : least_loaded(load, process_group_size(process_group));
        load[s->owner[l]] += n_calls[l];
        if (s->owner[l] == process_group_me(process_group))
            s->mine[s->n_mine++] = l;
    }
    free(load);
}

void tree_share_release(struct tree_share *s)
{
    free(s->owner);
    free(s->mine);
    free(s->n_trees);
    *s = (struct tree_share){0};
}

void tree_share_sum_u32(void *into, const void *from, size_t n)
{
    uint32_t *to = into;
    const uint32_t *more = from;

    for (size_t i = 0; i < n; i++)
        to[i] += more[i];
}

void tree_share_sum_u64(void *into, const void *from, size_t n)
{
    uint64_t *to = into;
    const uint64_t *more = from;

    for (size_t i = 0; i < n; i++)
        to[i] += more[i];
}

void tree_share_count(struct tree_share *s, const struct forest *own)
{
    for (uint32_t t = 0; t < own->n_trees; t++)
        s->n_trees[own->location[t]]++;
    tree_share_add(s, s->n_trees, s->n_locations, sizeof *s->n_trees, tree_share_sum_u32);
    s->n_all = 0;
    for (uint32_t l = 0; l < s->n_locations; l++)
        s->n_all += s->n_trees[l];
}

unsigned tree_share_size(const struct tree_share *s)
{
    return s ? process_group_size(s->process_group) : 1;
}

bool tree_share_is_first(const struct tree_share *s)
{
    return s == NULL || process_group_me(s->process_group) == 0;
}

static size_t trees_of(const struct tree_share *s, unsigned process)
{
    size_t n = 0;

    for (uint32_t l = 0; l < s->n_locations; l++)
        n += s->owner[l] == process ? s->n_trees[l] : 0;
    return n;
}

/* From the trees of one process, one location after the other, to where they are among all, or
 * back. */
static void lay(const struct tree_share *s, unsigned process, char *all, char *part,
                size_t width, bool is_back)
{
    for (uint32_t l = 0; l < s->n_locations; l++) {
        size_t bytes = s->n_trees[l] * width;

        if (s->owner[l] == process && bytes > 0) {
            memcpy(is_back ? part : all, is_back ? all : part, bytes);
            part += bytes;
        }
        all += bytes;
    }
}

void *tree_share_take(const struct tree_share *s, void *own, size_t width)
{
    char *all;

    if (s == NULL)
        return own;
    if (process_group_me(s->process_group) > 0) {
        process_group_send(s->process_group, 0, own,
                           trees_of(s, process_group_me(s->process_group)) * width);
        free(own);
        return NULL;
    }
    all = mem_resize(NULL, s->n_all, width);
    lay(s, 0, all, own, width, false);
    free(own);
    for (unsigned p = 1; p < process_group_size(s->process_group); p++) {
        size_t n = trees_of(s, p);
        char *part = mem_resize(NULL, n, width);

        process_group_receive(s->process_group, p, part, n * width);
        lay(s, p, all, part, width, false);
        free(part);
    }
    return all;
}

void tree_share_hand_out(const struct tree_share *s, const void *all, void *own, size_t width)
{
    if (process_group_me(s->process_group) > 0) {
        process_group_receive(s->process_group, 0, own,
                              trees_of(s, process_group_me(s->process_group)) * width);
        return;
    }
    lay(s, 0, (char *)all, own, width, true);
    for (unsigned p = 1; p < process_group_size(s->process_group); p++) {
        size_t n = trees_of(s, p);
        char *part = mem_resize(NULL, n, width);

        lay(s, p, (char *)all, part, width, true);
        process_group_send(s->process_group, p, part, n * width);
        free(part);
    }
}

void tree_share_tell(const struct tree_share *s, void *data, size_t bytes)
{
    if (s)
        process_group_broadcast(s->process_group, data, bytes);
}

void tree_share_tell_pack(const struct tree_share *s, struct pack *pack)
{
    if (s)
        process_group_broadcast_pack(s->process_group, pack);
}

void tree_share_add(const struct tree_share *s, void *data, size_t n, size_t width,
                    void (*add)(void *into, const void *from, size_t n))
{
    void *other;

    if (s == NULL)
        return;
    if (process_group_me(s->process_group) > 0)
        process_group_send(s->process_group, 0, data, n * width);
    other = mem_resize(NULL, n, width);
    for (unsigned p = 1;
         process_group_me(s->process_group) == 0 && p < process_group_size(s->process_group);
         p++) {
        process_group_receive(s->process_group, p, other, n * width);
        add(data, other, n);
    }
    free(other);
    process_group_broadcast(s->process_group, data, n * width);
}
