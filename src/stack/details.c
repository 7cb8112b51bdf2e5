/* Arrays that are as long as the trace are paged, as the columns of calls are. */
#include "stack/details.h"

#include "base/mem.h"
#include "base/search.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void details_release(struct details *d, struct paged *paged)
{
    paged_release(paged, d->reading);
    paged_release(paged, d->argument);
    free(d->text);
    free(d->text_at);
    names_release(&d->texts);
    *d = (struct details){0};
}

void details_clear(struct details *d)
{
    d->n_readings = d->n_arguments = d->n_text = 0;
    d->n_counted_readings = d->n_counted_arguments = 0;
    if (d->texts.n > 0)
        names_release(&d->texts);
}

size_t details_readings_before(const struct detail_view *d, uint64_t time_ns)
{
    return FIRST_NOT(i, 0, d->n_readings, d->reading[i].time_ns < time_ns);
}

bool details_reading(struct details *d, struct paged *paged, const struct detail_reading *at,
                     const struct counter_value *value)
{
    struct detail_reading *reading;

    if (value->counter >= MAX_COUNTERS)
        return false;
    d->n_counted_readings++;
    if (d->only_counts)
        return true;
    d->reading = paged_grow(paged, d->reading, d->n_readings, &d->reading_cap,
                            d->n_readings + 1, sizeof *d->reading);
    reading = &d->reading[d->n_readings++];
    *reading = *at;
    reading->counter = (uint16_t)(value->counter | (value->is_real ? READING_REAL : 0));
    if (value->is_real)
        reading->real = value->real;
    else
        reading->whole = value->whole;
    return true;
}

/* Where a text begins among those of the location; SIZE_MAX when they are too many. */
static size_t place_of_text(struct details *d, const char *text)
{
    char cut[ARGUMENT_TEXT_BYTES];
    uint32_t n_before = d->texts.n, id;
    size_t bytes;

    /* the first bytes of it, no part of a character of UTF-8 at their end */
    bytes = strnlen(text, sizeof cut);
    if (bytes == sizeof cut)
        for (bytes--; bytes > 0 && text_continues(text[bytes]);)
            bytes--;
    memcpy(cut, text, bytes);
    cut[bytes++] = '\0';
    if (d->n_text + bytes > MAX_TEXT_BYTES) {
        id = names_find(&d->texts, cut);
        return id == NAMES_NONE ? SIZE_MAX : d->text_at[id];
    }
    id = names_add(&d->texts, cut);
    if (id < n_before)
        return d->text_at[id];
    mem_grow(&d->text_at, &d->text_at_cap, (size_t)id + 1);
    mem_grow(&d->text, &d->text_cap, d->n_text + bytes);
    memcpy(d->text + d->n_text, cut, bytes);
    d->text_at[id] = d->n_text;
    d->n_text += bytes;
    return d->text_at[id];
}

bool details_argument(struct details *d, struct paged *paged, uint32_t call,
                      const struct argument_value *value)
{
    struct argument argument = {.call = call, .name = (uint16_t)value->argument};

    if (value->argument >= MAX_ARGUMENT_NAMES)
        return false;
    if (d->only_counts) {
        d->n_counted_arguments++;
        return true;
    }
    argument.kind = (uint8_t)value->kind;
    argument.natural =
        value->kind == ARGUMENT_TEXT ? place_of_text(d, value->text) : value->natural;
    if (value->kind == ARGUMENT_TEXT && argument.natural == SIZE_MAX)
        return false;
    d->argument = paged_grow(paged, d->argument, d->n_arguments, &d->argument_cap,
                             d->n_arguments + 1, sizeof *d->argument);
    d->argument[d->n_arguments++] = argument;
    d->n_counted_arguments++;
    return true;
}

void details_copy(struct details *d, struct paged *paged, const struct detail_view *from)
{
    details_clear(d);
    d->reading =
        paged_grow(paged, d->reading, 0, &d->reading_cap, from->n_readings, sizeof *d->reading);
    d->argument = paged_grow(paged, d->argument, 0, &d->argument_cap, from->n_arguments,
                             sizeof *d->argument);
    mem_grow(&d->text, &d->text_cap, from->n_text);
    d->n_readings = from->n_readings;
    d->n_arguments = from->n_arguments;
    d->n_text = from->n_text;
    if (from->n_readings > 0)
        memcpy(d->reading, from->reading, from->n_readings * sizeof *d->reading);
    if (from->n_arguments > 0)
        memcpy(d->argument, from->argument, from->n_arguments * sizeof *d->argument);
    if (from->n_text > 0)
        memcpy(d->text, from->text, from->n_text);
}

/* A counting sort, which keeps those of one call in their order. */
void details_sort(struct details *d, struct paged *paged, uint32_t n_calls)
{
    struct argument *sorted;
    size_t *next, i = 1;

    while (i < d->n_arguments && d->argument[i - 1].call <= d->argument[i].call)
        i++;
    if (i >= d->n_arguments)
        return;
    next = mem_alloc((size_t)n_calls + 1, sizeof *next);
    for (i = 0; i < d->n_arguments; i++) {
        assert(d->argument[i].call < n_calls);
        next[d->argument[i].call + 1]++;
    }
    for (i = 1; i <= n_calls; i++)
        next[i] += next[i - 1];
    sorted = paged_alloc(paged, d->argument_cap, sizeof *sorted);
    for (i = 0; i < d->n_arguments; i++)
        sorted[next[d->argument[i].call]++] = d->argument[i];
    paged_release(paged, d->argument);
    d->argument = sorted;
    free(next);
}

struct detail_view details_view(const struct details *d)
{
    return (struct detail_view){
        .reading = d->reading,
        .n_readings = d->n_readings,
        .argument = d->argument,
        .n_arguments = d->n_arguments,
        .text = d->text,
        .n_text = d->n_text,
    };
}
