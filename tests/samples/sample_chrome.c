#include "sample_chrome.h"

#include <stdlib.h>
#include <unistd.h>

#include "test.h"

char sample_chrome_path[] = "/tmp/snag-chrome-XXXXXX";

void sample_chrome_write(const void *data, size_t n)
{
    FILE *file = fopen(sample_chrome_path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, n, file), n);
    fclose(file);
}

int sample_chrome_setup(void **state)
{
    int fd = mkstemp(sample_chrome_path);

    (void)state;
    if (fd < 0)
        return -1;
    close(fd);
    return 0;
}

int sample_chrome_teardown(void **state)
{
    (void)state;
    unlink(sample_chrome_path);
    return 0;
}

void sample_chrome_open(struct source *source, const char *text)
{
    sample_chrome_write(text, strlen(text));
    assert_int_equal(source_open(source, sample_chrome_path), 0);
}

const char *sample_chrome_events(struct source *source, uint32_t location,
                                 struct quality *quality)
{
    static const char *const team[] = {"fork", "join", "begin", "end"};
    static char out[4096];
    struct quality unwanted = {0};
    struct source_reader *reader = source_reader_new(source);
    const struct event_batch *batch;
    char *at = out;

    *out = '\0';
    source_reader_begin(reader, location, UINT64_MAX);
    while (source_reader_next(reader, &batch) > 0)
        for (size_t i = 0; i < batch->n; i++) {
            const struct event *event = &batch->event[i];
            const char *sign = event->kind == EVENT_ENTER ? "+" : "-";

            at += sprintf(at, "%s", at > out ? " " : "");
            if (event->kind == EVENT_MESSAGE)
                at += sprintf(at, "%s%d@%d",
                              batch->message[event->ref].kind == MESSAGE_SEND ? ">" : "<",
                              (int)batch->message[event->ref].peer, (int)event->time_ns);
            else if (event->kind == EVENT_COLLECTIVE)
                at += sprintf(at, "=%s.%d@%d",
                              source->defs.comm[batch->collective[event->ref].comm].name,
                              (int)batch->collective[event->ref].order, (int)event->time_ns);
            else if (event->kind == EVENT_TEAM)
                at += sprintf(at, "%s@%d", team[batch->team[event->ref].kind],
                              (int)event->time_ns);
            else
                at += sprintf(at, "%s%s%d",
                              event->ref == ANY_REGION ? "*"
                                                       : source->defs.region[event->ref].name,
                              sign, (int)event->time_ns);
        }
    source_reader_end(reader, quality ? quality : &unwanted);
    source_reader_free(reader);
    return out;
}
