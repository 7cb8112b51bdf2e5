/* An argument is its kind, its name, and eight bytes or a text with its zero; behind the last
 * of a record is a kind that there is none of. */
#include "trace/chrome/kept_args.h"

#include <string.h>

#define MAX_BYTES (1 + sizeof(uint32_t) + ARGUMENT_TEXT_BYTES + 1) /* of one */

void kept_args_release(struct kept_args *kept)
{
    paged_release(kept->paged, kept->data);
    *kept = (struct kept_args){0};
}

static void put(struct kept_args *kept, const void *data, size_t bytes)
{
    memcpy(kept->data + kept->n, data, bytes);
    kept->n += bytes;
}

static void put_arg(struct kept_args *kept, uint32_t name, const struct chrome_detail *detail)
{
    const char kind = (char)detail->kind;

    put(kept, &kind, 1);
    put(kept, &name, sizeof name);
    if (detail->kind == ARGUMENT_TEXT)
        put(kept, detail->text, strlen(detail->text) + 1);
    else
        put(kept, &detail->natural, sizeof detail->natural);
}

uint64_t kept_args_add(struct kept_args *kept, const struct chrome_record *record,
                       struct names *names, uint64_t *n_lost)
{
    const char end = N_ARGUMENT_KINDS;
    uint64_t at = kept->n;

    for (uint32_t i = 0; i < record->n_details; i++) {
        const struct chrome_detail *detail = &record->detail[i];
        uint32_t name = names->n < KEPT_ARGS_NAMES ? names_add(names, detail->name)
                                                   : names_find(names, detail->name);

        kept->data =
            paged_grow(kept->paged, kept->data, kept->n, &kept->cap, kept->n + MAX_BYTES, 1);
        if (name == NAMES_NONE)
            ++*n_lost;
        else
            put_arg(kept, name, detail);
    }
    if (kept->n == at)
        return KEPT_ARGS_NONE;
    kept->data = paged_grow(kept->paged, kept->data, kept->n, &kept->cap, kept->n + 1, 1);
    put(kept, &end, 1);
    return at;
}

bool kept_args_next(const struct kept_args *kept, uint64_t *at, struct argument_value *value)
{
    const char *data = kept->data + *at;
    size_t bytes = sizeof value->natural;

    *value = (struct argument_value){.kind = (unsigned char)data[0]};
    if (value->kind >= N_ARGUMENT_KINDS)
        return false;
    memcpy(&value->argument, data + 1, sizeof value->argument);
    data += 1 + sizeof value->argument;
    if (value->kind == ARGUMENT_TEXT) {
        value->text = data;
        bytes = strlen(data) + 1;
    } else {
        memcpy(&value->natural, data, bytes);
    }
    *at += 1 + sizeof value->argument + bytes;
    return true;
}
