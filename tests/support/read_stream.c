/*
 * read_stream -- events of a stream as text, as they come:
 *
 *   read_stream URL [connect=MS] [silence=MS] [counters=1] [show=steps|events|none]
 *
 * Exit status as snag's: 0, 1 with a reason, 3 when something was damaged, which is listed.
 */
#include "base/err.h"
#include "trace/stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned number_of(char **argv, const char *name, unsigned fallback)
{
    size_t n = strlen(name);

    for (; *argv; argv++)
        if (strncmp(*argv, name, n) == 0 && (*argv)[n] == '=')
            return (unsigned)atoi(*argv + n + 1);
    return fallback;
}

static const char *word_of(char **argv, const char *name)
{
    size_t n = strlen(name);

    for (; *argv; argv++)
        if (strncmp(*argv, name, n) == 0 && (*argv)[n] == '=')
            return *argv + n + 1;
    return "";
}

static void print_event(const struct stream *s, const struct stream_part *p,
                        const struct event *event)
{
    static const char *const kinds[] = {"enter", "leave",      "message",
                                        "sent",  "collective", "counter"};
    const struct location *l = &s->defs->location[p->location];

    printf("%u.%u.%u %" PRIu64 " %s ", l->program, l->rank, l->thread, event->time_ns,
           kinds[event->kind]);
    if (event->kind <= EVENT_LEAVE)
        printf("%s\n", event->ref == ANY_REGION ? "*" : s->defs->region[event->ref].name);
    else if (event->kind == EVENT_MESSAGE) {
        const struct message *m = &p->batch->message[event->ref];

        printf("%s %u tag %u bytes %" PRIu64 "\n", m->kind == MESSAGE_SEND ? "to" : "from",
               m->peer, m->tag, m->bytes);
    } else {
        const struct counter_value *c = &p->batch->counter[event->ref];

        printf("%s %" PRId64 "\n", s->defs->counters.name[c->counter], c->whole);
    }
}

static void read_step(struct stream *s, const char *show, uint64_t n[6])
{
    struct stream_part p;
    size_t n_parts = 0, n_events = 0;

    while (stream_part(s, &p)) {
        n_parts++;
        n_events += p.end - p.begin;
        for (size_t i = p.begin; i < p.end; i++) {
            n[p.batch->event[i].kind]++;
            if (strcmp(show, "events") == 0)
                print_event(s, &p, &p.batch->event[i]);
        }
    }
    if (strcmp(show, "steps") == 0)
        printf("step %" PRIu64 ": %zu parts, %zu events, %" PRIu64 " to %" PRIu64 " ns\n",
               s->n_steps, n_parts, n_events, s->begin_ns, s->end_ns);
    fflush(stdout);
}

static int finish(const struct stream *s, int state, const uint64_t n[6])
{
    printf("%" PRIu64 " steps, %u locations: %" PRIu64 " enters, %" PRIu64 " leaves, %" PRIu64
           " messages, %" PRIu64 " counters\n",
           s->n_steps, s->defs ? s->defs->n_locations : 0, n[0], n[1], n[2], n[5]);
    for (int k = 0; k < QUALITY_N; k++)
        if (s->quality.n[k])
            printf("%s %" PRIu64 "\n", quality_name(k), s->quality.n[k]);
    if (state < 0)
        fprintf(stderr, "snag: %s\n", err_message());
    return state < 0 ? 1 : quality_is_damaged(&s->quality) ? 3 : 0;
}

int main(int argc, char **argv)
{
    struct stream_opts opts = {
        .connect_ms = number_of(argv, "connect", 0),
        .silence_ms = number_of(argv, "silence", 0),
        .wants_counters = number_of(argv, "counters", 0),
    };
    struct stream stream = {0};
    uint64_t n[6] = {0};
    int state, status;

    if (argc < 2)
        return 2;
    state = stream_open(&stream, argv[1], &opts);
    while (state >= 0 && (state = stream_next(&stream, 500)) != STREAM_OVER && state >= 0)
        if (state == STREAM_STEP)
            read_step(&stream, word_of(argv, "show"), n);
    status = finish(&stream, state, n);
    stream_close(&stream);
    return status;
}
