/*
 * prov_bench DIR [RECORDS [SHARDS]] -- puts records of a live system (sample_record.h) into a
 * new store, or into one at an URL of PostgreSQL, and says, as JSON, what that takes: processor
 * time of the thread that puts and of all threads, when that began and seconds until all is
 * stored; of a directory bytes of a record alone and with its row and indexes, too. The records
 * are made before.
 */
#include "base/err.h"
#include "base/mem.h"
#include "postgres/pg_connection.h"
#include "prov/prov_dir.h"
#include "prov/prov_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "sample_record.h"

static int by_size(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Bytes of the median record, packed and compressed. */
static size_t median_bytes(const struct prov_record *record, size_t n)
{
    ZSTD_CCtx *context = prov_compressor();
    size_t *size = mem_alloc(n, sizeof *size), median;

    for (size_t i = 0; i < n; i++) {
        struct pack plain = {0}, bytes = {0};

        prov_record_pack(&record[i], &plain);
        prov_compress(context, plain.data, plain.n, &bytes);
        size[i] = bytes.n;
        pack_release(&plain);
        pack_release(&bytes);
    }
    qsort(size, n, sizeof *size, by_size);
    median = size[n / 2];
    free(size);
    ZSTD_freeCCtx(context);
    return median;
}

/* Bytes of the mean record as JSON, which is what Chimbuko stores. */
static double json_bytes(const struct prov_record *record, size_t n)
{
    double bytes = 0;

    for (size_t i = 0; i < n; i++) {
        json_t *json = prov_record_to_json(&record[i], NULL);

        bytes += (double)json_dumpb(json, NULL, 0, JSON_COMPACT | JSON_REAL_PRECISION(15));
        json_decref(json);
    }
    return bytes / (double)n;
}

static double file_bytes(const char *dir, uint32_t n_shards)
{
    struct prov_dir place;
    double bytes = 0;

    if (prov_dir_parse(dir, &place) < 0)
        return 0;
    for (uint32_t i = 0; i < n_shards; i++) {
        struct prov_file file;
        struct stat info;

        if (stat(prov_dir_file(&place, -1, i, &file)->path, &info) == 0)
            bytes += (double)info.st_size;
    }
    return bytes;
}

static double seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* What it took to put and store, before anything else is looked at. */
struct times {
    double put_s, all_s; /* of the processor: of the thread that puts, of all */
    double began_s, wall_s;
};

static int store_all(struct prov_store *store, const struct prov_record *record, size_t n,
                     struct times *took)
{
    double put_s = seconds(CLOCK_THREAD_CPUTIME_ID), all_s = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int rc;

    took->began_s = seconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < n; i++)
        prov_store_put(store, PROV_ANOMALY, &record[i]);
    took->put_s = seconds(CLOCK_THREAD_CPUTIME_ID) - put_s;
    rc = prov_store_flush(store);
    took->wall_s = seconds(CLOCK_MONOTONIC) - took->began_s;
    took->all_s = seconds(CLOCK_PROCESS_CPUTIME_ID) - all_s;
    return rc;
}

static int run(const char *dir, const struct prov_record *record, size_t n, uint32_t n_shards)
{
    char url[FS_PATH_SIZE + 32];
    struct prov_store *store;
    struct times took;
    int rc;

    snprintf(url, sizeof url, pg_url_is(dir) ? "%s" : "sqlite:%s?shards=%u", dir, n_shards);
    rc = prov_store_open(url, &(struct prov_store_opts){.wait_ms = 60000}, &store);
    if (rc < 0)
        return rc;
    rc = store_all(store, record, n, &took);
    if (rc == 0)
        rc = prov_store_close(store);
    if (rc < 0)
        return rc;
    printf("{\"records\": %zu, \"shards\": %u, \"put_cpu_us\": %.3f, \"cpu_us\": %.3f, "
           "\"began_s\": %.6f, \"wall_s\": %.6f, \"stored_per_s\": %.0f",
           n, n_shards, took.put_s / (double)n * 1e6, took.all_s / (double)n * 1e6,
           took.began_s, took.wall_s, (double)n / took.wall_s);
    if (!pg_url_is(dir))
        printf(", \"median_bytes\": %zu, \"json_bytes\": %.0f, \"file_bytes\": %.0f",
               median_bytes(record, n), json_bytes(record, n),
               file_bytes(dir, n_shards) / (double)n);
    puts("}");
    return rc;
}

int main(int argc, char **argv)
{
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 20000;
    uint32_t n_shards = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
    struct prov_record *record = mem_alloc(n, sizeof *record);
    struct arena arena = {0};
    int rc;

    if (argc < 2 || n < 1 || n_shards < 1) {
        fputs("usage: prov_bench DIR [RECORDS [SHARDS]]\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < n; i++)
        sample_record((uint32_t)(i % 16), i / 16, &arena, &record[i]);
    rc = run(argv[1], record, n, n_shards);
    if (rc < 0)
        fprintf(stderr, "prov_bench: %s\n", err_message());
    arena_release(&arena);
    free(record);
    return rc < 0;
}
