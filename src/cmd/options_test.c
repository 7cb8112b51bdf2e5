#include "cmd/options.h"

#include "base/err.h"
#include "trace/definitions.h"

#include "test.h"

/* Parses the words after a command's name; the settings refer to them until the next call. */
static int parse(const char *command, struct settings *settings, char **words)
{
    static char *argv[32];
    int n = 1;

    argv[0] = (char *)(uintptr_t)command;
    for (; words[n - 1]; n++)
        argv[n] = words[n - 1];
    return options_parse(command_find(command), n, argv, settings);
}

#define WORDS(...)                                                                             \
    (char *[])                                                                                 \
    {                                                                                          \
        __VA_ARGS__, NULL                                                                      \
    }

static void nothing_said_is_the_default(void **state)
{
    struct settings s;

    (void)state;
    assert_int_equal(parse("analyze", &s, WORDS("trace")), 0);
    assert_int_equal(s.seed, 1);
    assert_int_equal(s.rank, NO_RANK);
    assert_true(isnan(s.threshold));
    assert_int_equal(s.foi.n, 0);
    assert_null(s.output);
}

static void every_kind_of_value_arrives(void **state)
{
    struct settings s;

    (void)state;
    assert_int_equal(parse("analyze", &s,
                           WORDS("--foi", "a", "-fb", "--foi=c", "-o", "run", "--force", "-k7",
                                 "trace", "--threshold", "-1.5e3", "--seed",
                                 "18446744073709551615", "--detector", "knn")),
                     0);
    assert_int_equal(s.foi.n, 3);
    assert_string_equal(s.foi.text[0], "a");
    assert_string_equal(s.foi.text[1], "b");
    assert_string_equal(s.foi.text[2], "c");
    assert_string_equal(s.output, "run");
    assert_true(s.is_forced);
    assert_int_equal(s.neighbours, 7);
    assert_true(s.threshold == -1500);
    assert_true(s.seed == UINT64_MAX);
    assert_string_equal(s.detector, "knn");
    assert_int_equal(s.n_args, 1);
    assert_string_equal(s.args[0], "trace");
}

static void the_command_line_goes_before_the_environment(void **state)
{
    struct settings s;

    (void)state;
    setenv("SNAG_TOP", "3", 1);
    setenv("SNAG_FOI", "solve", 1);
    assert_int_equal(parse("list", &s, WORDS("run")), 0);
    assert_int_equal(s.top, 3);
    assert_int_equal(s.foi.n, 1);
    assert_int_equal(parse("list", &s, WORDS("run", "--top", "4", "--foi", "a")), 0);
    assert_int_equal(s.top, 4);
    assert_int_equal(s.foi.n, 1);
    assert_string_equal(s.foi.text[0], "a");
    setenv("SNAG_TOP", "-3", 1);
    assert_int_equal(parse("list", &s, WORDS("run")), ERR_USAGE);
    assert_int_equal(parse("query", &s, WORDS("run", "SELECT 1")), 0); /* takes no --top */
    unsetenv("SNAG_TOP");
    unsetenv("SNAG_FOI");
}

static void more_functions_than_fit_are_refused(void **state)
{
    char *argv[MAX_REPEATED + 4] = {"analyze", "trace"};
    char words[MAX_REPEATED + 1][16];
    struct settings s;

    (void)state;
    for (int i = 0; i <= MAX_REPEATED; i++) {
        snprintf(words[i], sizeof words[i], "--foi=f%d", i);
        argv[2 + i] = words[i];
    }
    assert_int_equal(options_parse(command_find("analyze"), 2 + MAX_REPEATED, argv, &s), 0);
    assert_int_equal(s.foi.n, MAX_REPEATED);
    assert_int_equal(options_parse(command_find("analyze"), 3 + MAX_REPEATED, argv, &s),
                     ERR_USAGE);
}

/* Every option has a command that takes it, a help, and choices only where there is a value. */
static void the_tables_agree(void **state)
{
    char choices[OPTION_CHOICES_SIZE];

    (void)state;
    for (const struct option_row *row = option_list(); row->name; row++) {
        size_t n_takers = 0;

        for (const struct command *c = command_list(); c->name; c++)
            n_takers += command_takes(c, row);
        assert_true(n_takers > 0);
        assert_true(*row->help);
        assert_int_equal(row->argument == NULL, row->kind == OPTION_FLAG);
        assert_true(row->kind == OPTION_TEXT ||
                    !option_choices(row, " ", choices, sizeof choices));
        assert_true(strlen(choices) + 1 < sizeof choices);
        for (const struct option_row *other = row + 1; other->name; other++) {
            assert_true(row->letter == 0 || row->letter != other->letter ||
                        strcmp(row->name, other->name) == 0);
            assert_true(row->offset != other->offset || row->has_zero == other->has_zero);
        }
    }
}

/* A name in an option's list that is no command would be a silent mistake, and so would be two
 * rows of an option for one command. */
static void options_name_only_commands_each_once(void **state)
{
    (void)state;
    for (const struct option_row *row = option_list(); row->name; row++) {
        char copy[512], *rest = copy, *word;

        snprintf(copy, sizeof copy, "%s", row->commands ? row->commands : "info");
        while ((word = strsep(&rest, " ")) != NULL) {
            assert_non_null(command_find(word));
            assert_ptr_equal(option_find(row->name, command_find(word)), row);
        }
    }
    for (const struct command *c = command_list(); c->name; c++) {
        assert_true(c->min_args <= c->max_args);
        assert_ptr_equal(command_find(c->name), c);
    }
    assert_null(command_find("nothing"));
}

/* Help and messages come from the tables of detectors, learners and so on. */
static void choices_are_those_of_the_tables(void **state)
{
    const struct command *analyze = command_find("analyze");
    char choices[OPTION_CHOICES_SIZE];
    struct settings s;

    (void)state;
    option_choices(option_find("detector", analyze), "|", choices, sizeof choices);
    assert_string_equal(choices, "residual|ocsvm|lof|knn|iforest");
    option_choices(option_find("verdict", command_find("list")), ", ", choices, sizeof choices);
    assert_string_equal(choices, "anomaly, normal");
    assert_int_equal(parse("analyze", &s, WORDS("trace", "--detector", "x")), ERR_USAGE);
    assert_string_equal(err_message(), "--detector takes one of residual, ocsvm, lof, knn, "
                                       "iforest, not 'x'");
}

/* The same option may mean something else, and be another by default, to another command. */
static void a_row_may_be_for_some_commands_alone(void **state)
{
    struct settings s;

    (void)state;
    assert_int_equal(parse("info", &s, WORDS("trace")), 0);
    assert_int_equal(s.top, 20);
    assert_int_equal(parse("list", &s, WORDS("run")), 0);
    assert_int_equal(s.top, 10);
    assert_int_equal(parse("query", &s, WORDS("run", "SELECT 1", "--format", "chrome")),
                     ERR_USAGE);
    assert_int_equal(parse("export", &s, WORDS("run", "--format", "chrome")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_the_default),
        cmocka_unit_test(every_kind_of_value_arrives),
        cmocka_unit_test(the_command_line_goes_before_the_environment),
        cmocka_unit_test(more_functions_than_fit_are_refused),
        cmocka_unit_test(the_tables_agree),
        cmocka_unit_test(options_name_only_commands_each_once),
        cmocka_unit_test(choices_are_those_of_the_tables),
        cmocka_unit_test(a_row_may_be_for_some_commands_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
