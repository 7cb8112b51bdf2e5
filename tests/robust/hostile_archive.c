/*
 * hostile_archive KIND DIR -- writes an OTF2 archive that libotf2 finds nothing wrong with, and
 * no program would ever leave: times, depths, names and numbers at their limits. DIR must
 * exist. Without arguments it prints the kinds.
 */
#include "otf2_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP, A, B, SEND, RECV, WAIT, ALLREDUCE, N_REGIONS };

#define NS_PER_S 1000000000u
#define N_STEPS 60u
#define MAX_DEEP 70000u

static const char *const plain_names[N_REGIONS] = {
    "step", "a", "b", "MPI_Send", "MPI_Recv", "MPI_Wait", "MPI_Allreduce",
};

/* What a kind writes, and with which clock. */
struct kind {
    const char *name;
    void (*write)(struct otf2_write *w);
    uint64_t ticks_per_s; /* 0: 1e9 */
    uint64_t origin;
    const char *const *names; /* [N_REGIONS] NULL: plain_names */
};

static void enter(OTF2_EvtWriter *e, uint64_t time, uint32_t region)
{
    OTF2_EvtWriter_Enter(e, NULL, time, region);
}

static void leave(OTF2_EvtWriter *e, uint64_t time, uint32_t region)
{
    OTF2_EvtWriter_Leave(e, NULL, time, region);
}

/* Steps of two calls, from a time on, so far apart; one of them takes eight times as long. */
static void steps_on(OTF2_EvtWriter *e, uint64_t at, uint64_t unit)
{
    for (uint32_t i = 0; i < N_STEPS; i++) {
        uint64_t took = (10 + i % 3) * unit * (i == 40 ? 8 : 1);

        enter(e, at, STEP);
        enter(e, at + unit, A);
        leave(e, at += unit + took, A);
        enter(e, at, B);
        leave(e, at += 2 * unit, B);
        leave(e, at += unit, STEP);
        at += unit;
    }
}

static void two_ranks(struct otf2_write *w, uint64_t at, uint64_t unit)
{
    for (uint64_t l = 0; l < 2; l++)
        steps_on(otf2_write_location(w, l), at, unit);
}

/* ------------------------------------------------------------------------------------ times */

static void slow_clock(struct otf2_write *w)
{
    two_ranks(w, 1, (uint64_t)1 << 38); /* seconds */
}

static void typical_times(struct otf2_write *w)
{
    two_ranks(w, 1000, 1000);
}

static void times_to_the_last(struct otf2_write *w)
{
    two_ranks(w, UINT64_MAX - ((uint64_t)1 << 20), 100);
}

static void times_over_the_sign(struct otf2_write *w)
{
    two_ranks(w, ((uint64_t)1 << 63) - 50000, 100);
}

static void ranks_of_different_ages(struct otf2_write *w)
{
    for (uint64_t l = 0; l < 4; l++)
        steps_on(otf2_write_location(w, l), l << 61, 1000);
}

static void centuries(struct otf2_write *w)
{
    two_ranks(w, 0, (uint64_t)1 << 50);
}

static void one_moment(struct otf2_write *w)
{
    two_ranks(w, 77, 0);
}

static void backwards(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);

    for (uint64_t i = 0; i < 1000; i++) {
        enter(e, (1000 - i) * 1000, STEP);
        leave(e, (1000 - i) * 1000 - 500, STEP);
    }
}

static void alternating(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);

    for (uint64_t i = 0; i < 1000; i++) {
        enter(e, i % 2 ? (uint64_t)1 << 60 : i, STEP);
        leave(e, i % 2 ? i : (uint64_t)1 << 61, STEP);
    }
}

static void absurd_offsets(struct otf2_write *w)
{
    typical_times(w);
    otf2_write_clock_offset(w, 0, 0, INT64_MIN);
    otf2_write_clock_offset(w, 0, 20000, INT64_MAX);
    otf2_write_clock_offset(w, 1, 0, INT64_MAX);
    otf2_write_clock_offset(w, 1, 1, INT64_MIN);
}

static void steep_offsets(struct otf2_write *w)
{
    typical_times(w);
    otf2_write_clock_offset(w, 0, 0, 0);
    otf2_write_clock_offset(w, 0, 1, (int64_t)1 << 52);
    otf2_write_clock_offset(w, 1, 0, -((int64_t)1 << 58));
    otf2_write_clock_offset(w, 1, 500000, (int64_t)1 << 58);
}

/* ------------------------------------------------------------------------------------ trees */

static void deep(OTF2_EvtWriter *e, uint32_t depth)
{
    uint64_t at = 0;

    for (int i = 0; i < 12; i++) {
        enter(e, at++, STEP);
        for (uint32_t d = 0; d < depth; d++)
            enter(e, at++, A);
        at += i == 7 ? 1000 : 0;
        for (uint32_t d = 0; d < depth; d++)
            leave(e, at++, A);
        leave(e, at++, STEP);
    }
}

static void as_deep_as_can_be(struct otf2_write *w)
{
    deep(otf2_write_location(w, 0), 65000);
}

static void deeper(struct otf2_write *w)
{
    deep(otf2_write_location(w, 0), MAX_DEEP);
}

static void wide(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);
    uint64_t at = 0;

    for (int i = 0; i < 6; i++) {
        enter(e, at++, STEP);
        for (uint32_t k = 0; k < 40000; k++) {
            enter(e, at++, k % 2 ? A : B);
            leave(e, at++, k % 2 ? A : B);
        }
        leave(e, at++, STEP);
    }
}

/* Of each execution another tree: a path for each bit. */
static void no_two_alike(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);
    uint64_t at = 0;

    for (uint32_t i = 0; i < 2000; i++) {
        enter(e, at++, STEP);
        for (int bit = 0; bit < 11; bit++)
            enter(e, at++, i >> bit & 1 ? A : B);
        for (int bit = 11; bit-- > 0;)
            leave(e, at++, i >> bit & 1 ? A : B);
        leave(e, at++, STEP);
    }
}

static void only_enters(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);

    for (uint64_t i = 0; i < 3000; i++)
        enter(e, i, (uint32_t)i % 3);
}

static void only_leaves(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);

    for (uint64_t i = 0; i < 3000; i++)
        leave(e, i, (uint32_t)i % 3);
}

static void crossed(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);

    for (uint64_t i = 0; i < 3000; i++) {
        if (i % 3 != 2)
            enter(e, i, (uint32_t)(i % 7) % 3);
        else
            leave(e, i, (uint32_t)(i % 5) % 3);
    }
}

static void nothing(struct otf2_write *w)
{
    otf2_write_location(w, 0);
}

static void one_call(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);

    enter(e, 0, STEP);
    leave(e, (uint64_t)3 << 60, STEP);
}

/* --------------------------------------------------------------------------- names, numbers */

static void many_locations(struct otf2_write *w)
{
    for (uint64_t l = 0; l < OTF2_WRITE_LOCATIONS; l++) {
        OTF2_EvtWriter *e =
            l % 2 ? otf2_write_thread(w, l, (uint32_t)l / 2) : otf2_write_location(w, l);

        enter(e, l, STEP);
        leave(e, l + 1000, STEP);
    }
}

static void many_regions(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);
    char name[32];

    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "region %u", i);
        otf2_write_region(w, N_REGIONS + i, name);
        enter(e, 2 * i, N_REGIONS + i);
        leave(e, 2 * i + 1, N_REGIONS + i);
    }
}

static void long_names(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);
    char *name = malloc(500001);

    for (uint32_t i = 0; i < 20; i++) {
        memset(name, 'a' + (int)i, 500000);
        name[500000] = '\0';
        otf2_write_region(w, N_REGIONS + i, name);
        for (uint32_t k = 0; k < 30; k++) {
            enter(e, 1000 * i + 2 * k, N_REGIONS + i);
            leave(e, 1000 * i + 2 * k + 1, N_REGIONS + i);
        }
    }
    free(name);
}

static void last_numbers(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, UINT64_MAX - 1);

    otf2_write_region(w, UINT32_MAX - 1, "the last");
    for (uint64_t i = 0; i < 100; i++) {
        enter(e, 10 * i, UINT32_MAX - 1);
        leave(e, 10 * i + 5, UINT32_MAX - 1);
    }
}

static void undefined_regions(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);

    for (uint64_t i = 0; i < 300; i++) {
        enter(e, 10 * i, 1000000 + (uint32_t)i);
        leave(e, 10 * i + 5, 1000000 + (uint32_t)i);
    }
}

static void more_events_said(struct otf2_write *w)
{
    typical_times(w);
    w->location[0].n_events_said = UINT64_MAX - 1;
    w->location[1].n_events_said = 1;
}

/* --------------------------------------------------------------------------------- messages */

static void endless_bytes(struct otf2_write *w)
{
    OTF2_EvtWriter *e[2] = {otf2_write_location(w, 0), otf2_write_location(w, 1)};

    w->has_mpi = true;
    for (uint64_t i = 0; i < 400; i++) {
        enter(e[0], 100 * i, SEND);
        OTF2_EvtWriter_MpiSend(e[0], NULL, 100 * i + 1, 1, 0, UINT32_MAX, UINT64_MAX);
        leave(e[0], 100 * i + 9, SEND);
        enter(e[1], 100 * i, RECV);
        OTF2_EvtWriter_MpiRecv(e[1], NULL, 100 * i + 50, 0, 0, UINT32_MAX, UINT64_MAX);
        leave(e[1], 100 * i + 60, RECV);
    }
}

static void messages_to_nobody(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);

    w->has_mpi = true;
    for (uint64_t i = 0; i < 3000; i++) {
        enter(e, 10 * i, SEND);
        OTF2_EvtWriter_MpiSend(e, NULL, 10 * i + 1, (uint32_t)i % 3 ? 0 : UINT32_MAX - 1,
                               i % 5 ? 0 : 77, 0, 8);
        leave(e, 10 * i + 5, SEND);
    }
}

/* Receives long before their sends: clocks that disagree by more than the run is long. */
static void received_before(struct otf2_write *w)
{
    OTF2_EvtWriter *e[2] = {otf2_write_location(w, 0), otf2_write_location(w, 1)};

    w->has_mpi = true;
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t late = (uint64_t)1 << 59;

        enter(e[0], late + 100 * i, SEND);
        OTF2_EvtWriter_MpiSend(e[0], NULL, late + 100 * i + 1, 1, 0, 0, 8);
        leave(e[0], late + 100 * i + 9, SEND);
        enter(e[1], 100 * i, RECV);
        OTF2_EvtWriter_MpiRecv(e[1], NULL, 100 * i + 50, 0, 0, 0, 8);
        leave(e[1], 100 * i + 60, RECV);
    }
}

static void requests_of_one_number(struct otf2_write *w)
{
    OTF2_EvtWriter *e = otf2_write_location(w, 0);

    w->has_mpi = true;
    for (uint64_t i = 0; i < 1000; i++) {
        enter(e, 100 * i, WAIT);
        OTF2_EvtWriter_MpiIrecvRequest(e, NULL, 100 * i + 1, UINT64_MAX);
        OTF2_EvtWriter_MpiIsend(e, NULL, 100 * i + 2, 0, 0, 0, 8, UINT64_MAX);
        if (i % 3 == 0)
            OTF2_EvtWriter_MpiIrecv(e, NULL, 100 * i + 3, 0, 0, 0, 8, UINT64_MAX);
        if (i % 5 == 0)
            OTF2_EvtWriter_MpiIsendComplete(e, NULL, 100 * i + 4, i);
        leave(e, 100 * i + 50, WAIT);
    }
}

static void collectives_of_one(struct otf2_write *w)
{
    OTF2_EvtWriter *e[2] = {otf2_write_location(w, 0), otf2_write_location(w, 1)};

    w->has_mpi = true;
    for (uint64_t i = 0; i < 500; i++) {
        OTF2_EvtWriter *one = e[i % 7 == 0];

        enter(one, 100 * i, ALLREDUCE);
        if (i % 2)
            OTF2_EvtWriter_MpiCollectiveBegin(one, NULL, 100 * i + 1);
        OTF2_EvtWriter_MpiCollectiveEnd(one, NULL, 100 * i + 50, (OTF2_CollectiveOp)(i % 20), 0,
                                        i % 3 ? 0 : UINT32_MAX - 5, UINT64_MAX, i);
        leave(one, 100 * i + 60, ALLREDUCE);
    }
}

/* --------------------------------------------------------------------------------- counters */

static void counters_of_anything(struct otf2_write *w)
{
    static const OTF2_Type type[] = {OTF2_TYPE_UINT64, OTF2_TYPE_DOUBLE};
    OTF2_EvtWriter *e = otf2_write_location(w, 0);
    uint32_t unit = otf2_write_string(w, "x");
    OTF2_MetricMemberRef members[] = {0, 1};

    for (uint32_t i = 0; i < 2; i++)
        OTF2_GlobalDefWriter_WriteMetricMember(
            w->defs, i, otf2_write_string(w, i ? "=real" : "whole"), unit,
            OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ACCUMULATED_START, type[i], OTF2_BASE_DECIMAL,
            INT64_MAX, unit);
    OTF2_GlobalDefWriter_WriteMetricClass(
        w->defs, 0, 2, members, OTF2_METRIC_SYNCHRONOUS_STRICT, OTF2_RECORDER_KIND_CPU);
    for (uint64_t i = 0; i < 600; i++) {
        static const double real[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 5e-324};
        OTF2_MetricValue value[] = {{.unsigned_int = i % 2 ? UINT64_MAX : 0},
                                    {.floating_point = real[i % 6]}};

        OTF2_EvtWriter_Metric(e, NULL, 10 * i, 0, 2, type, value);
        enter(e, 10 * i, STEP);
        OTF2_EvtWriter_Metric(e, NULL, 10 * i + 5, 0, 2, type, value);
        leave(e, 10 * i + 5, STEP);
    }
}

/* ------------------------------------------------------------------------------------- main */

static const char *const odd_names[N_REGIONS] = {
    "=cmd|' /C calc'!A0",
    "+1+1\n\r\t\"",
    "\x1b[31m</script><img src=x>\xff\xfe",
    "@SUM(1) %s%n",
    "../../x",
    "a/b > c",
    "$(id)`id`';DROP TABLE execution;--",
};
static const char *const empty_names[N_REGIONS] = {"", "", "", "", "", "", ""};
static const char *const one_name[N_REGIONS] = {"f", "f", "f", "f", "f", "f", "f"};

static const struct kind kinds[] = {
    {"slow-clock", slow_clock, 1, 0, NULL},
    {"fast-clock", typical_times, UINT64_MAX, 0, NULL},
    {"late-origin", typical_times, 0, UINT64_MAX / 2, NULL},
    {"last-origin", typical_times, 0, UINT64_MAX, NULL},
    {"times-to-the-last", times_to_the_last, 0, 0, NULL},
    {"times-over-the-sign", times_over_the_sign, 0, 0, NULL},
    {"ranks-of-different-ages", ranks_of_different_ages, 0, 0, NULL},
    {"centuries", centuries, 0, 0, NULL},
    {"one-moment", one_moment, 0, 0, NULL},
    {"backwards", backwards, 0, 0, NULL},
    {"alternating", alternating, 0, 0, NULL},
    {"absurd-offsets", absurd_offsets, 0, 0, NULL},
    {"steep-offsets", steep_offsets, 0, 0, NULL},
    {"deep", as_deep_as_can_be, 0, 0, NULL},
    {"deeper", deeper, 0, 0, NULL},
    {"wide", wide, 0, 0, NULL},
    {"no-two-alike", no_two_alike, 0, 0, NULL},
    {"only-enters", only_enters, 0, 0, NULL},
    {"only-leaves", only_leaves, 0, 0, NULL},
    {"crossed", crossed, 0, 0, NULL},
    {"nothing", nothing, 0, 0, NULL},
    {"one-call", one_call, 0, 0, NULL},
    {"many-locations", many_locations, 0, 0, NULL},
    {"many-regions", many_regions, 0, 0, NULL},
    {"long-names", long_names, 0, 0, NULL},
    {"odd-names", typical_times, 0, 0, odd_names},
    {"empty-names", typical_times, 0, 0, empty_names},
    {"one-name", typical_times, 0, 0, one_name},
    {"last-numbers", last_numbers, 0, 0, NULL},
    {"undefined-regions", undefined_regions, 0, 0, NULL},
    {"more-events-said", more_events_said, 0, 0, NULL},
    {"endless-bytes", endless_bytes, 0, 0, NULL},
    {"messages-to-nobody", messages_to_nobody, 0, 0, NULL},
    {"received-before", received_before, 0, 0, NULL},
    {"requests-of-one-number", requests_of_one_number, 0, 0, NULL},
    {"collectives-of-one", collectives_of_one, 0, 0, NULL},
    {"counters-of-anything", counters_of_anything, 0, 0, NULL},
};

#define N_KINDS (sizeof kinds / sizeof *kinds)

int main(int argc, char **argv)
{
    struct otf2_write w;

    for (size_t i = 0; i < N_KINDS && argc == 1; i++)
        puts(kinds[i].name);
    for (size_t i = 0; i < N_KINDS && argc == 3; i++) {
        const char *const *names = kinds[i].names ? kinds[i].names : plain_names;

        if (strcmp(argv[1], kinds[i].name) != 0)
            continue;
        otf2_write_open_chunks(
            &w, argv[2], kinds[i].ticks_per_s ? kinds[i].ticks_per_s : NS_PER_S, 256 * 1024);
        w.origin = kinds[i].origin;
        for (uint32_t r = 0; r < N_REGIONS; r++)
            otf2_write_region(&w, r, names[r]);
        kinds[i].write(&w);
        otf2_write_close(&w);
        return 0;
    }
    return argc == 1 ? 0 : 2;
}
