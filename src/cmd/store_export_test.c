#include "cmd/cmd_export.h"

#include "base/arena.h"
#include "base/fs.h"
#include "cmd/options.h"
#include "prov/prov_store.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

struct scene {
    char dir[64], out[128];
    struct prov_store *store;
};

static void begin(struct scene *s)
{
    *s = (struct scene){.store = NULL};
    strcpy(s->dir, "store-export-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->out, sizeof s->out, "%s.json", s->dir);
    assert_int_equal(prov_store_open(s->dir, NULL, &s->store), 0);
}

static void end(struct scene *s)
{
    assert_int_equal(prov_store_close(s->store), 0);
    assert_int_equal(fs_remove_tree(s->dir), 0);
    unlink(s->out);
}

/* A strange call, in whose window is one other. */
static void put(struct scene *s, struct prov_event strange, struct prov_event other)
{
    struct prov_call call = {
        .event = other, .func = "other", .enter_ns = 1000, .leave_ns = 2000};
    struct prov_record record = {.event = strange,
                                 .func = "strange",
                                 .algorithm = "hbos",
                                 .enter_ns = 2000,
                                 .leave_ns = 3000,
                                 .window = {.call = &call, .n_calls = 1}};

    assert_true(prov_store_put(s->store, PROV_ANOMALY, &record));
    assert_int_equal(prov_store_flush(s->store), 0);
}

/* How many events a Chrome export has of a function. */
static size_t count(struct scene *s, const char *function)
{
    struct settings settings;
    const char *args[] = {s->dir};
    size_t n = 0, i;
    json_t *all, *event;

    options_typical(command_find("export"), &settings);
    settings.args = args;
    settings.n_args = 1;
    settings.format = "chrome";
    settings.output = s->out;
    assert_int_equal(store_export(&settings), 0);
    all = json_load_file(s->out, 0, NULL);
    assert_non_null(all);
    json_array_foreach(json_object_get(all, "traceEvents"), i, event)
    {
        n += strcmp(json_string_value(json_object_get(event, "name")), function) == 0;
    }
    json_decref(all);
    return n;
}

/* Those that were judged late have their thread in the upper half of the index. */
static void calls_of_other_steps_and_threads_are_other_calls(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    put(&s, (struct prov_event){0, 0, 1}, (struct prov_event){0, 0, 16ull << 32});
    put(&s, (struct prov_event){0, 1, 1}, (struct prov_event){0, 1, 0});
    put(&s, (struct prov_event){0, 1, 2}, (struct prov_event){0, 1ull << 28, 0});
    put(&s, (struct prov_event){0, 1, 3}, (struct prov_event){0, 0, 0});
    assert_int_equal(count(&s, "other"), 4);
    assert_int_equal(count(&s, "strange"), 4);
    end(&s);
}

static void a_call_in_several_windows_is_written_once(void **state)
{
    struct prov_event other = {0, 3, 16ull << 32};
    struct scene s;

    (void)state;
    begin(&s);
    put(&s, (struct prov_event){0, 3, 1}, other);
    put(&s, (struct prov_event){0, 3, 2}, other);
    assert_int_equal(count(&s, "other"), 1);
    assert_int_equal(count(&s, "strange"), 2);
    end(&s);
}

static void the_same_numbers_in_another_run_are_other_calls(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    put(&s, (struct prov_event){0, 3, 1}, (struct prov_event){0, 3, 0});
    assert_int_equal(prov_store_close(s.store), 0);
    assert_int_equal(prov_store_open(s.dir, NULL, &s.store), 0);
    put(&s, (struct prov_event){0, 3, 1}, (struct prov_event){0, 3, 0});
    assert_int_equal(count(&s, "other"), 2);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_of_other_steps_and_threads_are_other_calls),
        cmocka_unit_test(a_call_in_several_windows_is_written_once),
        cmocka_unit_test(the_same_numbers_in_another_run_are_other_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
