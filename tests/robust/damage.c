#include "damage.h"

#include "base/fs.h"

#include <dirent.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawn.h"
#include "test.h"
#include "test_dir.h"

#define N_PROCESSES 2
#define ANALYZE_EVERY 5

static int by_value(const void *a, const void *b)
{
    const json_int_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

bool damage_counts(const char *text, struct counts *c)
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
    json_array_foreach(regions, i, row) if (i < DAMAGE_MAX_REGIONS) c->region[c->n_regions++] =
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

bool damage_is_info_right(const struct damage *s, const char *dir, const char *what)
{
    struct outcome o;
    struct counts found;
    bool is_right;

    spawn_run(&o, "info", "--json", dir, NULL);
    is_right = outcome_is_clean(&o, what);
    if (is_right && o.status != 1 && !damage_counts(o.out, &found)) {
        fprintf(stderr, "%s: not JSON: %.2000s\n", what, o.out);
        is_right = false;
    }
    if (is_right && o.status == 0 && !are_same(&found, &s->intact, s->is_definition(what))) {
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

/* What all other commands need of a run: its database, and the calls of all locations. */
static bool is_run_right(const char *run, const char *what)
{
    static const char *const commands[][4] = {{"list", "--json"},
                                              {"ranks"},
                                              {"what-if", "--without", "anomalies"},
                                              {"export", "--what", "calls"}};
    bool is_right = true;

    for (size_t i = 0; i < sizeof commands / sizeof *commands && is_right; i++) {
        const char *const *c = commands[i];
        struct outcome o;

        spawn_run(&o, c[0], run, c[1], c[2], c[3], NULL);
        is_right = outcome_is_clean(&o, what) && o.status == 0;
        if (!is_right)
            fprintf(stderr, "%s: %s: status %d: %.2000s\n", what, c[0], o.status, o.err);
        outcome_release(&o);
    }
    return is_right;
}

/* The run is there and can be read, or nothing of it is. */
bool damage_is_analyze_right(const char *dir, const char *what)
{
    char run[FS_PATH_SIZE];
    struct outcome o;
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
    if (is_right && o.status != 1)
        is_right = is_run_right(run, what);
    if (getenv("SNAG_FUZZ_VERBOSE"))
        fprintf(stderr, "analyze %s -> %d %s", what, o.status, o.n_err ? o.err : "\n");
    outcome_release(&o);
    return is_right;
}

unsigned long damage_number(const char *variable, unsigned long fallback)
{
    const char *value = getenv(variable);

    return value ? strtoul(value, NULL, 10) : fallback;
}

/* Every N_PROCESSES-th variant. Returns how many went wrong, as an exit status. */
static int take_share(const struct damage *s, unsigned long share)
{
    unsigned long first = damage_number("SNAG_FUZZ_FIRST", 0);
    unsigned long end = first + damage_number("SNAG_FUZZ_N", 48);
    int n_wrong = 0;

    for (unsigned long i = first + share; i < end; i += N_PROCESSES) {
        struct rng rng = {i * 1000003 + 17};
        char dir[FS_PATH_SIZE], did[DAMAGE_WHAT], what[DAMAGE_WHAT + 40];

        snprintf(dir, sizeof dir, "%s/variant%lu", s->dir, i);
        file_set_damage(&s->files, &rng, dir, did);
        snprintf(what, sizeof what, "variant %lu, %s", i, did);
        n_wrong += !damage_is_info_right(s, dir, what);
        if (i % ANALYZE_EVERY == 0)
            n_wrong += !damage_is_analyze_right(dir, what);
        if (i % ANALYZE_EVERY == 0 && s->is_other_right)
            n_wrong += !s->is_other_right(s, dir, what);
        fs_remove_tree(dir);
    }
    return n_wrong < 100 ? n_wrong : 100;
}

bool damage_all(const struct damage *s)
{
    pid_t child[N_PROCESSES];
    bool is_right = true;

    fflush(NULL);
    for (unsigned i = 0; i < N_PROCESSES; i++) {
        child[i] = fork();
        if (child[i] == 0)
            _exit(take_share(s, i));
    }
    for (unsigned i = 0; i < N_PROCESSES; i++) {
        int status = 1;

        waitpid(child[i], &status, 0);
        is_right &= status == 0;
    }
    return is_right;
}

static void count_intact(struct damage *d, const char *intact)
{
    struct outcome o;

    spawn_run(&o, "info", "--json", intact, NULL);
    if (o.status != 0)
        fprintf(stderr, "intact: %s%s", o.out, o.err);
    assert_int_equal(o.status, 0);
    assert_true(damage_counts(o.out, &d->intact));
    outcome_release(&o);
}

void damage_init(struct damage *d, void (*write)(const char *dir))
{
    char intact[FS_PATH_SIZE];

    setenv("SNAG_PATIENCE", "10", 0); /* or a hang takes a minute */
    strcpy(d->dir, "/tmp/snag-damage-XXXXXX");
    assert_non_null(test_dir(d->dir));
    snprintf(intact, sizeof intact, "%s/intact", d->dir);
    write(intact);
    file_set_load(&d->files, intact);
    count_intact(d, intact);
}

void damage_release(struct damage *d)
{
    fs_remove_tree(d->dir);
    file_set_release(&d->files);
}
