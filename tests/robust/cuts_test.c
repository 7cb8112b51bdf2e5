/*
 * Event files that were cut off, as a job's time limit and a full disk leave them, and other
 * damage to them: snag ends in time and in no more memory, status 3, with all events from
 * before the cut, and says how many are missing.
 *
 *   cuts_test [DIRECTORY...]     archives; without one, two that are made here
 *
 * What should be there is counted by a parser of the test's own, which only knows where records
 * end. SNAG_CUTS is the number of cuts of each archive, or 10; every fifth is tried with
 * analyze and ad too.
 */
#include "base/fs.h"
#include "base/rng.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <otf2/otf2.h>

#include <jansson.h>

#include "damage.h"
#include "file_set.h"
#include "sample_trace.h"
#include "spawn.h"
#include "test.h"
#include "test_dir.h"

#define MAX_FILES 256
#define OTHERS_EVERY 5
#define MAX_MEMORY 1.2      /* times that of the whole archive, */
#define OWN_BYTES (2 << 20) /* and pages of the program that only damage has it touch */

enum { INFO, ANALYZE, AD, N_COMMANDS };

/* What one command says of an archive, and what it takes. */
struct result {
    int status;
    json_t *json;
    size_t peak_bytes;
    double cpu_s;
};

struct event_file {
    char *name; /* below the directory of event files */
    struct blob blob;
    size_t *end; /* [n_events] where each event ends */
    size_t n_events;
};

struct archive {
    char dir[PATH_MAX];    /* as it was given */
    char copy[64];         /* links to its files, one of them damaged */
    char anchor[PATH_MAX]; /* the copy's */
    char events[PATH_MAX]; /* and its directory of event files */
    uint64_t chunk_bytes;
    struct event_file file[MAX_FILES];
    size_t n_files;
    struct result whole[N_COMMANDS];
    double worst_memory, worst_time;
    char slowest[PATH_MAX]; /* what took worst_time */
};

/* ------------------------------------------------------------------------- event files */

/* Kinds of records that are a type and one compressed number, without a length. */
static bool is_short(uint8_t type)
{
    return type == 12 || type == 13 || type == 16 || type == 17 || type == 20 || type == 21 ||
           type == 24 || (type >= 28 && type <= 30);
}

/* The length of the record at b, of which the type is no mark. */
static size_t record_bytes(const uint8_t *b, bool is_big)
{
    uint64_t n = 0;

    if (b[0] == 5)
        return 9;
    if (is_short(b[0]))
        return b[1] == 255 ? 2 : 2u + b[1];
    if (b[1] != 255)
        return 2u + b[1];
    for (unsigned i = 0; i < 8; i++)
        n |= (uint64_t)b[2 + i] << 8 * (is_big ? 7 - i : i);
    return 10 + (size_t)n;
}

static void find_events(struct event_file *f, uint64_t chunk_bytes)
{
    const uint8_t *data = f->blob.data;

    f->end = calloc(f->blob.n / 2 + 1, sizeof *f->end);
    for (size_t chunk = 0; chunk < f->blob.n; chunk += chunk_bytes) {
        bool is_big = data[chunk + 1] == '#';
        size_t i = chunk + 18;

        while (i < f->blob.n && i < chunk + chunk_bytes && data[i] > 2) {
            bool is_event = data[i] >= 10;

            i += record_bytes(data + i, is_big);
            if (is_event)
                f->end[f->n_events++] = i;
        }
    }
}

static size_t events_before(const struct event_file *f, size_t cut)
{
    size_t n = 0;

    while (n < f->n_events && f->end[n] <= cut)
        n++;
    return n;
}

/* ------------------------------------------------------------------------------ running */

static bool run(struct archive *a, int command, const char *what, struct result *r)
{
    char output[128], url[PATH_MAX + 8];
    struct outcome o;
    bool is_clean;

    snprintf(output, sizeof output, "%s/run.snag", a->copy);
    snprintf(url, sizeof url, "replay:%s", a->anchor);
    if (command == INFO)
        spawn_run(&o, "info", "--json", "--threads", "1", a->anchor, NULL);
    else if (command == ANALYZE)
        spawn_run(&o, "analyze", "--json", "--quiet", "--threads", "1", "--force", "-o", output,
                  a->anchor, NULL);
    else
        spawn_run(&o, "ad", "--json", "--quiet", "--threads", "1", url, NULL);
    is_clean = outcome_is_clean(&o, what);
    *r = (struct result){.status = o.status,
                         .json = json_loads(o.out, 0, NULL),
                         .peak_bytes = o.peak_bytes,
                         .cpu_s = o.cpu_s};
    outcome_release(&o);
    return is_clean && r->json != NULL;
}

static json_int_t number(const json_t *json, const char *key)
{
    return json_integer_value(json_object_get(json, key));
}

/* Of the location that the file is of. */
static json_int_t records_of(const struct result *r, const struct event_file *f)
{
    json_t *table = json_object_get(r->json, "location_table"), *row;
    size_t n = strcspn(f->name, "."), i;

    json_array_foreach(table, i, row)
    {
        const char *id = json_string_value(json_object_get(row, "id"));

        if (strncmp(id, f->name, n) == 0 && id[n] == '\0')
            return number(row, "records");
    }
    return -1;
}

static json_int_t lost(const struct result *r)
{
    return number(json_object_get(r->json, "quality"), "lost_event");
}

/* Memory is what the program takes of it: the same every time, or nearly. Time is only told. */
static bool is_modest(struct archive *a, int command, const struct result *r, const char *what)
{
    static const char *const name[] = {"info", "analyze", "ad"};
    const struct result *whole = &a->whole[command];
    double memory = (double)r->peak_bytes / (double)whole->peak_bytes;
    double time = whole->cpu_s > 0 ? r->cpu_s / whole->cpu_s : 0;

    a->worst_memory = memory > a->worst_memory ? memory : a->worst_memory;
    if (time > a->worst_time)
        snprintf(a->slowest, sizeof a->slowest, "%s, %s", name[command], what);
    a->worst_time = time > a->worst_time ? time : a->worst_time;
    if (r->peak_bytes <= MAX_MEMORY * (double)whole->peak_bytes + OWN_BYTES)
        return true;
    fprintf(stderr, "%s: %zu MiB, the whole archive %zu\n", what, r->peak_bytes >> 20,
            whole->peak_bytes >> 20);
    return false;
}

static bool is_equal(const char *what, const char *of, json_int_t got, json_int_t want)
{
    if (got != want)
        fprintf(stderr, "%s: %s: %lld, should be %lld\n", what, of, (long long)got,
                (long long)want);
    return got == want;
}

static void put_damaged(const struct archive *a, const struct event_file *f,
                        const unsigned char *data, size_t n)
{
    char path[2 * PATH_MAX];
    FILE *out;

    snprintf(path, sizeof path, "%s/%s", a->events, f->name);
    assert_int_equal(unlink(path), 0);
    out = fopen(path, "wb");
    assert_true(out && fwrite(data, 1, n, out) == n && fclose(out) == 0);
}

static void put_whole(const struct archive *a, const struct event_file *f)
{
    put_damaged(a, f, f->blob.data, f->blob.n);
}

/* Other commands miss as many events as info does, and have as many calls. */
static bool others_agree(struct archive *a, const struct result *info, const char *what)
{
    bool is_right = true;

    for (int command = ANALYZE; command < N_COMMANDS; command++) {
        struct result r;

        is_right &= run(a, command, what, &r);
        is_right &= is_equal(what, "status", r.status, info->status);
        is_right &= is_equal(what, "missing events", lost(&r), lost(info));
        if (command == AD)
            is_right &=
                is_equal(what, "calls", number(r.json, "calls"), number(info->json, "calls"));
        is_right &= is_modest(a, command, &r, what);
        json_decref(r.json);
    }
    return is_right;
}

static bool is_cut_right(struct archive *a, const struct event_file *f, size_t cut, bool all)
{
    char what[PATH_MAX + 64];
    size_t n = events_before(f, cut);
    struct result r;
    bool is_right;

    snprintf(what, sizeof what, "%s/%s, %zu bytes cut to %zu", a->dir, f->name, f->blob.n, cut);
    put_damaged(a, f, f->blob.data, cut);
    is_right = run(a, INFO, what, &r);
    is_right &= is_equal(what, "status", r.status, 3);
    is_right &= is_equal(what, "events", records_of(&r, f), (json_int_t)n);
    is_right &= is_equal(what, "missing events", lost(&r) - lost(&a->whole[INFO]),
                         (json_int_t)(f->n_events - n));
    is_right &= is_modest(a, INFO, &r, what);
    if (all)
        is_right &= others_agree(a, &r, what);
    json_decref(r.json);
    put_whole(a, f);
    return is_right;
}

/* Nothing is missing; what was put in, two bytes or more, may be events too. */
static bool has_all(const struct event_file *f, const struct blob *damaged, json_int_t events,
                    const char *what)
{
    json_int_t n = (json_int_t)f->n_events, more = 0;

    if (damaged->n > f->blob.n)
        more = (json_int_t)((damaged->n - f->blob.n) / 2);
    if (events >= n && events <= n + more)
        return true;
    return is_equal(what, "events", events, n);
}

/* Whatever else is wrong with a file: it is said, or nothing is missing. */
static bool is_damage_right(struct archive *a, const struct event_file *f, struct rng *rng)
{
    char what[PATH_MAX + 64];
    struct blob b = {malloc(f->blob.n + BLOB_ROOM), f->blob.n};
    int n = snprintf(what, sizeof what, "%s/%s:", a->dir, f->name);
    struct result r;
    bool is_right;

    memcpy(b.data, f->blob.data, b.n);
    blob_damage(&b, (unsigned)rng_below(rng, BLOB_DAMAGES), rng, what + n);
    put_damaged(a, f, b.data, b.n);
    is_right = run(a, INFO, what, &r);
    if (r.status != 3)
        is_right &= has_all(f, &b, records_of(&r, f), what);
    is_right &= is_modest(a, INFO, &r, what);
    json_decref(r.json);
    put_whole(a, f);
    free(b.data);
    return is_right;
}

/* ---------------------------------------------------------------------------- archives */

static void load_file(struct archive *a, const char *name)
{
    struct event_file *f = &a->file[a->n_files];
    char path[2 * PATH_MAX];
    struct stat info;
    FILE *in;

    snprintf(path, sizeof path, "%s/%s", a->events, name);
    assert_int_equal(stat(path, &info), 0);
    if (strstr(name, ".evt") == NULL || info.st_size < 100) /* of locations without events */
        return;
    assert_true(a->n_files++ < MAX_FILES);
    f->name = strdup(name);
    f->blob = (struct blob){malloc((size_t)info.st_size + 1), (size_t)info.st_size};
    in = fopen(path, "rb");
    assert_true(in && fread(f->blob.data, 1, f->blob.n, in) == f->blob.n);
    fclose(in);
    find_events(f, a->chunk_bytes);
}

static void link_files(const char *from, const char *to, struct archive *a)
{
    DIR *files = opendir(from);
    struct dirent *file;

    assert_non_null(files);
    assert_int_equal(mkdir(to, 0777), 0);
    while ((file = readdir(files)) != NULL) {
        char source[2 * PATH_MAX], target[2 * PATH_MAX];
        struct stat info;

        if (file->d_name[0] == '.')
            continue;
        snprintf(source, sizeof source, "%s/%s", from, file->d_name);
        snprintf(target, sizeof target, "%s/%s", to, file->d_name);
        assert_int_equal(stat(source, &info), 0);
        if (S_ISDIR(info.st_mode)) {
            snprintf(a->events, sizeof a->events, "%.4000s", target);
            link_files(source, target, a);
            continue;
        }
        assert_int_equal(symlink(source, target), 0);
        if (strstr(file->d_name, ".otf2"))
            snprintf(a->anchor, sizeof a->anchor, "%.4000s", target);
    }
    closedir(files);
}

static void read_chunk_bytes(struct archive *a)
{
    OTF2_Reader *reader = OTF2_Reader_Open(a->anchor);
    uint64_t of_definitions;

    assert_non_null(reader);
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    assert_int_equal(OTF2_Reader_GetChunkSize(reader, &a->chunk_bytes, &of_definitions),
                     OTF2_SUCCESS);
    OTF2_Reader_Close(reader);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(((const struct event_file *)x)->name, ((const struct event_file *)y)->name);
}

static void archive_open(struct archive *a, const char *dir)
{
    char work[] = "/tmp/snag-cuts-XXXXXX";
    DIR *files;
    struct dirent *file;

    assert_non_null(realpath(dir, a->dir));
    assert_non_null(test_dir(work));
    snprintf(a->copy, sizeof a->copy, "%s/copy", work);
    link_files(a->dir, a->copy, a);
    read_chunk_bytes(a);
    files = opendir(a->events);
    while ((file = readdir(files)) != NULL)
        load_file(a, file->d_name);
    closedir(files);
    qsort(a->file, a->n_files, sizeof *a->file, by_name);
    for (int command = 0; command < N_COMMANDS; command++)
        assert_true(run(a, command, "whole", &a->whole[command]));
}

static void archive_close(struct archive *a)
{
    *strrchr(a->copy, '/') = '\0';
    fs_remove_tree(a->copy);
    for (size_t i = 0; i < a->n_files; i++) {
        free(a->file[i].name);
        free(a->file[i].blob.data);
        free(a->file[i].end);
    }
    for (int command = 0; command < N_COMMANDS; command++)
        json_decref(a->whole[command].json);
}

/* --------------------------------------------------------------------------------- tests */

static const char *const *directories; /* ended by NULL */

static void try_archive(const char *dir, unsigned long n)
{
    struct archive *a = calloc(1, sizeof *a);
    struct rng rng = {4711};
    bool is_right = true;

    archive_open(a, dir);
    for (size_t i = 0; i < a->n_files; i++) /* the parser, and the program, know the format */
        is_right &=
            is_equal(a->file[i].name, "events", records_of(&a->whole[INFO], &a->file[i]),
                     (json_int_t)a->file[i].n_events);
    for (unsigned long i = 0; i < n; i++) {
        const struct event_file *f = &a->file[rng_below(&rng, a->n_files)];

        is_right &= is_cut_right(a, f, rng_below(&rng, f->blob.n - 2), i % OTHERS_EVERY == 0);
        is_right &= is_damage_right(a, f, &rng);
    }
    fprintf(stderr,
            "%s: %lu cuts, as many other damages; at most %.2f x the memory, %.2f x the time "
            "(%s)\n",
            dir, n, a->worst_memory, a->worst_time, a->slowest);
    archive_close(a);
    free(a);
    assert_true(is_right);
}

static void events_before_a_cut_are_all_there_and_the_others_counted(void **state)
{
    (void)state;
    for (size_t i = 0; directories[i]; i++)
        try_archive(directories[i], damage_number("SNAG_CUTS", 10));
}

/* Two archives: a chunk per location, and three. */
static int write_samples(void **state)
{
    static const char *made[3];
    static char work[] = "/tmp/snag-cuts-XXXXXX", one[64], three[64];

    (void)state;
    if (directories[0])
        return 0;
    assert_non_null(test_dir(work));
    snprintf(one, sizeof one, "%s/one", work);
    snprintf(three, sizeof three, "%s/three", work);
    sample_trace_write(one, 100);
    sample_trace_write(three, 2500);
    made[0] = one;
    made[1] = three;
    directories = made;
    *state = work;
    return 0;
}

static int remove_samples(void **state)
{
    if (*state)
        fs_remove_tree(*state);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_before_a_cut_are_all_there_and_the_others_counted),
    };

    (void)argc;
    directories = (const char *const *)argv + 1;
    return cmocka_run_group_tests(tests, write_samples, remove_samples);
}
