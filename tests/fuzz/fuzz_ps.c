/* A request to a parameter server, an answer to a client, or a snapshot: whatever is accepted
 * is merged, published, and sent back. */
#include "fuzz.h"

#include "ps/ps_snapshot.h"
#include "ps/ps_store.h"

#include <stdlib.h>

static void ask_store(const uint8_t *data, size_t size)
{
    struct ps_store_opts opts = {.n_workers = 1, .n_clients = size % 2};
    msgpack_sbuffer reply = {0};
    struct ps_frame frame = {0};
    struct ps_store *store;

    if (ps_store_open(&store, &opts) < 0)
        abort();
    for (int i = 0; i < 2; i++) {
        ps_store_answer(store, 0, data, size, &reply);
        if (ps_frame_read(&frame, reply.data, reply.size) < 0)
            abort(); /* the server said what its clients do not understand */
        ps_store_publish(store);
    }
    ps_store_close(store);
    ps_frame_release(&frame);
    msgpack_sbuffer_destroy(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ps_snapshot snapshot;
    struct ps_frame frame = {0};

    ask_store(data, size);
    ps_frame_read(&frame, data, size);
    ps_frame_release(&frame);
    if (ps_snapshot_unpack(&snapshot, data, size) == 0)
        ps_snapshot_release(&snapshot);
    return 0;
}
