/*
 * Random damage to an archive: whatever is done to its files, snag ends by itself with a status
 * that says what happened, and never calls a trace whole whose counts are not those it had.
 *
 * The number of variants is the environment variable SNAG_FUZZ_N, or 200. Variant i is the same
 * on every machine; SNAG_FUZZ_FIRST starts with another than 0.
 */
#include "base/fs.h"
#include "base/test.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "file_set.h"
#include "sample_trace.h"
#include "spawn.h"

#define N_STEPS 12
#define N_PROCESSES 2
#define ANALYZE_EVERY 5
#define MOST_REGIONS 64

/* What must be right whenever snag says that the trace is whole. */
struct counts {
    json_int_t calls, messages, sends, recvs, collectives, locations, records;
    size_t n_regions;
    json_int_t region[MOST_REGIONS]; /* calls of each, sorted: names may be what was damaged */
};

struct setup {
    char dir[64];
    struct file_set files;
    struct counts intact;
};

static int by_value(const void *a, const void *b)
{
    const json_int_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

static bool read_counts(const char *text, struct counts *c)
{
    json_t *info = json_loads(text, 0, NULL), *regions = json_object_get(info, "regions"), *row;
    size_t i;

    memset(c, 0, sizeof *c);
    c->calls = json_integer_value(json_object_get(info, "calls"));
    c->messages = json_integer_value(json_object_get(info, "messages"));
    c->sends = json_integer_value(json_object_get(info, "sends"));
    c->recvs = json_integer_value(json_object_get(info, "recvs"));
    c->collectives = json_integer_value(json_object_get(info, "collectives"));
    c->locations = json_integer_value(json_object_get(info, "locations"));
    c->records = json_integer_value(json_object_get(info, "records"));
    json_array_foreach(regions, i, row) if (i < MOST_REGIONS) c->region[c->n_regions++] =
        json_integer_value(json_object_get(row, "calls"));
    qsort(c->region, c->n_regions, sizeof *c->region, by_value);
    json_decref(info);
    return info != NULL;
}

static void print_counts(const char *what, const struct counts *c)
{
    fprintf(stderr,
            "  %s: %lld calls, %lld records, %lld+%lld messages, %lld collectives, "
            "%lld locations, %zu regions:",
            what, (long long)c->calls, (long long)c->records, (long long)c->sends,
            (long long)c->recvs, (long long)c->collectives, (long long)c->locations,
            c->n_regions);
    for (size_t i = 0; i < c->n_regions; i++)
        fprintf(stderr, " %lld", (long long)c->region[i]);
    fputc('\n', stderr);
}

/*
 * What a definition says has no redundancy: a mapping table with another value in it, or a
 * region with the name of another, is as valid as before and says something else. So after
 * damage to definitions the calls must all be there, but may have become those of other
 * regions.
 */
static bool are_same(const struct counts *a, const struct counts *b, bool is_definition_damaged)
{
    struct counts x = *a, y = *b;

    if (is_definition_damaged) {
        memset(x.region, 0, sizeof x.region);
        memset(y.region, 0, sizeof y.region);
        x.n_regions = y.n_regions = 0;
    }
    return memcmp(&x, &y, sizeof x) == 0;
}

/* Both processes say on stderr what went wrong; true if nothing did. */
static bool is_info_right(const struct setup *s, const char *dir, const char *what)
{
    struct outcome o;
    struct counts found;
    bool is_right;

    spawn_run(&o, "info", "--json", dir, NULL);
    is_right = outcome_is_clean(&o, what);
    if (is_right && o.status != 1 && !read_counts(o.out, &found)) {
        fprintf(stderr, "%s: not JSON: %.2000s\n", what, o.out);
        is_right = false;
    }
    if (is_right && o.status == 0 &&
        !are_same(&found, &s->intact, strstr(what, ".def:") != NULL)) {
        fprintf(stderr, "%s: status 0, but other counts\n", what);
        print_counts("intact", &s->intact);
        print_counts("found", &found);
        is_right = false;
    }
    if (is_right && o.status == 1 && o.n_out > 0) {
        fprintf(stderr, "%s: status 1, but printed: %.2000s\n", what, o.out);
        is_right = false;
    }
    if (getenv("SNAG_FUZZ_VERBOSE"))
        fprintf(stderr, "%s -> %d %s", what, o.status, o.n_err ? o.err : "\n");
    outcome_release(&o);
    return is_right;
}

static bool has_leftovers(const char *dir)
{
    DIR *files = opendir(dir);
    struct dirent *file;
    bool is_found = false;

    while (files && (file = readdir(files)) != NULL)
        is_found |= strstr(file->d_name, ".part-") != NULL;
    if (files)
        closedir(files);
    return is_found;
}

/* The run is there and can be read, or nothing of it is. */
static bool is_analyze_right(const char *dir, const char *what)
{
    char run[FS_PATH_SIZE];
    struct outcome o, list;
    bool is_right;

    snprintf(run, sizeof run, "%s/run.snag", dir);
    spawn_run(&o, "analyze", "--quiet", dir, "-o", run, NULL);
    is_right = outcome_is_clean(&o, what);
    if (is_right && has_leftovers(dir)) {
        fprintf(stderr, "%s: left a part of a run\n", what);
        is_right = false;
    }
    if (is_right && fs_exists(run) != (o.status != 1)) {
        fprintf(stderr, "%s: status %d, but a run is%s there\n", what, o.status,
                fs_exists(run) ? "" : " not");
        is_right = false;
    }
    if (is_right && o.status != 1) {
        spawn_run(&list, "list", "--json", run, NULL);
        is_right = outcome_is_clean(&list, what) && list.status == 0;
        outcome_release(&list);
    }
    if (getenv("SNAG_FUZZ_VERBOSE"))
        fprintf(stderr, "analyze %s -> %d %s", what, o.status, o.n_err ? o.err : "\n");
    outcome_release(&o);
    return is_right;
}

static unsigned long number_of(const char *variable, unsigned long fallback)
{
    const char *value = getenv(variable);

    return value ? strtoul(value, NULL, 10) : fallback;
}

/* Every N_PROCESSES-th variant. Returns how many went wrong, as an exit status. */
static int take_share(const struct setup *s, unsigned long share)
{
    unsigned long first = number_of("SNAG_FUZZ_FIRST", 0);
    unsigned long end = first + number_of("SNAG_FUZZ_N", 200);
    int n_wrong = 0;

    for (unsigned long i = first + share; i < end; i += N_PROCESSES) {
        struct rng rng = {i * 1000003 + 17};
        char dir[FS_PATH_SIZE], did[DAMAGE_WHAT], what[DAMAGE_WHAT + 40];

        snprintf(dir, sizeof dir, "%s/variant%lu", s->dir, i);
        file_set_damage(&s->files, &rng, dir, did);
        snprintf(what, sizeof what, "variant %lu, %s", i, did);
        n_wrong += !is_info_right(s, dir, what);
        if (i % ANALYZE_EVERY == 0)
            n_wrong += !is_analyze_right(dir, what);
        fs_remove_tree(dir);
    }
    return n_wrong < 100 ? n_wrong : 100;
}

static void no_damage_goes_unnoticed_or_kills(void **state)
{
    const struct setup *s = *state;
    pid_t child[N_PROCESSES];

    fflush(NULL);
    for (unsigned i = 0; i < N_PROCESSES; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            _exit(take_share(s, i));
    }
    for (unsigned i = 0; i < N_PROCESSES; i++) {
        int status;

        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* One file is taken away, or emptied; then the same with all the others there. */
static void each_file(const struct setup *s, bool is_emptied)
{
    for (size_t i = 0; i < s->files.n; i++) {
        char dir[FS_PATH_SIZE], what[FS_PATH_SIZE];

        snprintf(dir, sizeof dir, "%s/without", s->dir);
        snprintf(what, sizeof what, "%s %s", s->files.file[i].name,
                 is_emptied ? "empty" : "missing");
        file_set_write(&s->files, dir, i);
        if (is_emptied)
            file_set_put(&s->files, i, dir, "", 0);
        assert_true(is_info_right(s, dir, what));
        assert_true(is_analyze_right(dir, what));
        fs_remove_tree(dir);
    }
}

static void each_file_may_be_missing(void **state)
{
    each_file(*state, false);
}

static void each_file_may_be_empty(void **state)
{
    each_file(*state, true);
}

/* A whole location file less: the rest is read and the damage is said. */
static void a_missing_event_file_is_damage_and_the_rest_is_read(void **state)
{
    const struct setup *s = *state;
    char dir[FS_PATH_SIZE];
    struct counts found;
    struct outcome o;
    size_t i = 0;

    while (strcmp(s->files.file[i].name, "traces/4294967296.evt") != 0)
        assert_true(++i < s->files.n);
    snprintf(dir, sizeof dir, "%s/less", s->dir);
    file_set_write(&s->files, dir, i);
    spawn_run(&o, "info", "--json", dir, NULL);
    assert_int_equal(o.status, 3);
    assert_true(read_counts(o.out, &found));
    assert_int_equal(found.calls, s->intact.calls / SAMPLE_RANKS * (SAMPLE_RANKS - 1));
    assert_int_equal(found.locations, SAMPLE_RANKS);
    outcome_release(&o);
    fs_remove_tree(dir);
}

/*
 * Bytes in the middle of the anchor file that make libotf2 3.0 count to billions before it sees
 * that the file is at its end.
 */
static void an_anchor_that_keeps_the_library_busy_is_given_up(void **state)
{
    const struct setup *s = *state;
    struct rng rng = {1723ul * 1000003 + 17};
    char dir[FS_PATH_SIZE], what[DAMAGE_WHAT];
    struct outcome o;

    snprintf(dir, sizeof dir, "%s/busy", s->dir);
    file_set_damage(&s->files, &rng, dir, what);
    assert_string_equal(what, "traces.otf2: insert 32+45");
    setenv("SNAG_PATIENCE", "1", 1);
    spawn_run(&o, "info", dir, NULL);
    setenv("SNAG_PATIENCE", "10", 1);
    assert_true(outcome_is_clean(&o, what));
    assert_int_equal(o.status, 1);
    outcome_release(&o);
    fs_remove_tree(dir);
}

static int setup(void **state)
{
    struct setup *s = calloc(1, sizeof *s);
    char intact[FS_PATH_SIZE];
    struct outcome o;

    setenv("SNAG_PATIENCE", "10", 1); /* or a hang takes a minute */
    strcpy(s->dir, "/tmp/snag-damage-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    snprintf(intact, sizeof intact, "%s/intact", s->dir);
    sample_trace_write(intact, N_STEPS);
    file_set_load(&s->files, intact);
    spawn_run(&o, "info", "--json", intact, NULL);
    if (o.status != 0)
        fprintf(stderr, "intact: %s%s", o.out, o.err);
    assert_int_equal(o.status, 0);
    assert_true(read_counts(o.out, &s->intact));
    assert_int_equal(s->intact.calls, SAMPLE_RANKS * (1 + N_STEPS * 9));
    assert_int_equal(s->intact.messages, SAMPLE_RANKS * N_STEPS * 2);
    assert_int_equal(s->intact.collectives, SAMPLE_RANKS * N_STEPS);
    outcome_release(&o);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct setup *s = *state;

    fs_remove_tree(s->dir);
    file_set_release(&s->files);
    free(s);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_event_file_is_damage_and_the_rest_is_read),
        cmocka_unit_test(an_anchor_that_keeps_the_library_busy_is_given_up),
        cmocka_unit_test(each_file_may_be_missing),
        cmocka_unit_test(each_file_may_be_empty),
        cmocka_unit_test(no_damage_goes_unnoticed_or_kills),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
