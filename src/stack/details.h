/*
 * details -- what a trace says of the calls of a location beside their time: what counters
 * read, and what calls were called with.
 *
 * Readings are in the order of the trace. A reading says how many calls had begun before it,
 * and how many were around it, so that it is known which border of which call it was taken at,
 * even where several have the same time:
 *
 *     main    [                              row  0    1 1   2 2   ...
 *     step      [    ] [    ]                depth 0   1 2   1 2
 *     reading .   . .   . .                  (the first is taken before main begins)
 *
 * Arguments are by call. Texts are kept once for a location; an argument says where its text
 * begins among them.
 */
#ifndef SNAG_STACK_DETAILS_H
#define SNAG_STACK_DETAILS_H

#include "base/names.h"
#include "base/paged.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define READING_REAL                                                                           \
    0x8000u /* in struct detail_reading counter: the value is a real number                    \
             */
#define MAX_COUNTERS READING_REAL
#define MAX_ARGUMENT_NAMES (UINT16_MAX + 1u)
#define MAX_TEXT_BYTES ((size_t)64 << 20) /* of a location */

/* What a counter read; as it is in the file. */
struct detail_reading {
    uint64_t time_ns;
    union {
        int64_t whole;
        double real;
    };
    uint32_t row;     /* calls of the location that had begun before */
    uint16_t counter; /* index into the counters of the run, and READING_REAL */
    uint16_t depth;   /* calls around it */
};

/* What a call was called with; as it is in the file. */
struct argument {
    uint32_t call; /* row of its location */
    uint16_t name; /* index into the names of arguments of the run */
    uint8_t kind;  /* enum argument_kind */
    uint8_t unused;
    union {
        int64_t whole;
        uint64_t natural; /* of a text: where it begins among those of the location */
        double real;
    };
};

/* Of one location, wherever it lies. */
struct detail_view {
    const struct detail_reading *reading; /* [n_readings] neither time nor row decreases */
    size_t n_readings;
    const struct argument *argument; /* [n_arguments] by call, then as they came */
    size_t n_arguments;
    const char *text; /* [n_text] zero-terminated ones, each once */
    size_t n_text;
};

/* The same, as it grows. A zeroed struct is empty and ready. */
struct details {
    bool only_counts; /* the owner's choice: nothing is kept */
    uint64_t n_counted_readings, n_counted_arguments;
    struct detail_reading *reading;
    size_t n_readings, reading_cap;
    struct argument *argument;
    size_t n_arguments, argument_cap;
    char *text;
    size_t n_text, text_cap;
    struct names texts;
    size_t *text_at; /* [texts.n] where each begins */
    size_t text_at_cap;
};

void details_release(struct details *details, struct paged *paged);

/* details_clear -- forget everything but the owner's choice, keep the memory for the next
 * location. */
void details_clear(struct details *details);

static inline uint32_t reading_counter(const struct detail_reading *reading)
{
    return reading->counter & (READING_REAL - 1u);
}

static inline double reading_value(const struct detail_reading *reading)
{
    return reading->counter & READING_REAL ? reading->real : (double)reading->whole;
}

/* details_readings_before -- how many readings were taken before a time. O(log readings). */
size_t details_readings_before(const struct detail_view *details, uint64_t time_ns);

/*
 * details_reading -- one more, with its value still to come from a source.
 * details_argument -- likewise; a text is copied, as far as it is kept.
 *   paged  that of the calls, always the same
 * Both return false where there is no room for one more.
 */
bool details_reading(struct details *details, struct paged *paged,
                     const struct detail_reading *at, const struct counter_value *value);
bool details_argument(struct details *details, struct paged *paged, uint32_t call,
                      const struct argument_value *value);

/* details_copy -- everything of another location, for whom the rows are moved then. */
void details_copy(struct details *details, struct paged *paged, const struct detail_view *from);

/* details_sort -- arguments by call; n_calls  of the location. O(arguments + calls). */
void details_sort(struct details *details, struct paged *paged, uint32_t n_calls);

struct detail_view details_view(const struct details *details);

#endif
