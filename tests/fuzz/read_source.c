/* As snag info reads it: call stacks, messages, clocks and loops must take whatever comes. */
#include "read_source.h"

#include "run/ingest.h"

void read_source(const char *path, const struct source_opts *opts)
{
    static struct pool *pool;
    struct source source = {0};
    struct ingested ingested = {.n_locations = 0};
    struct ingest_opts reading;

    if (pool == NULL)
        pool = pool_new(1);
    reading = (struct ingest_opts){.pool = pool};
    if (source_open_as(&source, path, opts) == 0)
        ingest(&source, &reading, &ingested);
    ingested_release(&ingested);
    source_close(&source);
}
