/*
 * A step of rank r, in which every call takes a little longer on later ranks:
 *
 *     step( compute( kernel kernel kernel ) MPI_Irecv MPI_Send MPI_Wait MPI_Allreduce )
 *
 * MPI_Wait ends when the message of the rank before has been sent; MPI_Allreduce when all have
 * come. The clock of rank r is 1000 r ticks behind, which its offsets say.
 */
#include "sample_trace.h"

#include "otf2_write.h"

#define SLOW_RANK 2
#define SLOW_STEP 7
#define TICKS_PER_S 1000000000u

enum { MAIN, STEP, COMPUTE, KERNEL, IRECV, SEND, WAIT, ALLREDUCE, N_REGIONS };

static const char *const names[N_REGIONS] = {
    "main",
    "void Simulation::step(int)",
    "double Force::compute(const Atom &)",
    "kernel",
    "MPI_Irecv",
    "MPI_Send",
    "MPI_Wait",
    "MPI_Allreduce",
};

struct rank {
    OTF2_EvtWriter *events;
    uint64_t now; /* ticks of the common clock */
    uint32_t index;
};

/* What the clock of the rank shows. */
static uint64_t shown(const struct rank *r)
{
    return r->now - 1000u * r->index;
}

/* The rank's own id of a region: it counts them from another one on. */
static uint32_t local(const struct rank *r, uint32_t region)
{
    return (region + r->index) % N_REGIONS;
}

static void enter(struct rank *r, uint32_t region)
{
    OTF2_EvtWriter_Enter(r->events, NULL, shown(r), local(r, region));
    r->now += 50;
}

static void leave(struct rank *r, uint32_t region, uint64_t after)
{
    r->now += after;
    OTF2_EvtWriter_Leave(r->events, NULL, shown(r), local(r, region));
    r->now += 50;
}

static void compute(struct rank *r, uint32_t step)
{
    uint64_t kernel = 10000 + 100 * r->index + 37 * (step % 5);

    if (r->index == SLOW_RANK && step == SLOW_STEP)
        kernel *= 20;
    enter(r, COMPUTE);
    for (int i = 0; i < 3; i++) {
        enter(r, KERNEL);
        leave(r, KERNEL, kernel);
    }
    leave(r, COMPUTE, 500);
}

static void post_and_send(struct rank *r, uint32_t step)
{
    enter(r, IRECV);
    OTF2_EvtWriter_MpiIrecvRequest(r->events, NULL, shown(r), step);
    leave(r, IRECV, 100);
    enter(r, SEND);
    OTF2_EvtWriter_MpiSend(r->events, NULL, shown(r), (r->index + 1) % SAMPLE_RANKS, 0,
                           step % 3, 1024);
    leave(r, SEND, 300);
}

static void wait(struct rank *r, uint32_t step, uint64_t sent_at)
{
    enter(r, WAIT);
    if (r->now < sent_at)
        r->now = sent_at;
    r->now += 200;
    OTF2_EvtWriter_MpiIrecv(r->events, NULL, shown(r),
                            (r->index + SAMPLE_RANKS - 1) % SAMPLE_RANKS, 0, step % 3, 1024,
                            step);
    leave(r, WAIT, 50);
}

static void reduce_begin(struct rank *r)
{
    enter(r, ALLREDUCE);
    OTF2_EvtWriter_MpiCollectiveBegin(r->events, NULL, shown(r));
}

static void reduce_end(struct rank *r, uint64_t all_are_in)
{
    r->now = all_are_in + 500;
    OTF2_EvtWriter_MpiCollectiveEnd(r->events, NULL, shown(r), OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
                                    OTF2_COLLECTIVE_ROOT_NONE, 8, 8);
    leave(r, ALLREDUCE, 50);
}

static void take_step(struct rank *rank, uint32_t step)
{
    uint64_t sent_at[SAMPLE_RANKS], all_are_in = 0;

    for (uint32_t i = 0; i < SAMPLE_RANKS; i++) {
        enter(&rank[i], STEP);
        compute(&rank[i], step);
        post_and_send(&rank[i], step);
        sent_at[i] = rank[i].now;
    }
    for (uint32_t i = 0; i < SAMPLE_RANKS; i++) {
        wait(&rank[i], step, sent_at[(i + SAMPLE_RANKS - 1) % SAMPLE_RANKS]);
        reduce_begin(&rank[i]);
        all_are_in = rank[i].now > all_are_in ? rank[i].now : all_are_in;
    }
    for (uint32_t i = 0; i < SAMPLE_RANKS; i++) {
        reduce_end(&rank[i], all_are_in);
        leave(&rank[i], STEP, 100);
    }
}

static void write_definitions(struct otf2_write *w, const struct rank *rank)
{
    uint64_t map[N_REGIONS];

    for (uint32_t i = 0; i < N_REGIONS; i++)
        otf2_write_region(w, i, names[i]);
    for (uint32_t r = 0; r < SAMPLE_RANKS; r++) {
        for (uint32_t i = 0; i < N_REGIONS; i++)
            map[local(&rank[r], i)] = i;
        otf2_write_map(w, w->location[r].id, map, N_REGIONS);
        otf2_write_clock_offset(w, w->location[r].id, 0, 1000 * r);
        otf2_write_clock_offset(w, w->location[r].id, rank[r].now, 1000 * r);
    }
}

void sample_trace_write(const char *dir, uint32_t n_steps)
{
    struct rank rank[SAMPLE_RANKS];
    struct otf2_write w;

    otf2_write_open_chunks(&w, dir, TICKS_PER_S, OTF2_CHUNK_SIZE_MIN);
    w.has_mpi = true;
    w.origin = 5000;
    for (uint32_t i = 0; i < SAMPLE_RANKS; i++) {
        rank[i] = (struct rank){otf2_write_location(&w, (uint64_t)i << 32), 10000, i};
        enter(&rank[i], MAIN);
    }
    for (uint32_t step = 0; step < n_steps; step++)
        take_step(rank, step);
    for (uint32_t i = 0; i < SAMPLE_RANKS; i++)
        leave(&rank[i], MAIN, 1000);
    w.length = rank[0].now - w.origin;
    write_definitions(&w, rank);
    otf2_write_close(&w);
}
