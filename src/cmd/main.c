/*
 * snag COMMAND ... -- finds the command, reads its options, runs it, and turns what it returns
 * into an exit status: 0 done, 1 failed, 2 bad usage, 3 done but the input was damaged, 4 done
 * but beyond a limit of --fail-on.
 */
#include "base/blas.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/help.h"
#include "cmd/options.h"
#include "cmd/print.h"
#include "cmd/settings.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define VERSION SNAG_VERSION

static int complain_command(const char *name)
{
    const struct command *near = NULL;
    size_t best = text_typos(name) + 1;

    for (const struct command *c = command_list(); c->name; c++) {
        size_t distance = text_distance(c->name, name, best - 1);

        if (distance < best) {
            best = distance;
            near = c;
        }
    }
    if (near)
        return err_set(ERR_USAGE, "no such command: '%s'; near: %s", name, near->name);
    return err_set(ERR_USAGE, "no such command: '%s' (snag help lists them)", name);
}

/* What is not about a trace takes at most so many words. */
static int check_words(int argc, char **argv, int most)
{
    if (argc - 1 > most)
        return err_set(ERR_USAGE, "one word too many: '%s' after snag %s", argv[1 + most],
                       argv[0]);
    return 0;
}

static bool asks_for_usage(int argc, char **argv)
{
    return argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

static int show_help(int argc, char **argv)
{
    const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
    int rc = check_words(argc, argv, 1);

    if (rc < 0)
        return rc;
    if (command)
        help_command(stdout, command);
    else if (argc < 2 || strcmp(argv[1], "help") == 0)
        help_overview(stdout);
    else if (!help_other(stdout, argv[1]))
        return complain_command(argv[1]);
    return 0;
}

static int show_man(int argc, char **argv)
{
    int rc = check_words(argc, argv, 1);

    if (rc == 0)
        rc = manual_print(argc > 1 ? argv[1] : "");
    return rc == ERR_NOT_FOUND ? complain_command(argv[1]) : rc;
}

static int show_completion(int argc, char **argv)
{
    int rc = check_words(argc, argv, 1);

    return rc < 0 ? rc : help_completion(stdout, argc > 1 ? argv[1] : "");
}

static int show_version(int argc, char **argv)
{
    bool is_json = argc > 1 && (strcmp(argv[1], "--json") == 0 || strcmp(argv[1], "-j") == 0);
    int rc = check_words(argc, argv, is_json);

    if (rc == 0 && is_json)
        printf("{\"snag\": \"%s\"}\n", VERSION);
    else if (rc == 0)
        printf("snag %s\n", VERSION);
    return rc;
}

static void renew_log(int signal_number)
{
    (void)signal_number;
    log_reopen();
}

static int run_command(int argc, char **argv)
{
    const struct command *command = command_find(argv[0]);
    struct settings settings;
    char run_id[RUN_ID_SIZE];
    int rc;

    if (command == NULL)
        return complain_command(argv[0]);
    rc = options_parse(command, argc, argv, &settings);
    if (rc < 0)
        return rc;
    if (settings.is_help) {
        help_command(stdout, command);
        return 0;
    }
    settings.said_run_id = settings.run_id;
    rc = run_id_choose(&settings.run_id, run_id);
    if (rc == 0 && settings.log)
        rc = log_open(settings.log, settings.run_id);
    if (rc < 0)
        return rc;
    if (settings.log)
        signal(SIGHUP, renew_log);
    log_set_level(settings.log          ? LOG_INFO
                  : settings.is_quiet   ? LOG_ERROR
                  : settings.is_verbose ? LOG_INFO
                                        : LOG_WARN);
    if (!settings.is_quiet)
        progress_show();
    if (log_has_file())
        log_info("snag", "%s begins, version %s", command->name, VERSION);
    rc = status_of(command->run(&settings));
    if (log_has_file())
        log_info("snag", "%s ends with status %d", command->name, rc);
    return rc;
}

static void say_out_of_memory(size_t n, size_t width)
{
    fprintf(stderr, "snag: out of memory: %zu x %zu bytes\n", n, width);
}

static int dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    if (argc < 2) {
        help_overview(stderr);
        return STATUS_USAGE;
    }
    if (asks_for_usage(argc - 1, argv + 1) && help_other(stdout, word))
        return 0;
    if (strcmp(word, "--version") == 0 || strcmp(word, "version") == 0)
        return show_version(argc - 1, argv + 1);
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return show_help(argc - 1, argv + 1);
    if (strcmp(word, "man") == 0)
        return show_man(argc - 1, argv + 1);
    if (strcmp(word, "completion") == 0)
        return show_completion(argc - 1, argv + 1);
    return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    prctl(PR_SET_NAME, "snag"); /* and not that of a loader that was told to run this */
    mem_on_failure(say_out_of_memory);
    log_set_level(LOG_WARN);
    blas_quiet();
    signal(SIGPIPE, SIG_DFL); /* `snag list | head` ends quietly */
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of write() */
    return status_at_end(status_of(dispatch(argc, argv)));
}
