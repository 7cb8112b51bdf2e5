/* Whose file a snapshot is: two servers with one, files that others have put in its way, and
 * snapshots that somebody has made up. */
#include "ps/ps_snapshot.h"

#include "base/err.h"
#include "base/fs.h"
#include "ps/ps_store.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

#define VICTIM "not ours to change"

static char dir[64], path[128];

static int begin(void **state)
{
    (void)state;
    strcpy(dir, "ps-snapshot-XXXXXX");
    if (test_dir(dir) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/models.ps", dir);
    return 0;
}

static char *beside(const char *name, char out[256])
{
    snprintf(out, 256, "%s/%s", dir, name);
    return out;
}

/* Another server with this snapshot, until it is killed. */
static pid_t serve_in_child(void)
{
    struct ps_store_opts opts = {.n_workers = 1, .snapshot = path};
    struct ps_store *store;
    int said[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(said), 0);
    pid = fork();
    if (pid == 0) {
        if (ps_store_open(&store, &opts) == 0 && write(said[1], "y", 1) == 1)
            pause();
        _exit(1);
    }
    close(said[1]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    close(said[0]);
    return pid;
}

static void a_second_server_is_refused_until_the_first_is_gone(void **state)
{
    struct ps_store_opts opts = {.n_workers = 1, .snapshot = path};
    struct ps_store *store;
    char lock[256];
    pid_t pid = serve_in_child();

    (void)state;
    assert_int_equal(ps_store_open(&store, &opts), ERR_EXISTS);
    assert_non_null(strstr(err_message(), "is writing"));
    assert_non_null(strstr(err_message(), path));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(ps_store_open(&store, &opts), 0);
    ps_store_close(store);
    assert_false(fs_exists(beside("models.ps.lock", lock)));
}

static void a_link_in_its_way_is_not_followed(void **state)
{
    static const char *const names[] = {"models.ps.part", "models.ps"};
    struct ps_snapshot empty = {.version = 1}, back;
    char victim[256], link[256], content[64] = "";
    FILE *file = fopen(beside("victim", victim), "w");

    (void)state;
    fputs(VICTIM, file);
    fclose(file);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(symlink("victim", beside(names[i], link)), 0);
    assert_int_equal(ps_snapshot_write(&empty, path), 0);
    assert_int_equal(ps_snapshot_read(&back, path), 0);
    ps_snapshot_release(&back);
    file = fopen(victim, "r");
    assert_non_null(fgets(content, sizeof content, file));
    fclose(file);
    assert_string_equal(content, VICTIM);
}

static void what_a_killed_server_left_is_removed_and_nothing_else(void **state)
{
    static const struct {
        const char *name;
        bool is_kept;
    } files[] = {{".models.ps.part-0123456789abcdef", false},
                 {".models.ps.part-0123456789abcde", true},
                 {".models.ps.part-0123456789abcdefg", true},
                 {".other.ps.part-0123456789abcdef", true},
                 {"models.ps.part", true}};
    struct lock_file lock_file;
    char name[256];

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        fclose(fopen(beside(files[i].name, name), "w"));
    assert_int_equal(ps_snapshot_lock(path, &lock_file), 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(fs_exists(beside(files[i].name, name)), files[i].is_kept);
    lock_file_release(&lock_file);
}

static void what_cannot_be_a_snapshot_is_refused_at_once(void **state)
{
    struct ps_snapshot back;

    (void)state;
    assert_int_equal(ps_snapshot_read(&back, path), ERR_IO);
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_int_equal(ps_snapshot_read(&back, path), ERR_FORMAT);
    unlink(path);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(ps_snapshot_read(&back, path), ERR_FORMAT);
}

static void expect_refused(const struct ps_snapshot *forged)
{
    struct ps_snapshot back;

    assert_int_equal(ps_snapshot_write(forged, path), 0);
    assert_int_equal(ps_snapshot_read(&back, path), ERR_FORMAT);
}

/* With the right hash: whoever makes one up can do that, too. */
static void numbers_that_would_wrap_are_refused(void **state)
{
    (void)state;
    expect_refused(&(struct ps_snapshot){.version = UINT64_MAX});
    expect_refused(&(struct ps_snapshot){.version = 1, .round = UINT64_MAX});
}

static void statistics_that_cannot_be_are_refused(void **state)
{
    static const char *const keys[] = {
        "p\nr\nn\n",    "p\nr\nn\nw",  "p\nr\nn\nr1", "p\nr\nw1", "p\nr\nn\nw12345678901",
        "p\nr\nn\nw1x", "p\nr\nn\nw-1"};
    struct ps_stat stat = {0};

    (void)state;
    ps_stat_add(&stat, 1);
    for (size_t i = 0; i <= sizeof keys / sizeof *keys; i++) {
        bool is_key = i < sizeof keys / sizeof *keys;
        struct ps_snapshot forged = {.version = 1};

        stat.n = is_key ? 1 : UINT64_MAX;
        ps_state_count(&forged.state, is_key ? keys[i] : "p\nr\nn\nw1", &stat);
        expect_refused(&forged);
        ps_state_release(&forged.state);
    }
}

/* Values that are below a least one of theirs, or among them sums that they cannot have. */
static void models_that_no_values_make_are_refused(void **state)
{
    char *function = strdup("p\nf");

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct ps_snapshot forged = {.version = 1, .n_functions = 1, .function = &function};
        struct ps_stat stat = {.n = 1, .whole = {.min = 2, .max = 1}};
        struct sketch sketch;

        sketch_init(&sketch);
        sketch_add(&sketch, 1000);
        sketch_add(&sketch, 5000);
        ps_state_add(&forged.state, 0, &sketch);
        if (i == 0)
            forged.state.sketch[0].sums.sum = 1;
        else if (i == 1)
            forged.state.sketch[0].sums.sum = (unsigned __int128)1 << 100;
        else if (i == 2)
            forged.state.sketch[0].min = 3000;
        else
            ps_state_count(&forged.state, "p\nr\nn\nw1", &stat);
        expect_refused(&forged);
        ps_state_release(&forged.state);
        sketch_release(&sketch);
    }
    free(function);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_second_server_is_refused_until_the_first_is_gone, begin),
        cmocka_unit_test_setup(a_link_in_its_way_is_not_followed, begin),
        cmocka_unit_test_setup(what_a_killed_server_left_is_removed_and_nothing_else, begin),
        cmocka_unit_test_setup(what_cannot_be_a_snapshot_is_refused_at_once, begin),
        cmocka_unit_test_setup(numbers_that_would_wrap_are_refused, begin),
        cmocka_unit_test_setup(statistics_that_cannot_be_are_refused, begin),
        cmocka_unit_test_setup(models_that_no_values_make_are_refused, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
