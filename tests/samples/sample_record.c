#include "sample_record.h"

#include "base/rng.h"

static const char *const names[] = {
    ".TAU application",
    "int main(int, char **) [{src/main.cpp} {42,1}-{97,1}]",
    "void LAMMPS_NS::Verlet::run(int) [{src/verlet.cpp} {223,1}-{371,1}]",
    "void LAMMPS_NS::Verlet::force_clear() [{src/verlet.cpp} {391,1}-{431,1}]",
    "void LAMMPS_NS::PairEAM::compute(int, int) [{src/MANYBODY/pair_eam.cpp} {106,1}-{310,1}]",
    "void LAMMPS_NS::Pair::ev_tally(int, int, int, int, double, double, double, double, "
    "double, "
    "double) [{src/pair.cpp} {890,1}-{1010,1}]",
    "void LAMMPS_NS::CommBrick::forward_comm(int) [{src/comm_brick.cpp} {468,1}-{529,1}]",
    "void LAMMPS_NS::CommBrick::reverse_comm_pair(Pair *) [{src/comm_brick.cpp} {1014,1}]",
    "void LAMMPS_NS::Neighbor::build(int) [{src/neighbor.cpp} {2063,1}-{2155,1}]",
    "void LAMMPS_NS::Modify::initial_integrate(int) [{src/modify.cpp} {401,1}-{410,1}]",
    "MPI_Send()",
    "MPI_Irecv()",
    "MPI_Wait()",
    "MPI_Allreduce()",
    "pthread_create",
    "double LAMMPS_NS::ComputeTemp::compute_scalar() [{src/compute_temp.cpp} {66,1}-{93,1}]",
};

#define N_NAMES (sizeof names / sizeof *names)

static struct prov_call make_call(struct rng *rng, const struct prov_record *r, uint64_t index,
                                  uint64_t enter_ns)
{
    uint32_t fid = (uint32_t)(rng_next(rng) % N_NAMES);

    return (struct prov_call){
        .event = {r->event.rank, r->event.step, index},
        .fid = fid,
        .func = names[fid],
        .enter_ns = enter_ns,
        .leave_ns = rng_next(rng) % 8 ? enter_ns + rng_next(rng) % 400000 : 0,
    };
}

static void make_window(struct rng *rng, const struct prov_record *r, struct arena *arena,
                        struct prov_window *w)
{
    uint64_t at = r->enter_ns - 5 * 300000;

    w->n_calls = 11;
    w->call = arena_zeros(arena, struct prov_call, w->n_calls);
    w->n_messages = 2 + rng_next(rng) % 5;
    w->message = arena_zeros(arena, struct prov_message, w->n_messages);
    for (size_t i = 0; i < w->n_calls; i++, at += 200000 + rng_next(rng) % 200000) {
        w->call[i] = make_call(rng, r, r->event.index - 5 + i, at);
        w->call[i].has_parent = true;
        w->call[i].parent = (struct prov_event){r->event.rank, r->event.step, 3 + i / 4};
    }
    for (size_t i = 0; i < w->n_messages; i++)
        w->message[i] = (struct prov_message){.is_send = i % 2 == 0,
                                              .call = w->call[i].event,
                                              .source = r->event.rank,
                                              .target = (uint32_t)(rng_next(rng) % 64),
                                              .tag = (uint32_t)i,
                                              .bytes = rng_next(rng) % 100000,
                                              .time_ns = w->call[i].enter_ns + 1500};
}

static void make_stack(struct rng *rng, struct prov_record *r, struct arena *arena)
{
    uint64_t at = r->enter_ns;

    r->n_stack = 4 + rng_next(rng) % 6;
    r->stack = arena_zeros(arena, struct prov_call, r->n_stack);
    for (size_t i = 0; i < r->n_stack; i++, at -= rng_next(rng) % 9000000)
        r->stack[i] = make_call(rng, r, r->event.index - i, at);
    r->stack[0].fid = r->fid;
    r->stack[0].func = r->func;
    r->stack[0].is_anomaly = true;
    r->stack[0].leave_ns = r->leave_ns;
}

static void make_cause(struct rng *rng, struct prov_record *r, struct arena *arena)
{
    r->n_cause = rng_next(rng) % 4;
    r->cause = arena_zeros(arena, struct prov_link, r->n_cause);
    for (size_t i = 0; i < r->n_cause; i++)
        r->cause[i] = (struct prov_link){
            .rank = r->event.rank + (uint32_t)i,
            .func = names[12],
            .waits_for = i + 1 < r->n_cause ? "message" : NULL,
            .begin_ns = r->enter_ns + i * 1000,
            .end_ns = r->leave_ns,
            .time_ns = r->exclusive_ns - i,
        };
    if (r->n_cause < 2)
        return;
    r->n_partners = 1;
    r->partner = arena_zeros(arena, struct prov_partner, 1);
    r->partner->rank = r->event.rank + 1;
    make_window(rng, r, arena, &r->partner->window);
}

static void make_counters(struct prov_counter *counter, size_t n, uint64_t time_ns)
{
    for (size_t i = 0; i < n; i++)
        counter[i] = (struct prov_counter){
            (uint32_t)i, i % 2 ? "PAPI_TOT_CYC" : "Memory Footprint (VmRSS) (KB)",
            i % 2 ? (int64_t)time_ns : -(int64_t)i, time_ns + i};
}

static void make_rare_parts(struct prov_record *r, uint64_t i, struct arena *arena)
{
    if (i % 4 == 1) {
        r->n_counters = 3;
        r->counter = arena_zeros(arena, struct prov_counter, 3);
        make_counters(r->counter, 3, r->enter_ns);
    }
    if (i % 8 == 2) {
        r->has_node = true;
        r->node.time_ns = r->step_begin_ns;
        r->node.n_fields = 4;
        r->node.field = arena_zeros(arena, struct prov_counter, 4);
        make_counters(r->node.field, 4, 0);
    }
    if (i % 16 == 3) {
        r->is_gpu = true;
        r->gpu = (struct prov_gpu){.device = 1,
                                   .stream = 7,
                                   .thread = 2,
                                   .has_parent = true,
                                   .parent = r->event,
                                   .parent_stack = r->stack,
                                   .n_parent_stack = 2};
    }
}

void sample_record(uint32_t rank, uint64_t i, struct arena *arena, struct prov_record *r)
{
    struct rng rng = {rank * 1000003ull + i};

    *r = (struct prov_record){
        .event = {rank, i / 100, 1000 + i},
        .thread = (uint32_t)(i % 3),
        .fid = (uint32_t)(i % N_NAMES),
        .func = names[i % N_NAMES],
        .hostname = "node0123",
        .enter_ns = 60000000000ull + i * 1700000,
        .exclusive_ns = 900000 + rng_next(&rng) % 50000000,
        .step_begin_ns = 60000000000ull + i / 100 * 170000000,
        .score = 5 + (double)(rng_next(&rng) % 1000) / 8,
        .p = 1e-6 / (double)(1 + rng_next(&rng) % 1000),
        .algorithm = "hbos",
        .model_version = 1 + i / 1000,
    };
    r->inclusive_ns = r->exclusive_ns + rng_next(&rng) % 1000000;
    r->leave_ns = r->enter_ns + r->inclusive_ns;
    r->step_end_ns = r->step_begin_ns + 170000000;
    r->severity_ns = r->exclusive_ns;
    make_stack(&rng, r, arena);
    make_window(&rng, r, arena, &r->window);
    make_cause(&rng, r, arena);
    make_rare_parts(r, i, arena);
}
