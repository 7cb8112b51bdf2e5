/* A model of one run, applied to another one of the same program, whose functions are numbered
 * in another order. */
#include "learn/model_file.h"

#include "analysis/run_scoring.h"
#include "base/err.h"
#include "base/pack.h"
#include "base/xxh.h"

#include <math.h>
#include <unistd.h>

#include "sample_run.h"
#include "test.h"

#define PROGRAM "200*step(compute@1ms(a 3*b) c@200us);ranks=3;jitter=0.1;seed="
static const char first_run[] = "synth:" PROGRAM "1";
static const char clean_run[] = "synth:2*c 1*a " PROGRAM "2";
static const char slow_run[] = "synth:2*c 1*a " PROGRAM "2;slow=c/150/30";

static void learn(struct sample_run *run, struct scoring *w, struct model *m)
{
    assert_int_equal(run_scoring_collect(w, &run->columns, &run->source.defs, run->foi.region),
                     0);
    scoring_learn(w, false);
    *m = (struct model){.foi = strdup("step"),
                        .snag = strdup("1"),
                        .made = strdup("now"),
                        .trace = strdup("t"),
                        .detector = strdup("residual"),
                        .features = strdup("residual"),
                        .n_trees = w->forest.n_trees,
                        .residual = w->model,
                        .calibration = w->calibration};
    for (uint32_t r = 0; r < run->source.defs.names.n; r++)
        names_add(&m->regions, run->source.defs.names.name[r]);
    w->model = (struct residual_model){0};
    w->calibration = (struct calibration){0};
}

static void apply(const char *path, const char *program, struct scoring *w, struct model *m,
                  struct sample_run *run)
{
    struct pool *pool = pool_new(1);
    struct scoring_opts opts = {.detector = detector_find("residual"),
                                .features = feature_find("residual"),
                                .threshold = NAN,
                                .pool = pool};
    uint32_t region;

    sample_run_init(run, program, "step", NULL);
    assert_int_equal(model_file_read(path, m), 0);
    model_adopt(m, &run->source.defs, &region);
    assert_int_equal(region, run->foi.region);
    assert_int_equal(run_scoring_collect(w, &run->columns, &run->source.defs, region), 0);
    scoring_apply(w, m, false);
    assert_int_equal(scoring_judge(w, &opts), 0);
    pool_free(pool);
}

static uint32_t count_anomalies(const struct scoring *w)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < w->forest.n_trees; t++)
        n += w->is_anomaly[t];
    return n;
}

static void another_run_is_judged_by_the_first(void **state)
{
    char path[] = "/tmp/snag-model-XXXXXX";
    struct sample_run run, clean, slow;
    struct scoring w = {0}, v = {0}, u = {0};
    struct model m, of_clean, of_slow;
    uint32_t n_clean;

    (void)state;
    close(mkstemp(path));
    sample_run_init(&run, first_run, "step", NULL);
    learn(&run, &w, &m);
    assert_int_equal(model_file_write(path, &m), 0);
    apply(path, clean_run, &v, &of_clean, &clean);
    assert_int_equal(v.unseen.n_calls, 0);
    n_clean = count_anomalies(&v);
    assert_true(n_clean <= 3);
    apply(path, slow_run, &u, &of_slow, &slow);
    assert_true(count_anomalies(&u) >= n_clean + 3);
    model_release(&m);
    scoring_release(&w);
    scoring_release(&v);
    scoring_release(&u);
    model_release(&of_clean);
    model_release(&of_slow);
    sample_run_release(&run);
    sample_run_release(&clean);
    sample_run_release(&slow);
    unlink(path);
}

static void what_the_model_never_saw_is_counted(void **state)
{
    char path[] = "/tmp/snag-model-XXXXXX";
    struct sample_run run, other;
    struct scoring w = {0}, v = {0};
    struct model m, of_other;

    (void)state;
    close(mkstemp(path));
    sample_run_init(&run, first_run, "step", NULL);
    learn(&run, &w, &m);
    assert_int_equal(model_file_write(path, &m), 0);
    apply(path, "synth:10*step(compute@1ms(a 3*b new(a)) c@200us);ranks=2", &v, &of_other,
          &other);
    assert_int_equal(v.unseen.n_trees, 20);
    assert_int_equal(v.unseen.n_calls, 40);
    model_release(&m);
    scoring_release(&w);
    scoring_release(&v);
    model_release(&of_other);
    sample_run_release(&run);
    sample_run_release(&other);
    unlink(path);
}

/* Writes bytes of a model file with one changed or the end cut off. */
static int read_damaged(const char *path, const char *bytes, size_t n, size_t at)
{
    FILE *out = fopen(path, "wb");
    struct model m;
    int rc;

    assert_non_null(out);
    fwrite(bytes, 1, at, out);
    if (at % 2) {
        fputc(bytes[at] ^ 0x10, out);
        fwrite(bytes + at + 1, 1, n - at - 1, out);
    }
    fclose(out);
    rc = model_file_read(path, &m);
    model_release(&m);
    return rc;
}

static void a_damaged_model_is_an_error(void **state)
{
    char path[] = "/tmp/snag-model-XXXXXX", *bytes = calloc(1, 1 << 20);
    struct sample_run run;
    struct scoring w = {0};
    struct model m;
    FILE *in;
    size_t n;

    (void)state;
    close(mkstemp(path));
    sample_run_init(&run, first_run, "step", NULL);
    learn(&run, &w, &m);
    assert_int_equal(model_file_write(path, &m), 0);
    in = fopen(path, "rb");
    n = fread(bytes, 1, 1 << 20, in);
    fclose(in);
    for (size_t at = 0; at < n; at += 1 + n / 150)
        assert_int_equal(read_damaged(path, bytes, n, at), ERR_FORMAT);
    model_release(&m);
    scoring_release(&w);
    sample_run_release(&run);
    unlink(path);
    free(bytes);
}

/* A file as earlier versions wrote it: what labels taught was a section "gp". */
static void write_of_earlier_version(const char *path, uint32_t version)
{
    struct {
        uint64_t magic;
        uint32_t version, zero;
        uint64_t n_packed, n_plain, hash_low, hash_high;
    } header = {0x4c444f4d47414e53u, version, 0, 0, 0, 0, 0};
    struct pack pack = {0};
    size_t n;
    void *packed;
    XXH128_hash_t hash;
    FILE *out = fopen(path, "wb");

    assert_non_null(out);
    pack_array(&pack, "gp", 2, 1);
    pack_array(&pack, "points", 6, 1);
    packed = pack_compress(&pack, 3, &n);
    hash = XXH3_128bits(packed, n);
    header.n_packed = n;
    header.n_plain = pack.n;
    header.hash_low = hash.low64;
    header.hash_high = hash.high64;
    fwrite(&header, sizeof header, 1, out);
    fwrite(packed, 1, n, out);
    fclose(out);
    free(packed);
    pack_release(&pack);
}

static void what_an_earlier_version_learnt_from_labels_is_refused_and_says_so(void **state)
{
    char path[] = "/tmp/snag-model-XXXXXX";
    struct model m;

    (void)state;
    close(mkstemp(path));
    write_of_earlier_version(path, MODEL_FILE_VERSION);
    assert_int_equal(model_file_read(path, &m), ERR_UNSUPPORTED);
    assert_non_null(strstr(err_message(), "make it again"));
    model_release(&m);
    unlink(path);
}

static void a_model_of_another_version_is_refused_and_says_which(void **state)
{
    char path[] = "/tmp/snag-model-XXXXXX";
    struct model m;

    (void)state;
    close(mkstemp(path));
    for (int way = -1; way <= 1; way += 2) {
        write_of_earlier_version(path, (uint32_t)(MODEL_FILE_VERSION + way));
        assert_int_equal(model_file_read(path, &m), ERR_FORMAT);
        assert_non_null(strstr(err_message(), "is a model of version"));
        model_release(&m);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_run_is_judged_by_the_first),
        cmocka_unit_test(what_the_model_never_saw_is_counted),
        cmocka_unit_test(a_damaged_model_is_an_error),
        cmocka_unit_test(what_an_earlier_version_learnt_from_labels_is_refused_and_says_so),
        cmocka_unit_test(a_model_of_another_version_is_refused_and_says_which),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
