#include "base/fs.h"

#include "base/err.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"
#include "test_dir.h"

static void what_is_written_can_be_mapped_and_removed(void **state)
{
    char dir[] = "/tmp/snag-fs-XXXXXX", path[FS_PATH_SIZE], below[FS_PATH_SIZE];
    const void *data;
    size_t bytes;
    int fd;

    (void)state;
    assert_non_null(test_dir(dir));
    assert_int_equal(fs_join(below, dir, "sub"), 0);
    assert_int_equal(mkdir(below, 0700), 0);
    assert_int_equal(fs_join(path, below, "file"), 0);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(fs_write_at(fd, "abc", 3, 2, path), 0);
    close(fd);
    assert_int_equal(fs_map(path, &data, &bytes), 0);
    assert_int_equal(bytes, 5);
    assert_memory_equal(data, "\0\0abc", 5);
    fs_unmap(data, bytes);
    assert_int_equal(fs_remove_tree(dir), 0);
    assert_false(fs_exists(dir));
    assert_int_equal(fs_remove_tree(dir), 0);
}

static void a_missing_file_is_an_error_that_names_it(void **state)
{
    const void *data;
    size_t bytes;

    (void)state;
    assert_int_equal(fs_map("/nonexistent/x", &data, &bytes), ERR_IO);
    assert_string_equal(err_message(),
                        "cannot open '/nonexistent/x': No such file or directory");
    fs_unmap(data, bytes);
}

static void what_is_temporary_goes_where_the_environment_says(void **state)
{
    (void)state;
    setenv("TMPDIR", "/else/where", 1);
    assert_string_equal(fs_temporary_dir(), "/else/where");
    setenv("TMPDIR", "", 1);
    assert_string_equal(fs_temporary_dir(), "/tmp");
    unsetenv("TMPDIR");
    assert_string_equal(fs_temporary_dir(), "/tmp");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_can_be_mapped_and_removed),
        cmocka_unit_test(a_missing_file_is_an_error_that_names_it),
        cmocka_unit_test(what_is_temporary_goes_where_the_environment_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
