/*
 * sample_archive DIR [damaged | estimated | counted | stopped] -- writes an OTF2 archive that
 * has some of everything: DIR must exist.
 *
 * Three ranks, one of them with a second thread, take 30 steps of 20 us. Times in a step, in
 * ns:
 *
 *     0 step
 *     | 100 solve ............... recursive walk, 1 to 4 deep; Atoms::sort
 *     | 13000 MPI_Irecv, MPI_Isend, MPI_Waitall ........... from the left, to the right
 *     | 14000 MPI_Send on rank 0, MPI_Recv on rank 1
 *     | 15000 MPI_Allreduce ..... collective
 *     16000
 *
 * In step 7 of rank 1 solve takes 9 us longer, in step 21 of rank 2 there is one more sort.
 * Rank 2 numbers its regions backwards (a mapping table); the clocks of ranks 1 and 2 are off,
 * the one by a constant, the other with a drift, and ClockOffset records say so. `step` is
 * defined twice.
 *
 * Damaged: rank 0 leaves `solve` twice in step 3, rank 1 leaves `main` before `solve` in step
 * 5, rank 2 never leaves `main`.
 *
 * Estimated: enters of `step` and `solve` are known to within 20 ns, in step 7 of rank 1 to
 * within 9.2 us, as our tracer says it of functions that it found on a stack. All regions but
 * `step`, of which there are two, say where their source is.
 *
 * Stopped: rank 2 never leaves step 15, and nothing of it is there after that.
 *
 * Counted: a record in front of each enter and leave of the ranks' master threads has two
 * counters, `instructions`, three for each ns of true time since the start, and `heat`, which
 * is 40 and a half for each call around it. Each step has two parameters, its number and
 * whether that is odd. A location of rank 0 without calls reads `power` every 15 us: its
 * number, in milliwatts.
 */
#include "otf2_write.h"

#include <stdio.h>
#include <string.h>

enum { MAIN, STEP, SOLVE, WALK, SORT, SEND, RECV, ISEND, IRECV, WAITALL, ALLREDUCE, STEP_TOO };

#define N_REGIONS 12
#define N_RANKS 3
#define N_STEPS 30u
#define ORIGIN 5000u
#define STEP_NS 20000u

static const char *const names[N_REGIONS] = {
    "main",     "step",      "solve",     "walk, \"deeper\"", "_ZN5Atoms4sortEv", "MPI_Send",
    "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Waitall",      "MPI_Allreduce",    "step",
};

/* A location being written. */
struct pen {
    OTF2_EvtWriter *events;
    uint32_t rank;
    uint64_t now;                   /* true time */
    OTF2_AttributeList *attributes; /* NULL: all times are known */
    bool is_counted;
    uint32_t n_left;      /* steps; one more is entered, if there are more */
    uint32_t odd_even[2]; /* strings */
    uint32_t depth;
};

enum { EARLIER, LATER };

/* The clock of rank 1 is 700 ns behind; that of rank 2 is 100 behind and loses 1 in 64. */
static uint64_t clock_of(const struct pen *pen, uint64_t now)
{
    if (pen->rank == 1)
        return now - 700;
    if (pen->rank == 2)
        return (now - 100) * 64 / 65;
    return now;
}

static uint64_t stamp(struct pen *pen, uint64_t after)
{
    pen->now += after;
    return clock_of(pen, pen->now);
}

static uint32_t region_of(const struct pen *pen, uint32_t region)
{
    return pen->rank == 2 ? N_REGIONS - 1 - region : region;
}

enum { INSTRUCTIONS, HEAT, POWER, N_COUNTERS };
enum { NUMBER, PARITY };

static void count(const struct pen *pen, uint64_t time)
{
    static const OTF2_Type type[] = {OTF2_TYPE_UINT64, OTF2_TYPE_DOUBLE};
    OTF2_MetricValue value[] = {{.unsigned_int = 3 * (pen->now - ORIGIN)},
                                {.floating_point = 40 + 0.5 * pen->depth}};

    if (pen->is_counted)
        OTF2_EvtWriter_Metric(pen->events, NULL, time, 0, 2, type, value);
}

static void enter(struct pen *pen, uint64_t after, uint32_t region)
{
    uint64_t time = stamp(pen, after);

    count(pen, time);
    pen->depth++;
    OTF2_EvtWriter_Enter(pen->events, NULL, time, region_of(pen, region));
}

/* Enters a region at a time that may be off. */
static void enter_about(struct pen *pen, uint64_t after, uint32_t region, uint32_t step)
{
    uint64_t off = pen->rank == 1 && step == 7 ? 9200 : 20, time;

    if (pen->attributes) {
        OTF2_AttributeList_AddUint64(pen->attributes, EARLIER, off);
        OTF2_AttributeList_AddUint64(pen->attributes, LATER, off / 2);
    }
    time = stamp(pen, after);
    count(pen, time);
    pen->depth++;
    OTF2_EvtWriter_Enter(pen->events, pen->attributes, time, region_of(pen, region));
}

static void leave(struct pen *pen, uint64_t after, uint32_t region)
{
    uint64_t time = stamp(pen, after);

    count(pen, time);
    pen->depth--;
    OTF2_EvtWriter_Leave(pen->events, NULL, time, region_of(pen, region));
}

/* Differs from step to step and rank to rank, and is the same everywhere. */
static uint32_t wiggle(uint32_t rank, uint32_t step, uint32_t most)
{
    return (step * 7919u + rank * 104729u + 13u) % 1009u * most / 1009u;
}

static void solve(struct pen *pen, uint32_t step, bool is_damaged)
{
    uint32_t depth = 1 + step % 4, n_sorts = pen->rank == 2 && step == 21 ? 2 : 1;

    enter_about(pen, 100, SOLVE, step);
    for (uint32_t i = 0; i < depth; i++)
        enter(pen, 50, WALK);
    for (uint32_t i = 0; i < depth; i++)
        leave(pen, 100 + wiggle(pen->rank, step, 100), WALK);
    for (uint32_t i = 0; i < n_sorts; i++) {
        enter(pen, 0, SORT);
        leave(pen, 300 + wiggle(pen->rank, step + 500, 60), SORT);
    }
    if (is_damaged && pen->rank == 1 && step == 5)
        return;
    leave(pen,
          900 + wiggle(pen->rank, step + 50, 200) + (pen->rank == 1 && step == 7 ? 9000u : 0),
          SOLVE);
    if (is_damaged && pen->rank == 0 && step == 3)
        leave(pen, 10, SOLVE);
}

static void exchange(struct pen *pen, uint32_t step)
{
    uint32_t left = (pen->rank + N_RANKS - 1) % N_RANKS, right = (pen->rank + 1) % N_RANKS;
    uint64_t in = 2 * step, out = 2 * step + 1;

    enter(pen, 0, IRECV);
    OTF2_EvtWriter_MpiIrecvRequest(pen->events, NULL, stamp(pen, 10), in);
    leave(pen, 40, IRECV);
    enter(pen, 50, ISEND);
    OTF2_EvtWriter_MpiIsend(pen->events, NULL, stamp(pen, 10), right, 0, 1, 4096, out);
    leave(pen, 40, ISEND);
    enter(pen, 50, WAITALL);
    OTF2_EvtWriter_MpiIsendComplete(pen->events, NULL, stamp(pen, 100), out);
    OTF2_EvtWriter_MpiIrecv(pen->events, NULL, stamp(pen, 100), left, 0, 1, 4096, in);
    leave(pen, 100, WAITALL);
}

static void pass_on(struct pen *pen)
{
    if (pen->rank == 0) {
        enter(pen, 0, SEND);
        OTF2_EvtWriter_MpiSend(pen->events, NULL, stamp(pen, 10), 1, 0, 2, 64);
        leave(pen, 40, SEND);
    } else if (pen->rank == 1) {
        enter(pen, 5, RECV);
        OTF2_EvtWriter_MpiRecv(pen->events, NULL, stamp(pen, 90), 0, 0, 2, 64);
        leave(pen, 10, RECV);
    }
}

static void reduce(struct pen *pen)
{
    enter(pen, 0, ALLREDUCE);
    OTF2_EvtWriter_MpiCollectiveBegin(pen->events, NULL, stamp(pen, 1));
    OTF2_EvtWriter_MpiCollectiveEnd(pen->events, NULL, stamp(pen, 500),
                                    OTF2_COLLECTIVE_OP_ALLREDUCE, 0, OTF2_COLLECTIVE_ROOT_NONE,
                                    8, 8);
    leave(pen, 1, ALLREDUCE);
}

static void say_parameters(const struct pen *pen, uint32_t step)
{
    uint64_t time = clock_of(pen, pen->now);

    if (!pen->is_counted)
        return;
    OTF2_EvtWriter_ParameterUnsignedInt(pen->events, NULL, time, NUMBER, step);
    OTF2_EvtWriter_ParameterString(pen->events, NULL, time, PARITY, pen->odd_even[step % 2]);
}

static void write_step(struct pen *pen, uint32_t step, bool is_damaged)
{
    uint64_t begin = ORIGIN + 1000 + step * STEP_NS;
    uint32_t region = pen->rank == 1 ? STEP_TOO : STEP;

    pen->now = begin;
    enter_about(pen, 0, region, step);
    say_parameters(pen, step);
    solve(pen, step, is_damaged);
    pen->now = begin + 13000;
    exchange(pen, step);
    pen->now = begin + 14000;
    pass_on(pen);
    pen->now = begin + 15000;
    reduce(pen);
    pen->now = begin + 16000 + wiggle(pen->rank, step + 900, 20);
    if (step < pen->n_left)
        leave(pen, 0, region);
}

static void write_rank(struct pen *pen, bool is_damaged)
{
    pen->now = ORIGIN + 200 * pen->rank;
    enter(pen, 0, MAIN);
    for (uint32_t step = 0; step < N_STEPS && step <= pen->n_left; step++)
        write_step(pen, step, is_damaged);
    if (pen->n_left == N_STEPS && (!is_damaged || pen->rank != 2))
        leave(pen, 100, MAIN);
}

/* The second thread of rank 1 only sorts. */
static void write_thread(struct pen *pen)
{
    pen->now = ORIGIN + 3000;
    for (uint32_t step = 0; step < N_STEPS; step++) {
        enter(pen, 400, SORT);
        leave(pen, 800 + wiggle(9, step, 100), SORT);
    }
}

static void write_power(struct otf2_write *w)
{
    static const OTF2_Type type = OTF2_TYPE_UINT64;
    OTF2_EvtWriter *events = otf2_write_thread(w, 77, 0);

    for (uint64_t i = 0; i < 40; i++)
        OTF2_EvtWriter_Metric(events, NULL, ORIGIN + 15000 * i, 1, 1, &type,
                              &(OTF2_MetricValue){.unsigned_int = i});
}

static void define_counter(struct otf2_write *w, uint32_t id, const char *name,
                           const char *unit, OTF2_MetricMode mode)
{
    OTF2_GlobalDefWriter_WriteMetricMember(
        w->defs, id, otf2_write_string(w, name), 0, OTF2_METRIC_TYPE_OTHER, mode,
        id == HEAT ? OTF2_TYPE_DOUBLE : OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL,
        id == POWER ? -3 : 0, otf2_write_string(w, unit));
}

static void write_counters(struct otf2_write *w)
{
    define_counter(w, INSTRUCTIONS, "instructions", "#", OTF2_METRIC_ACCUMULATED_START);
    define_counter(w, HEAT, "heat", "C", OTF2_METRIC_ABSOLUTE_POINT);
    define_counter(w, POWER, "power", "W", OTF2_METRIC_ABSOLUTE_LAST);
    OTF2_GlobalDefWriter_WriteMetricClass(
        w->defs, 0, 2, (OTF2_MetricMemberRef[]){INSTRUCTIONS, HEAT},
        OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU);
    OTF2_GlobalDefWriter_WriteMetricClass(w->defs, 1, 1, (OTF2_MetricMemberRef[]){POWER},
                                          OTF2_METRIC_ASYNCHRONOUS,
                                          OTF2_RECORDER_KIND_ABSTRACT);
    OTF2_GlobalDefWriter_WriteParameter(w->defs, NUMBER, otf2_write_string(w, "number"),
                                        OTF2_PARAMETER_TYPE_UINT64);
    OTF2_GlobalDefWriter_WriteParameter(w->defs, PARITY, otf2_write_string(w, "parity"),
                                        OTF2_PARAMETER_TYPE_STRING);
}

static void write_attributes(struct otf2_write *w)
{
    uint32_t earlier = otf2_write_string(w, "snag.earlier");
    uint32_t later = otf2_write_string(w, "snag.later");

    OTF2_GlobalDefWriter_WriteAttribute(w->defs, EARLIER, earlier, earlier, OTF2_TYPE_UINT64);
    OTF2_GlobalDefWriter_WriteAttribute(w->defs, LATER, later, later, OTF2_TYPE_UINT64);
}

static void write_definitions(struct otf2_write *w)
{
    uint64_t backwards[N_REGIONS];

    for (uint32_t i = 0; i < N_REGIONS; i++) {
        backwards[i] = N_REGIONS - 1 - i;
        otf2_write_region(w, i, names[i]);
    }
    otf2_write_map(w, 2ull << 32, backwards, N_REGIONS);
    otf2_write_clock_offset(w, 1ull << 32, 0, 700);
    otf2_write_clock_offset(w, 1ull << 32, 1000000, 700);
    otf2_write_clock_offset(w, (1ull << 32) + 1, 0, 700);
    otf2_write_clock_offset(w, (1ull << 32) + 1, 1000000, 700);
    otf2_write_clock_offset(w, 2ull << 32, 0, 100);
    otf2_write_clock_offset(w, 2ull << 32, 640000, 10100);
    w->origin = ORIGIN;
    w->length = N_STEPS * STEP_NS + 10000;
    w->has_mpi = true;
}

int main(int argc, char **argv)
{
    bool is_damaged = argc > 2 && strcmp(argv[2], "damaged") == 0;
    bool is_estimated = argc > 2 && strcmp(argv[2], "estimated") == 0;
    bool is_counted = argc > 2 && strcmp(argv[2], "counted") == 0;
    bool is_stopped = argc > 2 && strcmp(argv[2], "stopped") == 0;
    uint32_t even = 0, odd = 0;
    OTF2_AttributeList *attributes = is_estimated ? OTF2_AttributeList_New() : NULL;
    struct otf2_write w;
    struct pen thread = {.rank = 1};

    if (argc < 2) {
        fprintf(stderr,
                "usage: sample_archive DIR [damaged | estimated | counted | stopped]\n");
        return 2;
    }
    otf2_write_open(&w, argv[1], 1000000000);
    if (is_counted) {
        even = otf2_write_string(&w, "even");
        odd = otf2_write_string(&w, "odd");
    }
    for (uint32_t rank = 0; rank < N_RANKS; rank++) {
        struct pen pen = {.rank = rank,
                          .is_counted = is_counted,
                          .n_left = is_stopped && rank == 2 ? 15 : N_STEPS,
                          .odd_even = {even, odd},
                          .attributes = attributes,
                          .events = otf2_write_location(&w, (uint64_t)rank << 32)};

        write_rank(&pen, is_damaged);
    }
    thread.events = otf2_write_thread(&w, (1ull << 32) + 1, 1);
    write_thread(&thread);
    if (is_counted)
        write_power(&w);
    w.source = is_estimated ? "src/sample.c" : NULL;
    write_definitions(&w);
    if (is_estimated)
        write_attributes(&w);
    if (is_counted)
        write_counters(&w);
    otf2_write_close(&w);
    OTF2_AttributeList_Delete(attributes);
    return 0;
}
