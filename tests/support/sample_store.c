/*
 * sample_store DIR [FIRST] -- makes a small store of provenance with two shards: 24 anomalies
 * and 6 normal executions of four ranks, from number FIRST on, metadata, statistics, a model.
 */
#include "base/err.h"
#include "prov/prov_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "sample_record.h"

static void put_records(struct prov_store *store, uint64_t first)
{
    struct arena arena = {0};
    struct prov_record record;

    for (uint64_t i = 0; i < 30; i++) {
        sample_record((uint32_t)(i % 4), first + i, &arena, &record);
        prov_store_put(store, i % 5 ? PROV_ANOMALY : PROV_NORMAL, &record);
    }
    arena_release(&arena);
}

/* What the second and third anomaly of rank 1 cost; of the others it is not known. */
static void put_costs(struct prov_store *store, uint64_t first)
{
    struct arena arena = {0};
    struct prov_record record;

    for (uint64_t i = 9; i <= 13; i += 4) {
        sample_record(1, first + i, &arena, &record);
        prov_store_put_cost(store, &(struct prov_cost){.event = record.event,
                                                       .program = record.program,
                                                       .is_execution = record.is_execution,
                                                       .cost_ns = i * 1000000,
                                                       .is_bound = i == 13});
    }
    arena_release(&arena);
}

static void put_the_rest(struct prov_store *store)
{
    struct prov_stats stats = {
        .count = 2, .accumulate = 30, .minimum = 10, .maximum = 20, .mean = 15, .stddev = 5};

    prov_store_put_metadata(
        store, &(struct prov_metadata){.rank = 3, .descr = "CPU Cores", .value = "2"});
    prov_store_put_func_stats(store, &(struct prov_func_stats){.fid = 12,
                                                               .func = "MPI_Wait()",
                                                               .n_calls = 1000,
                                                               .n_anomalies = 2,
                                                               .exclusive = stats,
                                                               .inclusive = stats,
                                                               .severity = stats,
                                                               .score = stats});
    prov_store_put_counter_stats(
        store, &(struct prov_counter_stats){.counter = "PAPI_TOT_CYC", .stats = stats});
    prov_store_put_model(store, &(struct prov_model){.version = 1,
                                                     .fid = 12,
                                                     .func = "MPI_Wait()",
                                                     .algorithm = "hbos",
                                                     .stats = stats,
                                                     .data = "sketch",
                                                     .bytes = 6});
}

int main(int argc, char **argv)
{
    char url[4096];
    struct prov_store *store;
    int rc;

    if (argc < 2)
        return 2;
    snprintf(url, sizeof url, "sqlite:%s?shards=2", argv[1]);
    rc = prov_store_open(url, NULL, &store);
    if (rc == 0) {
        put_records(store, argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
        put_costs(store, argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
        put_the_rest(store);
        rc = prov_store_close(store);
    }
    if (rc < 0)
        fprintf(stderr, "sample_store: %s\n", err_message());
    return rc < 0;
}
