/*
 * What a history keeps of a run, damaged behind its checksum: whatever can be read of it is
 * compared with the run as it was, and followed from run to run.
 *
 *     | 2 bytes offset | how many | that many bytes | offset ...
 *
 * With how many 0 the summary ends at the offset.
 */
#include "fuzz.h"
#include "fuzz_analyse.h"
#include "fuzz_bytes.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/pack.h"
#include "base/pool.h"
#include "compare/compare.h"
#include "compare/run_history.h"
#include "compare/summary.h"
#include "compare/summary_pack.h"
#include "compare/trend.h"
#include "view/compare_json.h"
#include "view/results_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_dir.h"

static char dir[] = "/tmp/snag-fuzz-XXXXXX", path[64];
static struct summary intact;
static struct pack whole;

static void remove_all(void)
{
    fs_remove_tree(dir);
}

static void make_summary(void)
{
    static const char trace[] =
        "synth:12*round(step(a@1ms(b) >1 <1 io@2ms) 3*step(a@1ms(b c)));ranks=2;jitter=0.1;"
        "off=a/10us;off=step/1us";
    struct pool *pool = pool_new(1);
    struct run run;

    log_set_level(LOG_ERROR);
    if (freopen("/dev/null", "w", stdout) == NULL || test_dir(dir) == NULL)
        abort();
    snprintf(path, sizeof path, "%s/run.snag", dir);
    fuzz_analyse(trace, "step", path, pool);
    pool_free(pool);
    if (run_open(&run, path, false) < 0 || summary_of_run_load(&intact, &run, 1, NULL, 0) < 0)
        abort();
    run_close(&run);
    summary_pack(&whole, &intact);
    snprintf(path, sizeof path, "%s/n.db", dir);
    if (atexit(remove_all) != 0)
        abort();
}

static void compare(const struct summary *before, const struct summary *after)
{
    struct compare_opts opts = {.least = NAN};
    struct comparison c;

    compare_runs(before, 1, after, 1, &opts, &c);
    json_decref(compare_to_json(&c, 0));
    compare_release(&c);
}

/* Both as runs of a history. */
static void follow(const struct summary *damaged)
{
    const struct summary *of[] = {&intact, damaged, &intact};
    struct history h;
    struct trend t;
    int64_t id;

    remove(path);
    if (history_open(&h, path, DATABASE_MAKE) < 0)
        abort();
    for (int i = 0; i < 3; i++)
        history_add(&h, "run", &(struct history_tags){0},
                    &(struct history_part){.foi = "step", .summary = of[i]}, 1, &id);
    if (trend_load(&h, &(struct history_filter){0}, &t) == 0)
        json_decref(trend_to_json(&t, NULL, 0));
    trend_release(&t);
    history_close(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pack bytes = {0};
    struct summary damaged;
    size_t at = 0;

    if (whole.data == NULL)
        make_summary();
    pack_bytes(&bytes, whole.data, whole.n);
    for (size_t n; (n = fuzz_change(bytes.data, &bytes.n, 2, data + at, size - at)) > 0;)
        at += n;
    if (summary_unpack(&damaged, &bytes) == 0) {
        compare(&intact, &damaged);
        compare(&damaged, &intact);
        if (size > 0 && data[size - 1] % 8 == 0)
            follow(&damaged);
    }
    summary_release(&damaged);
    pack_release(&bytes);
    return 0;
}
