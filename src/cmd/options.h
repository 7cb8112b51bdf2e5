/*
 * options -- the one table of options and the one table of commands.
 *
 * Parsing, --help, the man pages and the completions of the shells are all made from these two.
 * To add an option: a member of struct settings for its value, and one row in options.c. The row
 * has all that is said of it: the commands that take it, what it takes, what holds without it. Where
 * an option means something else to a command, that is another row.
 * To add a command: one file cmd_<name>.c, one row in commands.c, and its name in the rows of the
 * options that it takes.
 */
#ifndef SNAG_CMD_OPTIONS_H
#define SNAG_CMD_OPTIONS_H

#include "cmd/settings.h"

#include <stddef.h>

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char * */
    OPTION_LIST,   /* struct word_list */
    OPTION_NUMBER, /* uint32_t */
    OPTION_COUNT,  /* uint32_t, not 0 */
    OPTION_PORT,   /* uint32_t below 65536 */
    OPTION_SEED,   /* uint64_t */
    OPTION_REAL,   /* double */
    OPTION_ABOVE,  /* double, above 0 */
    OPTION_SPAN,   /* double, 0 to 10 million */
    OPTION_TIME,   /* uint64_t ns, said as "2.5ms" */
    OPTION_SHARE,  /* double, not below 0, said as "5%" */
};

struct option_row {
    const char *name; /* long; SNAG_<NAME> in the environment sets it too, but for flags */
    char letter;      /* 0: none */
    enum option_kind kind;
    size_t offset;        /* in struct settings */
    const char *argument; /* what stands for its value in the help, NULL for a flag */
    const char *commands; /* names of those that take it, with spaces between; NULL: all do */
    bool has_zero; /* 0 is a value: where nothing is said, the member is NAN or its largest
                             number */
    const char *help;
    const char *choices;             /* "a|b|c", or ... */
    const char *(*choice)(size_t i); /* the name of row i of a table; both NULL: any value */
    const char *typical;             /* what holds when nothing is said, NULL: nothing */
};

struct command {
    const char *name;
    const char *usage;   /* what follows the name: "TRACE [options]"; where "[options]" comes
                            first, options end with the first argument */
    const char *summary; /* one line */
    int min_args, max_args;
    int (*run)(const struct settings *settings); /* exit status, or a negative ERR_* */
    const char *description;                     /* paragraphs */
    const char *example;                         /* lines of "command  # what it does" */
};

/* command_list -- all commands, ended by a row without a name. */
const struct command *command_list(void);
const struct command *command_find(const char *name); /* NULL if there is none */

/* option_list -- all options, ended by a row without a name. */
const struct option_row *option_list(void);

/* option_find -- the row that an option of this name has for a command; NULL if there is none.
 */
const struct option_row *option_find(const char *name, const struct command *command);

/* option_share -- 0.05 of "5%"; false for anything else. */
bool option_share(const char *text, double *share);

#define OPTION_CHOICES_SIZE 256

/*
 * option_choices -- what an option takes, with `between` between them.
 * Returns false, and an empty text, when it takes any value.
 */
bool option_choices(const struct option_row *row, const char *between, char *out, size_t size);

/* command_takes -- true when the command takes this option. */
bool command_takes(const struct command *command, const struct option_row *option);

/* option_describe -- what an option does, what it takes, and what holds without it. */
void option_describe(const struct option_row *row, char *text, size_t size);

/* options_typical -- what holds for a command when nothing is said. Returns 0 or ERR_USAGE. */
int options_typical(const struct command *command, struct settings *settings);

/*
 * options_parse -- read argv[1..argc-1] for a command, after the environment.
 * Returns 0 or ERR_USAGE. The settings refer to argv.
 */
int options_parse(const struct command *command, int argc, char **argv,
                  struct settings *settings);

/*
 * options_refuse -- options that a command takes, but not for what its arguments are.
 *   names  of them, with spaces between
 *   why    what follows the name of the first of them that was said, on the command line: the
 *          environment is of many commands
 * Returns 0, or ERR_USAGE where one was said.
 */
int options_refuse(const struct settings *settings, const char *names, const char *why);

#endif
