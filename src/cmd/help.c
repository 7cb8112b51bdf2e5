/* Plain text for the terminal and mdoc for man; both walk the same rows. */
#include "cmd/help.h"

#include "base/err.h"
#include "trace/source.h"

#include <ctype.h>
#include <string.h>

#define SUMMARY                                                                                \
    "find the executions of a function that do not belong, in the trace of a "                 \
    "parallel program"

static void print_option(FILE *out, const struct option_row *row)
{
    char left[64];
    int n = row->letter ? snprintf(left, sizeof left, "  -%c, --%s", row->letter, row->name)
                        : snprintf(left, sizeof left, "      --%s", row->name);

    if (row->argument)
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", row->argument);
    if (n < 28)
        fprintf(out, "%-28s%s", left, row->help);
    else
        fprintf(out, "%s\n%28s%s", left, "", row->help);
    if (row->choices)
        fprintf(out, ": %s", row->choices);
    fputc('\n', out);
}

void help_overview(FILE *out)
{
    fprintf(out, "snag: " SUMMARY "\n\nusage: snag COMMAND ...\n\ncommands:\n");
    for (const struct command *c = command_list(); c->name; c++)
        fprintf(out, "  %-12s%s\n", c->name, c->summary);
    fprintf(out, "\nA first look at a trace:  snag analyze traces.otf2\n"
                 "More about a command:     snag help COMMAND\n\n"
                 "TRACE is one of\n");
    for (const struct source_ops *const *s = source_list(); *s; s++)
        fprintf(out, "  %-8s%s\n", (*s)->name, (*s)->what);
}

void help_command(FILE *out, const struct command *command)
{
    fprintf(out, "usage: snag %s %s\n\n%s.\n\n%s\n\noptions:\n", command->name, command->usage,
            command->summary, command->description);
    for (const struct option_row *row = option_list(); row->name; row++)
        if (command_takes(command, row))
            print_option(out, row);
    if (command->example)
        fprintf(out, "\nexamples:\n%s\n", command->example);
}

/* ------------------------------------------------------------------------------------ man */

/* Text with what means something to mdoc made harmless. */
static void put_mdoc(FILE *out, const char *text)
{
    bool is_line_start = true;

    for (; *text; text++) {
        if (is_line_start && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text, out);
        is_line_start = *text == '\n';
    }
}

/* Paragraphs: an empty line becomes .Pp. */
static void put_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        char part[4096];

        snprintf(part, sizeof part, "%.*s", (int)length, text);
        put_mdoc(out, part);
        fputc('\n', out);
        text += length;
        if (*text) {
            fputs(".Pp\n", out);
            text += 2;
        }
    }
}

static void man_options(FILE *out, const struct command *command)
{
    fputs(".Bl -tag -width Ds\n", out);
    for (const struct option_row *row = option_list(); row->name; row++) {
        if (!command_takes(command, row))
            continue;
        fputs(".It ", out);
        if (row->letter)
            fprintf(out, "Fl %c , ", row->letter);
        fprintf(out, "Fl Fl %s", row->name);
        if (row->argument)
            fprintf(out, " Ar %s", row->argument);
        fputc('\n', out);
        put_mdoc(out, row->help);
        if (row->choices) {
            fputs(": ", out);
            put_mdoc(out, row->choices);
        }
        fputs(".\n", out);
    }
    fputs(".El\n", out);
}

static void man_head(FILE *out, const char *title, const char *name, const char *summary)
{
    char upper[64];
    size_t n = 0;

    for (; title[n] && n + 1 < sizeof upper; n++)
        upper[n] = (char)toupper((unsigned char)title[n]);
    upper[n] = '\0';
    fprintf(out, ".Dd $Mdocdate$\n.Dt %s 1\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", upper, name);
    put_mdoc(out, summary);
    fputc('\n', out);
}

static void man_status(FILE *out)
{
    fputs(
        ".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\ndone\n.It 1\nfailed\n.It 2\nbad usage\n"
        ".It 3\ndone, but the trace was damaged; what was skipped or repaired is reported\n"
        ".El\n.Sh ENVIRONMENT\nEvery option that takes a value can be set by a variable of its "
        "name in capitals behind\n.Ev SNAG_ ,\nas in\n.Ev SNAG_THREADS .\n.Ev NO_COLOR\n"
        "turns colours off.\n",
        out);
}

static void man_overview(FILE *out)
{
    man_head(out, "snag", "snag", SUMMARY);
    fputs(".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar argument ...\n.Sh DESCRIPTION\n", out);
    fputs("The commands are:\n.Bl -tag -width Ds\n", out);
    for (const struct command *c = command_list(); c->name; c++) {
        fprintf(out, ".It Xr snag\\-%s 1\n", c->name);
        put_mdoc(out, c->summary);
        fputc('\n', out);
    }
    fputs(".El\n.Pp\nA trace is one of\n.Bl -tag -width Ds\n", out);
    for (const struct source_ops *const *s = source_list(); *s; s++) {
        fprintf(out, ".It Cm %s\n", (*s)->name);
        put_mdoc(out, (*s)->what);
        fputc('\n', out);
    }
    fputs(".El\n", out);
    man_status(out);
}

void help_man(FILE *out, const struct command *command)
{
    char title[64];

    if (command == NULL) {
        man_overview(out);
        return;
    }
    snprintf(title, sizeof title, "snag-%s", command->name);
    man_head(out, title, title, command->summary);
    fprintf(out, ".Sh SYNOPSIS\n.Nm snag %s\n", command->name);
    put_mdoc(out, command->usage);
    fputs("\n.Sh DESCRIPTION\n", out);
    put_paragraphs(out, command->description);
    fputs(".Pp\nThe options are:\n", out);
    man_options(out, command);
    man_status(out);
    if (command->example) {
        fputs(".Sh EXAMPLES\n.Bd -literal\n", out);
        put_mdoc(out, command->example);
        fputs("\n.Ed\n", out);
    }
    fputs(".Sh SEE ALSO\n.Xr snag 1\n", out);
}

/* --------------------------------------------------------------------------- completion */

static void complete_bash(FILE *out)
{
    fputs("# bash completion of snag\n_snag()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]}\n"
          "    local prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W '",
          out);
    for (const struct command *c = command_list(); c->name; c++)
        fprintf(out, "%s%s", c == command_list() ? "" : " ", c->name);
    fputs("' -- \"$cur\"))\n        return\n    fi\n    case $prev in\n", out);
    for (const struct option_row *row = option_list(); row->name; row++) {
        if (row->choices == NULL)
            continue;
        fprintf(out, "        --%s) COMPREPLY=($(compgen -W '", row->name);
        for (const char *at = row->choices; *at; at++)
            fputc(*at == '|' ? ' ' : *at, out);
        fputs("' -- \"$cur\")); return ;;\n", out);
    }
    fputs("    esac\n    if [[ $cur != -* ]]; then\n        COMPREPLY=($(compgen -f -- "
          "\"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n",
          out);
    for (const struct command *c = command_list(); c->name; c++) {
        fprintf(out, "        %s) COMPREPLY=($(compgen -W '", c->name);
        for (const struct option_row *row = option_list(); row->name; row++)
            if (command_takes(c, row))
                fprintf(out, "--%s ", row->name);
        fputs("' -- \"$cur\")) ;;\n", out);
    }
    fputs("    esac\n}\ncomplete -o filenames -F _snag snag\n", out);
}

/* Help texts inside single quotes, without what zsh gives a meaning. */
static void put_zsh(FILE *out, const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
}

static void complete_zsh(FILE *out)
{
    fputs("#compdef snag\nlocal -a commands=(\n", out);
    for (const struct command *c = command_list(); c->name; c++) {
        fprintf(out, "  '%s:", c->name);
        put_zsh(out, c->summary);
        fputs("'\n", out);
    }
    fputs(")\nif ((CURRENT == 2)); then\n  _describe command commands\n  return\nfi\n"
          "case $words[2] in\n",
          out);
    for (const struct command *c = command_list(); c->name; c++) {
        fprintf(out, "%s) _arguments ", c->name);
        for (const struct option_row *row = option_list(); row->name; row++) {
            if (!command_takes(c, row))
                continue;
            fprintf(out, "'%s--%s[", row->kind == OPTION_LIST ? "*" : "", row->name);
            put_zsh(out, row->help);
            fputc(']', out);
            if (row->argument)
                fprintf(out, ":%s:", row->argument);
            if (row->choices) {
                fputc('(', out);
                for (const char *at = row->choices; *at; at++)
                    fputc(*at == '|' ? ' ' : *at, out);
                fputc(')', out);
            }
            fputs("' ", out);
        }
        fputs("'*:file:_files' ;;\n", out);
    }
    fputs("esac\n", out);
}

static void complete_fish(FILE *out)
{
    for (const struct command *c = command_list(); c->name; c++) {
        fprintf(out, "complete -c snag -n __fish_use_subcommand -f -a %s -d \"%s\"\n", c->name,
                c->summary);
        for (const struct option_row *row = option_list(); row->name; row++) {
            if (!command_takes(c, row))
                continue;
            fprintf(out, "complete -c snag -n '__fish_seen_subcommand_from %s' -l %s", c->name,
                    row->name);
            if (row->letter)
                fprintf(out, " -s %c", row->letter);
            if (row->argument)
                fputs(" -r", out);
            if (row->choices) {
                fputs(" -f -a '", out);
                for (const char *at = row->choices; *at; at++)
                    fputc(*at == '|' ? ' ' : *at, out);
                fputc('\'', out);
            }
            fprintf(out, " -d \"%s\"\n", row->help);
        }
    }
}

int help_completion(FILE *out, const char *shell)
{
    static const struct {
        const char *shell;
        void (*print)(FILE *out);
    } shells[] = {{"bash", complete_bash}, {"zsh", complete_zsh}, {"fish", complete_fish}};

    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].shell, shell) == 0) {
            shells[i].print(out);
            return 0;
        }
    return err_set(ERR_USAGE, "no completion for '%s': bash, zsh and fish have one", shell);
}
