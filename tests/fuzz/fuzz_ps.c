/* A request to a parameter server, an answer to a client, or a snapshot, as it is and as if its
 * hash were right: whatever is accepted is merged, published, and sent back. */
#include "fuzz.h"

#include "base/xxh.h"
#include "ps/ps_snapshot.h"
#include "ps/ps_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What has been published is told whoever asks for all of it. */
static void ask_for_all(struct ps_store *store)
{
    struct pack question = {0}, answer = {0};
    struct ps_frame frame = {0};

    ps_write_ask(&question);
    ps_store_answer(store, 0, question.data, question.n, &answer);
    if (ps_frame_read(&frame, answer.data, answer.n) < 0 || frame.kind != PS_STATE)
        abort();
    ps_frame_release(&frame);
    pack_release(&question);
    pack_release(&answer);
}

static void ask_store(const uint8_t *data, size_t size)
{
    struct ps_store_opts opts = {.n_workers = 1, .n_clients = size % 2};
    struct pack reply = {0};
    struct ps_frame frame = {0};
    struct ps_store *store;

    if (ps_store_open(&store, &opts) < 0)
        abort();
    for (int i = 0; i < 2; i++) {
        ps_store_answer(store, 0, data, size, &reply);
        if (ps_frame_read(&frame, reply.data, reply.n) < 0)
            abort(); /* the server said what its clients do not understand */
        ps_store_publish(store);
    }
    ask_for_all(store);
    ps_store_close(store);
    ps_frame_release(&frame);
    pack_release(&reply);
}

/* A server that goes on with it, and writes it again; below another, which is not there, if it
 * was below one. What it is to tell that one is checked when it is opened. */
static void go_on_with(const struct ps_snapshot *snapshot)
{
    char path[64];
    struct ps_client_opts above = {.address = "tcp://127.0.0.1:9"};
    struct ps_store_opts opts = {.n_workers = 1, .snapshot = path};
    struct ps_snapshot back;
    struct ps_store *store;
    int rc;

    snprintf(path, sizeof path, "/tmp/snag-fuzz-%ld.ps", (long)getpid());
    if (ps_snapshot_write(snapshot, path) < 0)
        abort();
    if (snapshot->upstream.n > 0 && ps_client_open(&opts.upstream, &above) < 0)
        abort();
    rc = ps_store_open(&store, &opts);
    if (rc < 0 && opts.upstream == NULL)
        abort();
    if (rc == 0) {
        ps_store_publish(store);
        ask_for_all(store);
        if (opts.upstream)
            ps_store_relay(store, 0);
        ps_store_close(store);
    }
    ps_client_close(opts.upstream);
    if (ps_snapshot_read(&back, path) < 0)
        abort();
    ps_snapshot_release(&back);
    unlink(path);
}

static void read_snapshot(const uint8_t *data, size_t size)
{
    uint64_t hash = XXH3_64bits(data, size);
    struct ps_snapshot snapshot;
    struct pack whole = {0};

    if (ps_snapshot_unpack(&snapshot, data, size) == 0)
        ps_snapshot_release(&snapshot);
    pack_bytes(&whole, data, size);
    pack_u64(&whole, hash);
    if (ps_snapshot_unpack(&snapshot, whole.data, whole.n) == 0) {
        go_on_with(&snapshot);
        ps_snapshot_release(&snapshot);
    }
    pack_release(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ps_frame frame = {0};

    ask_store(data, size);
    ps_frame_read(&frame, data, size);
    ps_frame_release(&frame);
    read_snapshot(data, size);
    return 0;
}
