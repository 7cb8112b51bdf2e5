/* The sentences of cause.h. */
#include "explain/cause.h"

#include "base/text.h"

#include <stdio.h>

const char *cause_end_name(enum cause_end end)
{
    static const char *const name[N_CAUSE_ENDS] = {
        [CAUSE_NOT_WAITING] = "not_waiting", [CAUSE_TRACER] = "tracer",
        [CAUSE_NO_DATA] = "no_data",         [CAUSE_UNMATCHED] = "unmatched",
        [CAUSE_UNKNOWN] = "unknown",         [CAUSE_IN_TIME] = "in_time",
        [CAUSE_UNEXPLAINED] = "unexplained", [CAUSE_CYCLE] = "cycle",
        [CAUSE_TOO_LONG] = "too_long",
    };

    return name[end];
}

static void say_rank(struct text_writer *w, const struct trace_view *view, uint32_t location)
{
    const struct location *l = &view->defs->location[location];

    if (l->thread > 0)
        text_say(w, "rank %u.%u", l->rank, l->thread);
    else
        text_say(w, "rank %u", l->rank);
}

static const char *name_of(const struct trace_view *view, const struct cause_link *link)
{
    return view->defs->region[view->calls[link->location].region[link->call]].short_name;
}

static void say_partner(struct text_writer *w, const struct waiting *waiting)
{
    char place[TEXT_SIZE];

    if (waiting->rank != NO_RANK)
        text_say(w, "%s", waiting_place(waiting, place));
    else
        text_say(w, "%u ranks", waiting->n_missing);
}

char *cause_sentence(const struct trace_view *view, const struct cause *cause,
                     char out[CAUSE_SIZE])
{
    static const char *const ending[N_CAUSE_ENDS] = {
        [CAUSE_NOT_WAITING] = "",
        [CAUSE_TRACER] = "",
        [CAUSE_NO_DATA] = "no data",
        [CAUSE_UNMATCHED] = "message not in the trace",
        [CAUSE_UNKNOWN] = "",
        [CAUSE_IN_TIME] = "in time",
        [CAUSE_UNEXPLAINED] = "late, unexplained",
        [CAUSE_CYCLE] = "they wait for each other",
        [CAUSE_TOO_LONG] = "...",
    };
    const struct waiting *last = &cause->link[cause->n - 1].waiting;
    struct text_writer w = {.out = out, .size = CAUSE_SIZE};

    *out = '\0';
    for (uint32_t i = 0; i < cause->n; i++) {
        const struct cause_link *link = &cause->link[i];
        char time[TEXT_SIZE];

        if (i > 0) {
            text_say(&w, " <- ");
            say_rank(&w, view, link->location);
            text_say(&w, " ");
        }
        text_say(&w, "%.100s %s", name_of(view, link),
                 text_duration((double)link->time_ns, time));
    }
    if (cause->end == CAUSE_TRACER)
        text_say(&w, " (the tracer)");
    if (*ending[cause->end] == '\0')
        return out;
    text_say(&w, " <- ");
    say_partner(&w, last);
    text_say(&w, " (%s)", ending[cause->end]);
    return out;
}

char *cause_end_sentence(const struct trace_view *view, const struct cause *cause,
                         char out[CAUSE_SIZE])
{
    const struct cause_link *link = &cause->link[cause->n - 1];
    const struct waiting *waiting = &link->waiting;
    struct text_writer w = {.out = out, .size = CAUSE_SIZE};

    *out = '\0';
    switch (cause->end) {
    case CAUSE_NOT_WAITING:
        text_say(&w, "%.100s on ", name_of(view, link));
        say_rank(&w, view, link->location);
        text_say(&w, " waits for nothing that the trace shows: it is the cause");
        break;
    case CAUSE_TRACER:
        text_say(&w, "%.100s on ", name_of(view, link));
        say_rank(&w, view, link->location);
        text_say(&w, " is the tracer's: the program did nothing wrong");
        break;
    case CAUSE_NO_DATA:
        text_say(&w, "the trace has no events of ");
        say_partner(&w, waiting);
        break;
    case CAUSE_UNMATCHED:
        text_say(&w, "the %s of this message, rank %u, has no record of it",
                 waiting_kind_name(waiting->kind), waiting->rank);
        break;
    case CAUSE_UNKNOWN:
        text_say(&w, "no record says whom %.100s on ", name_of(view, link));
        say_rank(&w, view, link->location);
        text_say(&w, " waits for");
        break;
    case CAUSE_IN_TIME:
        if (waiting->kind == WAITING_FOR_ALL)
            text_say(&w, "the last rank entered soon: the operation itself took long");
        else if (waiting->kind == WAITING_FOR_DEVICE)
            text_say(&w, "the GPU was done soon: the call itself took long");
        else if (waiting->kind == WAITING_FOR_TEAM)
            text_say(&w, "the last thread came soon: the barrier itself took long");
        else
            text_say(&w, "rank %u was there in time: the operation itself took long",
                     waiting->rank);
        break;
    case CAUSE_UNEXPLAINED:
        say_partner(&w, waiting);
        text_say(&w, " was late, but nothing it did explains that");
        break;
    case CAUSE_CYCLE:
        say_partner(&w, waiting);
        text_say(
            &w, " waits for a call of this chain: both ends are in the operation, which itself "
                "took long");
        break;
    case CAUSE_TOO_LONG:
        text_say(&w, "more than %d links", CAUSE_MAX_LINKS);
        break;
    case N_CAUSE_ENDS:
        break;
    }
    return out;
}
