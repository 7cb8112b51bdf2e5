/* The last row takes whatever the others leave. What is not wanted is left out here, so that
 * streams need not; they may, where that spares them reading it. */
#include "trace/stream.h"

#include "base/mem.h"
#include "trace/tau/stream_adios2.h"
#include "trace/stream_replay.h"
#include "trace/tracer/stream_tracer.h"

#include <stdlib.h>

static const struct stream_ops *const streams[] = {
    &stream_tracer_ops,
    &stream_adios2_ops,
    &stream_replay_ops,
    NULL,
};

const struct stream_ops *const *stream_list(void)
{
    return streams;
}

/* Locations and metadata that are new are put where opts say they belong. */
static void place_new(struct stream *s)
{
    struct definitions *defs = (struct definitions *)(uintptr_t)s->defs; /* the stream's own */
    const uint32_t *as_rank = s->opts.as_rank;

    mem_grow(&s->is_wanted, &s->wanted_cap, defs->n_locations, sizeof *s->is_wanted);
    for (; s->n_locations < defs->n_locations; s->n_locations++) {
        struct location *l = &defs->location[s->n_locations];

        s->is_wanted[s->n_locations] = s->opts.rank == NULL || l->rank == *s->opts.rank;
        l->program = s->opts.program ? s->opts.program : l->program;
        l->rank = as_rank ? *as_rank : l->rank;
        defs->n_ranks = defs->n_ranks > l->rank ? defs->n_ranks : l->rank + 1;
    }
    for (; s->n_metadata < defs->n_metadata; s->n_metadata++) {
        struct metadata *m = &defs->metadata[s->n_metadata];

        m->program = s->opts.program ? s->opts.program : m->program;
        m->rank = as_rank ? *as_rank : m->rank;
    }
}

int stream_open(struct stream *stream, const char *url, const struct stream_opts *opts)
{
    size_t i = 0;
    int rc;

    *stream = (struct stream){.opts = *opts, .url = mem_copy_string(url)};
    while (streams[i + 1] && !streams[i]->accepts(url))
        i++;
    stream->ops = streams[i];
    rc = stream->ops->open(stream, url);
    if (rc == 0)
        place_new(stream);
    return rc;
}

void stream_close(struct stream *stream)
{
    if (stream->ops && stream->impl)
        stream->ops->close(stream);
    free(stream->is_wanted);
    free(stream->url);
    *stream = (struct stream){0};
}

int stream_next(struct stream *stream, int timeout_ms)
{
    int state = stream->ops->next(stream, timeout_ms);

    if (state == STREAM_STEP) {
        stream->n_steps++;
        place_new(stream);
    }
    return state;
}

int stream_again(struct stream *stream, int timeout_ms)
{
    int state;

    if (stream->ops->again == NULL)
        return STREAM_OVER;
    if (!stream->is_again) {
        stream->quality = (struct quality){0};
        stream->n_steps = stream->begin_ns = stream->end_ns = stream->n_lost = 0;
        stream->n_bytes = 0;
        stream->n_locations = 0;
        stream->n_metadata = 0;
    }
    state = stream->ops->again(stream, timeout_ms);
    stream->is_again = state == STREAM_IDLE;
    return state;
}

bool stream_part(struct stream *stream, struct stream_part *part)
{
    bool is_part = stream->ops->part(stream, part);

    while (is_part && part->location < stream->n_locations &&
           !stream->is_wanted[part->location])
        is_part = stream->ops->part(stream, part);
    return is_part;
}
