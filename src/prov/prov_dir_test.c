#include "prov/prov_dir.h"

#include "base/err.h"

#include "test.h"

static void a_url_says_directory_and_number_of_shards(void **state)
{
    struct prov_dir place;
    struct prov_file file;

    (void)state;
    assert_int_equal(prov_dir_parse("sqlite:a/b?shards=16", &place), 0);
    assert_string_equal(place.dir, "a/b");
    assert_int_equal(place.n_shards, 16);
    assert_string_equal(prov_dir_file(&place, 7, 3, &file)->path, "a/b/shard-0003.db");
    assert_string_equal(file.file.name, "shard-0003.db");
    assert_int_equal(file.file.dir, 7);
    assert_int_equal(prov_dir_parse("sqlite:store", &place), 0);
    assert_int_equal(place.n_shards, 0);
    assert_int_equal(prov_dir_parse("what?", &place), 0);
    assert_string_equal(place.dir, "what?");
}

static void what_cannot_be_is_said(void **state)
{
    static const char *const bad[] = {
        "",          "sqlite:",           "sqlite:d?shards=0",  "sqlite:d?shards=257",
        "sqlite:d?", "sqlite:d?shards=x", "sqlite:d?shards=1x", "sqlite:d?shards=-1",
        "mongo://h", "sqlite:d?mode=ro"};
    struct prov_dir place;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(prov_dir_parse(bad[i], &place), ERR_USAGE);
    assert_int_equal(prov_dir_parse("postgresql://h/db", &place), ERR_USAGE);
    assert_non_null(strstr(err_message(), "no such kind of store"));
    assert_false(prov_dir_is_store("postgresql://h/db"));
    assert_false(prov_dir_is_store("nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_url_says_directory_and_number_of_shards),
        cmocka_unit_test(what_cannot_be_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
