/* Open addressing with linear probing; a slot holds an id, the text is compared through it. */
#include "base/names.h"

#include "base/mem.h"
#include "base/xxh.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256u

static size_t slot_of(const struct names *names, const char *text, size_t length)
{
    size_t mask = names->n_slots - 1;
    size_t at = (size_t)XXH3_64bits(text, length) & mask;

    while (names->slot[at] != NAMES_NONE && strcmp(names->name[names->slot[at]], text) != 0)
        at = (at + 1) & mask;
    return at;
}

static void grow(struct names *names)
{
    free(names->slot);
    names->n_slots = names->n_slots ? 2 * names->n_slots : FIRST_SLOTS;
    names->slot = mem_resize(NULL, names->n_slots, sizeof *names->slot);
    memset(names->slot, 0xff, names->n_slots * sizeof *names->slot);
    for (uint32_t i = 0; i < names->n; i++)
        names->slot[slot_of(names, names->name[i], strlen(names->name[i]))] = i;
}

void names_release(struct names *names)
{
    free(names->name);
    free(names->slot);
    arena_release(&names->text);
    *names = (struct names){0};
}

uint32_t names_add(struct names *names, const char *text)
{
    size_t at;

    if (names->n_slots < 2 * ((size_t)names->n + 1))
        grow(names);
    at = slot_of(names, text, strlen(text));
    if (names->slot[at] == NAMES_NONE) {
        mem_grow(&names->name, &names->cap, (size_t)names->n + 1);
        names->name[names->n] = arena_string(&names->text, text);
        names->slot[at] = names->n++;
    }
    return names->slot[at];
}

uint32_t names_find(const struct names *names, const char *text)
{
    if (names->n == 0)
        return NAMES_NONE;
    return names->slot[slot_of(names, text, strlen(text))];
}
