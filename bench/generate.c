/*
 * generate EVENTS DIR -- writes an OTF2 archive of about that many events to a new directory.
 *
 * Eight ranks of a made-up particle code, as a compiler-instrumented program under Score-P
 * would leave it: small functions at the leaves are called most, messages go to both neighbours
 * on a ring every step, now and then all meet in a collective. The clock ticks at 2.6 GHz, each
 * location has a mapping table and clock offsets. The same for the same EVENTS.
 *
 *     main
 *       step                                        80 calls below it, or so
 *         forces
 *           cell                                    8 of them, each
 *             pair [exp]                            3 to 5 of them
 *         exchange   MPI_Isend MPI_Irecv (2 each)  MPI_Waitall
 *         integrate
 *         MPI_Allreduce                             every 10th step
 *         output     write                          every 100th
 */
#include "base/rng.h"
#include "otf2_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_RANKS 8u
#define TICKS_PER_S 2600000000u
#define STEP_TICKS 150000u /* more than any step needs */

enum region {
    MAIN,
    STEP,
    FORCES,
    CELL,
    PAIR,
    EXP,
    EXCHANGE,
    INTEGRATE,
    OUTPUT,
    WRITE,
    ISEND,
    IRECV,
    WAITALL,
    ALLREDUCE,
    N_REGIONS
};

static const char *const names[N_REGIONS] = {
    [MAIN] = "main",
    [STEP] = "Simulation::step(int)",
    [FORCES] = "Forces::compute(Particles const&)",
    [CELL] = "Forces::cell(Cell const&, Cell const&)",
    [PAIR] = "Forces::pair(double const*, double const*)",
    [EXP] = "exp_table(double)",
    [EXCHANGE] = "Halo::exchange(Particles&)",
    [INTEGRATE] = "Verlet::integrate(double)",
    [OUTPUT] = "Output::dump()",
    [WRITE] = "fwrite",
    [ISEND] = "MPI_Isend",
    [IRECV] = "MPI_Irecv",
    [WAITALL] = "MPI_Waitall",
    [ALLREDUCE] = "MPI_Allreduce",
};

/* One rank being written; local region ids count down where the global ones count up. */
struct rank {
    OTF2_EvtWriter *out;
    uint32_t number;
    uint64_t ticks, n_events, n_requests;
    struct rng rng;
};

static void pass(struct rank *r, uint64_t ticks)
{
    r->ticks += ticks / 2 + rng_below(&r->rng, ticks);
    r->n_events++;
}

static void enter(struct rank *r, enum region region)
{
    pass(r, 60);
    OTF2_EvtWriter_Enter(r->out, NULL, r->ticks, N_REGIONS - 1 - region);
}

static void leave(struct rank *r, enum region region, uint64_t ticks)
{
    pass(r, ticks);
    OTF2_EvtWriter_Leave(r->out, NULL, r->ticks, N_REGIONS - 1 - region);
}

static void leaf(struct rank *r, enum region region, uint64_t ticks)
{
    enter(r, region);
    leave(r, region, ticks);
}

static void write_forces(struct rank *r)
{
    enter(r, FORCES);
    for (int c = 0; c < 8; c++) {
        uint64_t n = 3 + rng_below(&r->rng, 3);

        enter(r, CELL);
        for (uint64_t i = 0; i < n; i++) {
            enter(r, PAIR);
            leaf(r, EXP, 100);
            leave(r, PAIR, 80);
        }
        leave(r, CELL, 200);
    }
    leave(r, FORCES, 300);
}

/* Sends to and receives from both neighbours. */
static void write_exchange(struct rank *r)
{
    const uint32_t peer[2] = {(r->number + 1) % N_RANKS, (r->number + N_RANKS - 1) % N_RANKS};
    uint64_t first = r->n_requests;

    r->n_requests += 4;
    enter(r, EXCHANGE);
    for (uint32_t i = 0; i < 2; i++) {
        enter(r, IRECV);
        pass(r, 50);
        OTF2_EvtWriter_MpiIrecvRequest(r->out, NULL, r->ticks, first + i);
        leave(r, IRECV, 50);
    }
    for (uint32_t i = 0; i < 2; i++) {
        enter(r, ISEND);
        pass(r, 200);
        OTF2_EvtWriter_MpiIsend(r->out, NULL, r->ticks, peer[i], 0, i, 4096, first + 2 + i);
        leave(r, ISEND, 50);
    }
    enter(r, WAITALL);
    pass(r, 20000);
    for (uint32_t i = 0; i < 2; i++) { /* what went to the right there comes from the left */
        pass(r, 20);
        OTF2_EvtWriter_MpiIrecv(r->out, NULL, r->ticks, peer[1 - i], 0, i, 4096, first + i);
        pass(r, 20);
        OTF2_EvtWriter_MpiIsendComplete(r->out, NULL, r->ticks, first + 2 + i);
    }
    r->n_events--; /* the first pass was not for an event */
    leave(r, WAITALL, 50);
    leave(r, EXCHANGE, 50);
}

/* Nobody is done before all have come, which is half-way through the step at the latest. */
static void write_allreduce(struct rank *r, uint64_t step)
{
    enter(r, ALLREDUCE);
    pass(r, 50);
    OTF2_EvtWriter_MpiCollectiveBegin(r->out, NULL, r->ticks);
    r->ticks = (step + 1) * STEP_TICKS + STEP_TICKS / 2;
    pass(r, 5000);
    OTF2_EvtWriter_MpiCollectiveEnd(r->out, NULL, r->ticks, OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
                                    OTF2_UNDEFINED_UINT32, 8, 8);
    leave(r, ALLREDUCE, 50);
}

/* Every rank starts a step at the same time: nothing arrives before it was sent. */
static void write_step(struct rank *r, uint64_t step)
{
    r->ticks = (step + 1) * STEP_TICKS;
    enter(r, STEP);
    write_forces(r);
    write_exchange(r);
    leaf(r, INTEGRATE, 500);
    if (step % 10 == 0)
        write_allreduce(r, step);
    if (step % 100 == 0) {
        enter(r, OUTPUT);
        leaf(r, WRITE, 10000);
        leave(r, OUTPUT, 100);
    }
    leave(r, STEP, 100);
}

/* The first rank writes until there are n_events, the others as many steps. */
static void write_rank(struct rank *r, uint64_t n_events, uint64_t *n_steps)
{
    uint64_t step;

    enter(r, MAIN);
    for (step = 0; r->number == 0 ? r->n_events < n_events : step < *n_steps; step++)
        write_step(r, step);
    leave(r, MAIN, 100);
    *n_steps = step;
}

int main(int argc, char **argv)
{
    uint64_t map[N_REGIONS], n_events = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t n_steps = 0, n = 0;
    struct otf2_write w;

    if (n_events == 0) {
        fputs("usage: generate EVENTS DIR\n", stderr);
        return 2;
    }
    for (uint32_t i = 0; i < N_REGIONS; i++)
        map[i] = N_REGIONS - 1 - i;
    otf2_write_open(&w, argv[2], TICKS_PER_S);
    w.has_mpi = true;
    for (uint32_t i = 0; i < N_RANKS; i++) {
        uint64_t id = (uint64_t)i << 32;
        struct rank rank = {.out = otf2_write_location(&w, id), .number = i, .rng = {i}};

        write_rank(&rank, n_events / N_RANKS, &n_steps);
        n += rank.n_events;
        w.length = rank.ticks > w.length ? rank.ticks : w.length;
        otf2_write_map(&w, id, map, N_REGIONS);
        otf2_write_clock_offset(&w, id, 0, 0);
        otf2_write_clock_offset(&w, id, rank.ticks, 1000 * i);
    }
    for (uint32_t i = 0; i < N_REGIONS; i++)
        otf2_write_region(&w, i, names[i]);
    otf2_write_close(&w);
    printf("%llu events\n", (unsigned long long)n);
    return 0;
}
