/* Three columns of one table, printed from the list in the header. */
#include "trace/quality.h"

static const struct {
    const char *name;
    bool is_damage;
    const char *text;
} kinds[] = {
#define QUALITY_AS_ROW(name, is_damage, text) {#name, is_damage, text},
    QUALITY_KINDS(QUALITY_AS_ROW)
#undef QUALITY_AS_ROW
};

void quality_add(struct quality *into, const struct quality *from)
{
    for (int k = 0; k < QUALITY_N; k++)
        into->n[k] += from->n[k];
}

bool quality_is_damaged(const struct quality *quality)
{
    for (int k = 0; k < QUALITY_N; k++)
        if (quality->n[k] > 0 && kinds[k].is_damage)
            return true;
    return false;
}

const char *quality_name(enum quality_kind kind)
{
    return kinds[kind].name;
}

const char *quality_text(enum quality_kind kind)
{
    return kinds[kind].text;
}

bool quality_kind_is_damage(enum quality_kind kind)
{
    return kinds[kind].is_damage;
}
