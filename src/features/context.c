/*
 * Preorder: the path of a caller is known before those of its calls. Of several processes each
 * has its numbers in the order in which it saw them first, and no two have a place in common:
 * so process 0 only merges.
 */
#include "features/context.h"

#include "base/mem.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

uint32_t context_add(struct context *c, uint32_t parent, uint32_t region)
{
    uint32_t n_before = c->id.n, path = idmap_add(&c->id, key_pair(parent, region));

    if (path < n_before)
        return path;
    if (path >= c->cap) {
        c->cap = c->cap ? 2 * c->cap : 256;
        c->parent = mem_resize(c->parent, c->cap, sizeof *c->parent);
        c->region = mem_resize(c->region, c->cap, sizeof *c->region);
    }
    c->parent[path] = parent;
    c->region[path] = region;
    c->n = c->id.n;
    return path;
}

void context_number_tree(struct context *c, const struct forest *forest, uint32_t t,
                         bool is_learning, uint32_t *path)
{
    uint32_t base = forest->first[t], n = forest->first[t + 1] - base;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t parent = forest->parent[base + i], region = forest->region[base + i];
        uint32_t caller = parent == FOREST_ROOT ? PATH_NONE : path[parent - base];

        if (is_learning)
            path[i] = context_add(c, caller, region);
        else if (parent == FOREST_ROOT || caller != PATH_NONE)
            path[i] = idmap_find(&c->id, key_pair(caller, region));
        else
            path[i] = PATH_NONE;
    }
}

void context_number(struct context *c, const struct forest *forest, bool is_learning,
                    uint32_t *path)
{
    for (uint32_t t = 0; t < forest->n_trees; t++)
        context_number_tree(c, forest, t, is_learning, path + forest->first[t]);
}

void context_rename(struct context *c, const uint32_t *to)
{
    idmap_release(&c->id);
    for (uint32_t path = 0; path < c->n; path++) {
        c->region[path] = to[c->region[path]];
        idmap_add(&c->id, key_pair(c->parent[path], c->region[path]));
    }
}

struct path_entry {
    uint32_t parent, region;
};

static struct key identify_path(void *entry, const uint32_t *to)
{
    struct path_entry *path = entry;

    path->parent = path->parent == PATH_NONE ? PATH_NONE : to[path->parent];
    return key_pair(path->parent, path->region);
}

void context_unite(struct context *c, const struct tree_share *share,
                   const struct first_seen *seen, uint32_t *to)
{
    struct path_entry *own = mem_resize(NULL, c->n, sizeof *own), *all;
    struct numbering numbering = {c->n, seen, own, sizeof *own, identify_path};
    uint32_t n;

    for (uint32_t p = 0; p < c->n; p++)
        own[p] = (struct path_entry){c->parent[p], c->region[p]};
    all = numbering_unite(share, &numbering, to, &n);
    context_release(c);
    for (uint32_t p = 0; p < n; p++)
        context_add(c, all[p].parent, all[p].region);
    free(own);
    free(all);
}

void context_release(struct context *c)
{
    free(c->parent);
    free(c->region);
    idmap_release(&c->id);
    *c = (struct context){0};
}

/* ------------------------------------------------------------- numbers of several processes */

struct first_seen *numbering_seen(const struct forest *forest, const struct tree_kinds *kinds,
                                  const uint32_t *column, uint32_t n)
{
    struct first_seen *seen = mem_resize(NULL, n, sizeof *seen);
    uint32_t n_seen = 0;

    for (uint32_t k = 0; k < kinds->n; k++)
        for (uint32_t i = kinds->at[k]; i < kinds->at[k + 1]; i++)
            if (column[i] == n_seen)
                seen[n_seen++] =
                    (struct first_seen){forest->location[kinds->first[k]],
                                        forest->index[kinds->first[k]], i - kinds->at[k]};
    return seen;
}

/* What process 0 has of one of them. */
struct listed {
    struct first_seen *seen; /* [n] */
    char *entry;             /* [n] */
    uint32_t *to;            /* [n] */
    uint32_t n, next;        /* next: the first that has no number yet */
};

static int by_place(const struct first_seen *a, const struct first_seen *b)
{
    return ORDER(a->location, b->location) ?:
           ORDER(a->index, b->index) ?:
           ORDER(a->vertex, b->vertex);
}

static struct listed *receive_lists(struct process_group *process_group,
                                    const struct numbering *own)
{
    struct listed *list = mem_alloc(process_group_size(process_group), sizeof *list);

    for (unsigned p = 0; p < process_group_size(process_group); p++) {
        struct listed *x = &list[p];

        x->n = own->n;
        if (p == 0) {
            x->seen = mem_copy(own->seen, own->n, sizeof *own->seen);
            x->entry = mem_copy(own->entry, own->n, own->width);
        } else {
            process_group_receive(process_group, p, &x->n, sizeof x->n);
            x->seen = mem_resize(NULL, x->n, sizeof *x->seen);
            x->entry = mem_resize(NULL, x->n, own->width);
            process_group_receive(process_group, p, x->seen, x->n * sizeof *x->seen);
            process_group_receive(process_group, p, x->entry, x->n * own->width);
        }
        x->to = mem_resize(NULL, x->n, sizeof *x->to);
    }
    return list;
}

/* The list whose next entry comes first, NULL when all are through. */
static struct listed *next_list(struct listed *list, unsigned n)
{
    struct listed *first = NULL;

    for (struct listed *x = list; x < list + n; x++)
        if (x->next < x->n &&
            (first == NULL || by_place(&x->seen[x->next], &first->seen[first->next]) < 0))
            first = x;
    return first;
}

static void *unite(struct listed *list, unsigned n, const struct numbering *own,
                   uint32_t *n_united)
{
    struct idmap known = {0};
    char *united = NULL;
    size_t cap = 0;
    struct listed *x;

    while ((x = next_list(list, n)) != NULL) {
        char *entry = x->entry + x->next * own->width;
        uint32_t n_before = known.n, number = idmap_add(&known, own->identify(entry, x->to));

        x->to[x->next++] = number;
        if (number < n_before)
            continue;
        if (known.n > cap) {
            cap = 2 * cap + 64;
            united = mem_resize(united, cap, own->width);
        }
        memcpy(united + number * own->width, entry, own->width);
    }
    *n_united = known.n;
    idmap_release(&known);
    return united;
}

void *numbering_unite(const struct tree_share *share, const struct numbering *own, uint32_t *to,
                      uint32_t *n_united)
{
    struct process_group *process_group = share->process_group;
    struct listed *list;
    void *united = NULL;

    if (process_group_me(process_group) > 0) {
        process_group_send(process_group, 0, &own->n, sizeof own->n);
        process_group_send(process_group, 0, own->seen, own->n * sizeof *own->seen);
        process_group_send(process_group, 0, own->entry, own->n * own->width);
        process_group_receive(process_group, 0, to, own->n * sizeof *to);
    } else {
        list = receive_lists(process_group, own);
        united = unite(list, process_group_size(process_group), own, n_united);
        if (own->n > 0)
            memcpy(to, list[0].to, own->n * sizeof *to);
        for (unsigned p = 0; p < process_group_size(process_group); p++) {
            if (p > 0)
                process_group_send(process_group, p, list[p].to,
                                   list[p].n * sizeof *list[p].to);
            free(list[p].seen);
            free(list[p].entry);
            free(list[p].to);
        }
        free(list);
    }
    process_group_broadcast(process_group, n_united, sizeof *n_united);
    if (process_group_me(process_group) > 0)
        united = mem_resize(NULL, *n_united, own->width);
    process_group_broadcast(process_group, united, *n_united * own->width);
    return united;
}

void numbering_apply(const uint32_t *to, uint32_t *number, size_t n)
{
    for (size_t i = 0; i < n; i++)
        number[i] = to[number[i]];
}
