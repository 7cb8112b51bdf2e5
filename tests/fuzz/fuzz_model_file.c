/*
 * A saved model, damaged behind its checksums: another run is scored with it, and it is
 * printed.
 *
 *     | which model, and what is done | 3 bytes offset | how many | that many bytes | offset
 * ...
 *
 * With how many 0 the model ends at the offset.
 */
#include "fuzz.h"
#include "fuzz_bytes.h"

#include "analysis/run_store.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/progress.h"
#include "base/xxh.h"
#include "cmd/options.h"
#include "learn/model_file.h"
#include "run/ingest.h"
#include "run/run_summary.h"
#include "run/rundb.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_dir.h"

#define N_MODELS 2
#define HEADER_BYTES 48

static char dir[] = "/tmp/snag-fuzz-XXXXXX", run[64], scored[64], path[64];
static const char trace[] =
    "synth:12*step(a@1ms(b c) >1 <1 | d@2ms);ranks=2;jitter=0.1;slow=b/7/40";

/* The models as they were, without compression. */
static struct pack whole[N_MODELS];

static int run_command(const char *const *words)
{
    char *argv[16] = {0};
    struct settings settings;
    int argc = 0;

    for (; words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc];
    if (options_parse(command_find(words[0]), argc, argv, &settings) < 0)
        abort();
    return command_find(words[0])->run(&settings);
}

static void load(struct pack *model)
{
    const void *data;
    uint64_t n_plain;
    size_t n;

    if (fs_map(path, &data, &n) < 0)
        abort();
    memcpy(&n_plain, (const char *)data + 24, sizeof n_plain);
    if (pack_decompress(model, (const char *)data + HEADER_BYTES, n - HEADER_BYTES, n_plain) <
        0)
        abort();
    fs_unmap(data, n);
}

static void remove_all(void)
{
    fs_remove_tree(dir);
}

static void make_models(void)
{
    static const char *const detectors[N_MODELS] = {"residual", "ocsvm"},
                             *const learners[N_MODELS] = {"reasons", "ocsvm"};

    log_set_level(LOG_ERROR);
    if (freopen("/dev/null", "w", stdout) == NULL || test_dir(dir) == NULL)
        abort();
    snprintf(run, sizeof run, "%s/run.snag", dir);
    snprintf(scored, sizeof scored, "%s/scored.snag", dir);
    snprintf(path, sizeof path, "%s/model", dir);
    for (int m = 0; m < N_MODELS; m++) {
        fuzz_must(run_command((const char *const[]){"analyze", trace, "--foi", "step",
                                                    "--detector", detectors[m], "--quiet",
                                                    "--force", "-o", run, NULL}));
        fuzz_must(run_command(
            (const char *const[]){"label", run, "#1-3=abnormal", "#0-2=normal", NULL}));
        fuzz_must(
            run_command((const char *const[]){"retrain", run, "--learner", learners[m], NULL}));
        fuzz_must(run_command((const char *const[]){"model", "save", run, path, NULL}));
        load(&whole[m]);
    }
    if (atexit(remove_all) != 0) /* not before: what reads a trace is a child, which ends too */
        abort();
}

/* What snag score does, in this process. */
static void score(void)
{
    struct pool *pool = pool_new(1);
    struct ingest_opts how = {.pool = pool, .dir = scored};
    struct model model;
    struct analysis_opts opts = {.pool = pool, .model = &model};
    struct analysis_foi foi = {.id = 1, .name = "step"};
    struct analysis_result result;
    struct ingested ingested = {0};
    struct source source = {0};
    struct database db = {.dir = -1};
    struct columns columns;

    if (mkdir(scored, 0777) != 0)
        abort();
    if (model_file_read(path, &model) == 0 && source_open(&source, trace) == 0 &&
        ingest(&source, &how, &ingested) == 0 && rundb_create(scored, &db) == 0 &&
        run_summary_save(db.sql, &source, &ingested) == 0) {
        uint32_t n_before = source.defs.names.n;

        model_adopt(&model, &source.defs, &foi.region);
        if (run_summary_uncalled(db.sql, &source.defs, n_before) == 0 &&
            columns_open(&columns, scored) == 0)
            analysis_run(&columns, &source.defs, &foi, &opts,
                         &(struct analysis_sink){run_store_sink(db.sql).take, db.sql}, &result);
        columns_close(&columns);
    }
    database_close(&db);
    ingested_release(&ingested);
    source_close(&source);
    model_release(&model);
    pool_free(pool);
    fs_remove_tree(scored);
}

/* As model_file_write does it, whatever is in it. */
static void write_model(const struct pack *model)
{
    struct {
        uint64_t magic;
        uint32_t version, zero;
        uint64_t n_packed, n_plain, hash_low, hash_high;
    } header = {
        .magic = 0x4c444f4d47414e53u, .version = MODEL_FILE_VERSION, .n_plain = model->n};
    size_t n;
    void *packed = pack_compress(model, 1, &n);
    XXH128_hash_t hash = XXH3_128bits(packed, n);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    header.n_packed = n;
    header.hash_low = hash.low64;
    header.hash_high = hash.high64;
    if (fd < 0 || write(fd, &header, sizeof header) != (ssize_t)sizeof header ||
        write(fd, packed, n) != (ssize_t)n)
        abort();
    close(fd);
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pack model = {0};
    size_t at = 1;

    if (whole[0].data == NULL)
        make_models();
    if (size < 1)
        return 0;
    pack_bytes(&model, whole[data[0] % N_MODELS].data, whole[data[0] % N_MODELS].n);
    for (size_t n; (n = fuzz_change(model.data, &model.n, 3, data + at, size - at)) > 0;)
        at += n;
    write_model(&model);
    pack_release(&model);
    if (data[0] & 2)
        run_command((const char *const[]){"model", "info", path, NULL});
    else
        score();
    return 0;
}
