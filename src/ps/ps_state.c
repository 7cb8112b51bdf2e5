/* A key is its parts with line feeds between them: text of a frame has no control characters.
 */
#include "ps/ps_state.h"

#include "base/mem.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ps_state_release(struct ps_state *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        sketch_release(&s->sketch[i]);
    free(s->sketch);
    free(s->used);
    names_release(&s->key);
    free(s->stat);
    *s = (struct ps_state){0};
}

void ps_state_add(struct ps_state *s, uint32_t slot, const struct sketch *from)
{
    struct sketch *into;

    mem_grow(&s->sketch, &s->cap, (size_t)slot + 1);
    while (s->n <= slot)
        sketch_init(&s->sketch[s->n++]);
    into = &s->sketch[slot];
    if (from->n > PS_MAX_CALLS - into->n) {
        s->n_lost += from->n;
        return;
    }
    if (into->n == 0 && from->n > 0) {
        *mem_push(&s->used, &s->n_used, &s->used_cap) = slot;
    }
    sketch_merge(into, from);
}

void ps_state_count(struct ps_state *s, const char *key, const struct ps_stat *stat)
{
    uint32_t n = s->key.n, id = names_add(&s->key, key);

    mem_grow(&s->stat, &s->stat_cap, s->key.n);
    if (id == n)
        s->stat[id] = (struct ps_stat){0};
    if (!ps_stat_merge(&s->stat[id], stat))
        s->n_lost += stat->n;
}

void ps_state_merge(struct ps_state *into, const struct ps_state *from)
{
    for (uint32_t i = 0; i < from->n_used; i++)
        ps_state_add(into, from->used[i], &from->sketch[from->used[i]]);
    for (uint32_t i = 0; i < from->key.n; i++)
        ps_state_count(into, from->key.name[i], &from->stat[i]);
}

static char *put(char *to, struct ps_span text)
{
    if (text.n > 0)
        memcpy(to, text.data, text.n);
    to[text.n] = '\n';
    return to + text.n + 1;
}

/* The kind is part of it, so that no client can spoil the numbers of another by its type. */
void ps_state_key(const struct ps_stat_entry *e, char key[PS_KEY_SIZE])
{
    char *to = put(put(put(key, e->program), e->region), e->name);

    snprintf(to, 16, "%c%u", e->stat.is_real ? 'r' : 'w', e->rank);
}

struct ps_stat_key ps_state_split(char *text)
{
    struct ps_stat_key key = {0};

    key.program = strsep(&text, "\n");
    key.region = strsep(&text, "\n");
    key.name = strsep(&text, "\n");
    key.rank = (uint32_t)strtoul(text + 1, NULL, 10);
    return key;
}

/* ---------------------------------------------------------------------------------- bytes */

void ps_state_pack_stats(const struct ps_state *s, struct pack *p)
{
    pack_u32(p, s->key.n);
    for (uint32_t i = 0; i < s->key.n; i++) {
        pack_text(p, s->key.name[i]);
        pack_array(p, &s->stat[i], 1, sizeof s->stat[i]);
    }
}

/* "program\nregion\nname\n", 'r' or 'w', and a rank. */
static bool is_key(const char *text, size_t n, bool is_real)
{
    size_t last = n;
    unsigned n_parts = 0;

    while (last > 0 && text[last - 1] != '\n')
        last--;
    if (n - last < 2 || n - last > 11 || text[last] != (is_real ? 'r' : 'w'))
        return false;
    for (size_t i = last + 1; i < n; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;

    for (size_t i = 0; i < n; i++) {
        n_parts += text[i] == '\n';
        if (text[i] == '\0' || ((unsigned char)text[i] < 0x20 && text[i] != '\n'))
            return false;
    }
    return n_parts == 3 && n < PS_KEY_SIZE;
}

/* As it is in memory, but whatever the bytes are, a statistic that there can be. */
static void unpack_stat(struct pack *p, struct ps_stat *stat)
{
    unsigned char *bytes = unpack_array(p, 1, sizeof *stat);

    p->is_bad |= bytes[offsetof(struct ps_stat, is_real)] > 1;
    memset(stat, 0, sizeof *stat);
    if (!p->is_bad)
        memcpy(stat, bytes, sizeof *stat);
    free(bytes);
    p->is_bad |= stat->n > PS_MAX_CALLS;
    if (stat->is_real)
        p->is_bad |= !isfinite(stat->real.min) || !isfinite(stat->real.max) ||
                     !isfinite(stat->real.sum) || !isfinite(stat->real.square_sum) ||
                     (stat->n > 0 && stat->real.min > stat->real.max);
    else
        p->is_bad |= stat->n > 0 && stat->whole.min > stat->whole.max;
}

void ps_state_unpack_stats(struct ps_state *s, struct pack *p)
{
    uint32_t n = unpack_u32(p);

    p->is_bad |= n > PS_MAX_STATS;
    for (uint32_t i = 0; i < n && !p->is_bad; i++) {
        size_t length;
        char *key = unpack_text(p, &length);
        struct ps_stat stat;

        unpack_stat(p, &stat);
        p->is_bad |= !is_key(key, length, stat.is_real);
        if (!p->is_bad && stat.n > 0)
            ps_state_count(s, key, &stat);
        free(key);
    }
}

void ps_state_unpack_sketch(struct sketch *s, struct pack *p)
{
    uint32_t first = 0, last;

    sketch_unpack(s, p);
    last = s->n_bins;
    while (first < last && s->count[first] == 0)
        first++;
    while (last > first && s->count[last - 1] == 0)
        last--;
    if (p->is_bad || s->n == 0)
        return;
    p->is_bad = sketch_bin(s->min) != s->first_bin + first ||
                sketch_bin(s->max) != s->first_bin + last - 1 || s->n > PS_MAX_CALLS ||
                s->sums.sum < (unsigned __int128)s->n * s->min ||
                s->sums.sum > (unsigned __int128)s->n * s->max;
}

void ps_state_pack(const struct ps_state *s, struct pack *p)
{
    pack_u64(p, s->n_lost);
    pack_u32(p, s->n_used);
    for (uint32_t i = 0; i < s->n_used; i++) {
        pack_u32(p, s->used[i]);
        sketch_pack(&s->sketch[s->used[i]], p);
    }
    ps_state_pack_stats(s, p);
}

void ps_state_unpack(struct ps_state *s, uint32_t n_slots, struct pack *p)
{
    uint32_t n;

    s->n_lost = unpack_u64(p);
    n = unpack_u32(p);
    p->is_bad |= n > n_slots;
    for (uint32_t i = 0; i < n && !p->is_bad; i++) {
        uint32_t slot = unpack_u32(p);
        struct sketch sketch;

        ps_state_unpack_sketch(&sketch, p);
        p->is_bad |= slot >= n_slots;
        if (!p->is_bad)
            ps_state_add(s, slot, &sketch);
        sketch_release(&sketch);
    }
    if (!p->is_bad)
        ps_state_unpack_stats(s, p);
}
