/* The length is filled in when the frame is closed; the writer's `at` says where it began. */
#include "sample_frames.h"

#include <string.h>

void frame_open(struct pack *to, enum sample_frame kind)
{
    to->at = to->n;
    pack_bytes(to, "SNT\2", 4);
    pack_u32(to, kind);
    pack_u32(to, 0);
}

void frame_close(struct pack *to)
{
    uint32_t length = (uint32_t)(to->n - to->at - 12);

    memcpy(to->data + to->at + 8, &length, sizeof length);
}

void frame_text(struct pack *to, const char *text)
{
    pack_varint(to, strlen(text));
    pack_bytes(to, text, strlen(text));
}

void frame_hello(struct pack *to, const struct sample_process *p, uint64_t now_ns,
                 uint64_t interval_ns)
{
    frame_open(to, FRAME_HELLO);
    pack_u64(to, now_ns);
    pack_u64(to, p->start_ns);
    pack_u64(to, 1000);
    pack_varint(to, interval_ns);
    pack_varint(to, p->n_ranks);
    pack_varint(to, p->rank);
    pack_varint(to, p->pid);
    frame_text(to, "node7");
    frame_text(to, "/usr/bin/md");
    if (p->job)
        pack_u64(to, p->job);
    frame_close(to);
}

static void add_comm(struct pack *to, uint32_t number, const char *name, uint32_t n)
{
    pack_varint(to, 0);
    pack_varint(to, number);
    pack_varint(to, n == 1);
    frame_text(to, name);
    pack_varint(to, n);
    for (uint32_t i = 0; i < n; i++)
        pack_varint(to, i);
}

/* Window 0 of the world, group 1 of ranks 0 and 1, file 2, its handle 3. */
static void add_objects(struct pack *to)
{
    static const unsigned char window[] = {0, 0}, group[] = {1, 2, 0, 1}, handle[] = {3, 0, 2};

    frame_open(to, FRAME_OBJECTS);
    pack_varint(to, 0);
    pack_bytes(to, window, sizeof window);
    pack_bytes(to, group, sizeof group);
    pack_varint(to, 2);
    frame_text(to, "/tmp/out.dat");
    pack_bytes(to, handle, sizeof handle);
    frame_close(to);
}

void frame_definitions(struct pack *to, uint32_t n_ranks)
{
    static const char *const regions[] = {"main", "step", "MPI_Send"};

    frame_open(to, FRAME_REGIONS);
    pack_varint(to, 0);
    for (int i = 0; i < 3; i++) {
        pack_varint(to, i == 2);
        frame_text(to, regions[i]);
    }
    frame_close(to);
    frame_open(to, FRAME_COMMS);
    pack_varint(to, 0);
    add_comm(to, 0, "MPI_COMM_WORLD", n_ranks);
    add_comm(to, 1, "MPI_COMM_SELF", 1);
    frame_close(to);
    frame_open(to, FRAME_COUNTERS);
    pack_varint(to, 0);
    frame_text(to, "memory");
    frame_close(to);
    add_objects(to);
}

void frame_events(struct pack *to, uint32_t thread, uint64_t n_lost, uint64_t begin_ns,
                  uint32_t depth, uint64_t enter_ns)
{
    frame_open(to, FRAME_EVENTS);
    pack_varint(to, thread);
    pack_varint(to, n_lost);
    pack_u64(to, begin_ns);
    pack_varint(to, depth);
    for (uint32_t i = 0; i < depth; i++) {
        pack_varint(to, i > 0);
        pack_varint(to, i > 0 ? 1 : begin_ns - enter_ns);
    }
}

void frame_record(struct pack *to, enum sample_record kind, uint64_t since_ns)
{
    pack_varint(to, since_ns << 4 | (kind < 15 ? kind : 15));
    if (kind >= 15)
        pack_varint(to, kind - 15);
}

void frame_tick(struct pack *to, uint64_t until_ns)
{
    frame_open(to, FRAME_TICK);
    pack_u64(to, until_ns);
    frame_close(to);
}

void frame_bye(struct pack *to)
{
    frame_open(to, FRAME_BYE);
    frame_close(to);
}
