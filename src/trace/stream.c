/* The last row takes whatever the others leave. */
#include "trace/stream.h"

#include "base/mem.h"
#include "trace/stream_replay.h"

#include <stdlib.h>

static const struct stream_ops *const streams[] = {
    &stream_replay_ops,
    NULL,
};

const struct stream_ops *const *stream_list(void)
{
    return streams;
}

int stream_open(struct stream *stream, const char *url, const struct stream_opts *opts)
{
    size_t i = 0;

    *stream = (struct stream){.opts = *opts, .url = mem_copy_string(url)};
    while (streams[i + 1] && !streams[i]->accepts(url))
        i++;
    stream->ops = streams[i];
    return stream->ops->open(stream, url);
}

void stream_close(struct stream *stream)
{
    if (stream->ops && stream->impl)
        stream->ops->close(stream);
    free(stream->url);
    *stream = (struct stream){0};
}

int stream_next(struct stream *stream, int timeout_ms)
{
    int state = stream->ops->next(stream, timeout_ms);

    if (state == STREAM_STEP)
        stream->n_steps++;
    return state;
}

bool stream_part(struct stream *stream, struct stream_part *part)
{
    return stream->ops->part(stream, part);
}
