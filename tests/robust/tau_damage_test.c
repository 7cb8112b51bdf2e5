/*
 * Random damage to what TAU wrote through ADIOS2, see damage.h: a BP3, a BP4 and a BP5 file
 * each; files taken away or emptied.
 */
#include "base/fs.h"

#include <unistd.h>

#include "damage.h"
#include "spawn.h"
#include "test.h"

#define PROGRAM "synth:40*step(compute@1ms(a 3*b@20us) >1 <1 |);ranks=2"

static const char *engine;

/* Three files would take thrice the time: rank 1's is taken away. */
static void write_sample(const char *dir)
{
    char command[2000];

    snprintf(
        command, sizeof command,
        "mkdir %s && %s '" PROGRAM
        "' %s engine=%s step=5 2>/dev/null && rm -r %s/*-1.bp* && rm -f %s/*/profiling.json",
        dir, getenv("SNAG_TAU_WRITE"), dir, engine, dir, dir);
    assert_int_equal(system(command), 0);
}

/* Names and their definitions are anywhere. */
static bool is_definition(const char *what)
{
    (void)what;
    return true;
}

/* The same as a stream; a writer that seems to be at work is waited for, but not for ever. */
static bool is_ad_right(const struct damage *d, const char *dir, const char *what)
{
    char url[FS_PATH_SIZE];
    struct counts found;
    struct outcome o;
    bool is_right;

    snprintf(url, sizeof url, "tau:%s", dir);
    spawn_run(&o, "ad", "--json", "--quiet", "--silence-timeout", "2", url, NULL);
    is_right = outcome_is_clean(&o, what);
    if (is_right && o.status == 0 &&
        (!damage_counts(o.out, &found) || found.calls != d->intact.calls)) {
        fprintf(stderr, "%s: ad, status 0, but %lld calls\n", what, (long long)found.calls);
        is_right = false;
    }
    outcome_release(&o);
    return is_right;
}

static void check(const char *engine_name)
{
    struct damage d = {.is_definition = is_definition, .is_other_right = is_ad_right};

    engine = engine_name;
    damage_init(&d, write_sample);
    assert_int_equal(d.intact.calls, 40 * 9);
    assert_int_equal(d.intact.messages, 40 * 2);
    assert_true(damage_all(&d));
    damage_release(&d);
}

static void no_damage_to_bp3_goes_unnoticed_or_kills(void **state)
{
    (void)state;
    check("BP3");
}

static void no_damage_to_bp4_goes_unnoticed_or_kills(void **state)
{
    (void)state;
    check("BP4");
}

static void no_damage_to_bp5_goes_unnoticed_or_kills(void **state)
{
    (void)state;
    check("BP5");
}

/* One file is taken away, or emptied; the others are there. */
static void a_missing_or_empty_file_is_said(void **state)
{
    struct damage d = {.is_definition = is_definition};
    char dir[FS_PATH_SIZE], what[FS_PATH_SIZE];

    (void)state;
    engine = "BP4";
    damage_init(&d, write_sample);
    for (size_t i = 0; i < 2 * d.files.n; i++) {
        snprintf(dir, sizeof dir, "%s/without", d.dir);
        snprintf(what, sizeof what, "%s %s", d.files.file[i / 2].name,
                 i % 2 ? "empty" : "missing");
        file_set_write(&d.files, dir, i / 2);
        if (i % 2)
            file_set_put(&d.files, i / 2, dir, "", 0);
        assert_true(damage_is_info_right(&d, dir, what));
        fs_remove_tree(dir);
    }
    damage_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_or_empty_file_is_said),
        cmocka_unit_test(no_damage_to_bp3_goes_unnoticed_or_kills),
        cmocka_unit_test(no_damage_to_bp4_goes_unnoticed_or_kills),
        cmocka_unit_test(no_damage_to_bp5_goes_unnoticed_or_kills),
    };

    setenv("SNAG_PATIENCE", "3", 1);
    setenv("SNAG_FUZZ_N", "60", 0); /* of each format */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
