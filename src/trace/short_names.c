/* Names that were given up stay taken: who comes later and would have one gets a longer one. */
#include "trace/short_names.h"

#include "base/mem.h"
#include "trace/region_name.h"

#include <stdlib.h>

struct short_name {
    const char *canonical;
    int level;
};

void short_names_release(struct short_names *s)
{
    free(s->shown);
    free(s->of);
    free(s->owner);
    free(s->changed);
    names_release(&s->text);
    *s = (struct short_names){0};
}

/* Whose turn it is to get a name. */
static void turn(struct short_names *s, uint32_t i)
{
    mem_grow(&s->changed, &s->changed_cap, s->n_changed + 1, sizeof *s->changed);
    s->changed[s->n_changed++] = i;
}

/* The first of the names of i, from its level on, that nobody else has or has had. Who has one
 * of them now comes behind. */
static void name(struct short_names *s, uint32_t i)
{
    struct short_name *of = &s->of[i];
    struct arena arena = {0};

    for (;; of->level++) {
        uint32_t n_before = s->text.n;
        uint32_t text =
            names_add(&s->text, region_name_longer(of->canonical, of->level, &arena));
        uint32_t other;

        s->shown[i] = s->text.name[text];
        if (text == n_before) {
            mem_grow(&s->owner, &s->owner_cap, s->text.n, sizeof *s->owner);
            s->owner[text] = i;
            break;
        }
        other = s->owner[text];
        if (other != NAMES_NONE && s->of[other].level < REGION_NAME_WHOLE) {
            s->owner[text] = NAMES_NONE;
            s->of[other].level++;
            turn(s, other);
        }
        if (of->level == REGION_NAME_WHOLE) { /* nobody else is called that */
            s->owner[text] = i;
            break;
        }
    }
    arena_release(&arena);
}

void short_names_add(struct short_names *s, const char *canonical)
{
    uint32_t i = s->n++;

    mem_grow(&s->shown, &s->shown_cap, s->n, sizeof *s->shown);
    mem_grow(&s->of, &s->cap, s->n, sizeof *s->of);
    s->of[i] = (struct short_name){.canonical = canonical};
    s->n_changed = 0;
    turn(s, i);
    for (size_t k = 0; k < s->n_changed; k++)
        name(s, s->changed[k]);
}
