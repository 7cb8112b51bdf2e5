/* Who may write where: two of us at once, what is no store, and what was made in vain. */
#include "prov/prov_store.h"

#include "base/err.h"
#include "base/fs.h"
#include "prov/prov_reader.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample_record.h"
#include "test.h"
#include "test_dir.h"

static char top[64], dir[128];

static int begin(void **state)
{
    (void)state;
    strcpy(top, "prov-home-XXXXXX");
    if (test_dir(top) == NULL)
        return -1;
    snprintf(dir, sizeof dir, "%s/store", top);
    return 0;
}

static void touch(const char *name)
{
    char path[256];
    FILE *out;

    mkdir(dir, 0777);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    out = fopen(path, "w");
    assert_non_null(out);
    fclose(out);
}

/* A process that writes until it is killed. */
static pid_t write_in_child(const struct prov_store_opts *opts)
{
    struct prov_store *store;
    int said[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(said), 0);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (prov_store_open(dir, opts, &store) == 0 && write(said[1], "y", 1) == 1)
            pause();
        _exit(1);
    }
    close(said[1]);
    assert_int_equal(read(said[0], &byte, 1), 1);
    close(said[0]);
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_second_writer_is_refused_until_the_first_is_gone(void **state)
{
    struct prov_store *store;
    pid_t pid = write_in_child(NULL);

    (void)state;
    assert_int_equal(prov_store_open(dir, NULL, &store), ERR_EXISTS);
    assert_non_null(strstr(err_message(), "is writing"));
    assert_null(store);
    stop(pid);
    assert_int_equal(prov_store_open(dir, NULL, &store), 0);
    assert_int_equal(prov_store_close(store), 0);
}

static void instances_of_a_job_write_each_its_rank(void **state)
{
    const uint32_t zero = 0, one = 1;
    struct prov_store_opts opts = {.rank = &zero};
    struct prov_store *store;
    pid_t pid = write_in_child(&opts);

    (void)state;
    assert_int_equal(prov_store_open(dir, &opts, &store), ERR_EXISTS);
    assert_int_equal(prov_store_open(dir, NULL, &store),
                     ERR_EXISTS); /* all, so that one, too */
    opts.rank = &one;
    assert_int_equal(prov_store_open(dir, &opts, &store), 0);
    assert_int_equal(prov_store_close(store), 0);
    opts = (struct prov_store_opts){.program = 1};
    assert_int_equal(prov_store_open(dir, &opts, &store), 0);
    assert_int_equal(prov_store_close(store), 0);
    stop(pid);
}

static void a_run_is_left_alone(void **state)
{
    struct prov_store *store;
    char path[256];

    (void)state;
    touch("run.db");
    assert_int_equal(prov_store_open(dir, NULL, &store), ERR_EXISTS);
    assert_non_null(strstr(err_message(), "is a run"));
    snprintf(path, sizeof path, "%s/shard-0000.db", dir);
    assert_false(fs_exists(path));
}

static void a_store_that_was_made_in_vain_is_removed(void **state)
{
    struct prov_store *store;
    char url[256];
    pid_t pid;

    (void)state;
    snprintf(url, sizeof url, "sqlite:%s?shards=3", dir);
    assert_int_equal(prov_store_open(url, NULL, &store), 0);
    assert_int_equal(prov_store_close(store), 0);
    prov_home_discard(url);
    assert_false(fs_exists(dir));
    prov_home_discard(url);
    stop(write_in_child(NULL)); /* which leaves its lock */
    prov_home_discard(dir);
    assert_false(fs_exists(dir));
    pid = write_in_child(NULL);
    prov_home_discard(dir); /* is written still */
    assert_true(prov_dir_is_store(dir));
    stop(pid);
}

static void a_store_that_has_something_stays(void **state)
{
    struct prov_store *store;
    struct database reader;

    (void)state;
    assert_int_equal(prov_store_open(dir, NULL, &store), 0);
    prov_store_put_metadata(store, &(struct prov_metadata){.descr = "a", .value = "b"});
    assert_int_equal(prov_store_close(store), 0);
    prov_home_discard(dir);
    assert_int_equal(prov_reader_open(dir, &reader), 0);
    database_close(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_second_writer_is_refused_until_the_first_is_gone, begin),
        cmocka_unit_test_setup(instances_of_a_job_write_each_its_rank, begin),
        cmocka_unit_test_setup(a_run_is_left_alone, begin),
        cmocka_unit_test_setup(a_store_that_was_made_in_vain_is_removed, begin),
        cmocka_unit_test_setup(a_store_that_has_something_stays, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
