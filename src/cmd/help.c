/* Plain text for the terminal, and scripts for shells; all walk the same rows. */
#include "cmd/help.h"

#include "base/err.h"
#include "trace/source.h"
#include "trace/stream.h"

#include <ctype.h>
#include <string.h>

#define HELP_INDENT 28
#define HELP_WIDTH 80 /* columns of a terminal */

/* Words after an indent, when so many columns of the line are taken already. */
static void print_wrapped(FILE *out, const char *text, size_t length, int indent, int column)
{
    const char *end = text + length;

    while (text < end) {
        int n = (int)strcspn(text, " \n");

        if (column > indent && column + n >= HELP_WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(out, "%s%.*s", column > indent ? " " : "", n, text);
        text += n;
        text += strspn(text, " \n");
    }
    fputc('\n', out);
}

/* Paragraphs, with an empty line between them. */
static void print_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);

        print_wrapped(out, text, length, 0, 0);
        text += length + strspn(text + length, "\n");
        if (*text)
            fputc('\n', out);
    }
}

static void print_option(FILE *out, const struct option_row *row)
{
    char left[64], text[512];
    int n = row->letter ? snprintf(left, sizeof left, "  -%c, --%s", row->letter, row->name)
                        : snprintf(left, sizeof left, "      --%s", row->name);

    if (row->argument)
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", row->argument);
    fprintf(out, "%s%*s", left, n < HELP_INDENT ? HELP_INDENT - n : 0, "");
    option_describe(row, text, sizeof text);
    print_wrapped(out, text, strlen(text), HELP_INDENT,
                  n < HELP_INDENT ? HELP_INDENT : HELP_WIDTH);
}

void help_overview(FILE *out)
{
    print_paragraphs(out, "snag: " SNAG_SUMMARY);
    fprintf(out, "\nusage: snag COMMAND ...\n\ncommands:\n");
    for (const struct command *c = command_list(); c->name; c++)
        fprintf(out, "  %-12s%s\n", c->name, c->summary);
    fprintf(out, "\nA first look at a trace:  snag analyze traces.otf2\n"
                 "More about a command:     snag help COMMAND\n"
                 "Manual, what is written:  snag man [COMMAND], snag man formats\n"
                 "Completion:               snag completion bash|zsh|fish\n\n"
                 "TRACE is one of\n");
    for (const struct source_ops *const *s = source_list(); *s; s++) {
        fprintf(out, "  %-8s", (*s)->name);
        print_wrapped(out, (*s)->what, strlen((*s)->what), 10, 10);
    }
}

static void print_streams(FILE *out)
{
    fputs("\nSOURCE is one of\n", out);
    for (const struct stream_ops *const *s = stream_list(); *s; s++) {
        fputs("  ", out);
        print_wrapped(out, (*s)->what, strlen((*s)->what), 4, 2);
    }
}

bool help_reads_streams(const struct command *command)
{
    return strncmp(command->usage, "SOURCE", strlen("SOURCE")) == 0;
}

void help_command(FILE *out, const struct command *command)
{
    fprintf(out, "usage: snag %s %s\n\n%s.\n\n", command->name, command->usage,
            command->summary);
    print_paragraphs(out, command->description);
    if (help_reads_streams(command))
        print_streams(out);
    fputs("\noptions:\n", out);
    for (const struct option_row *row = option_list(); row->name; row++)
        if (command_takes(command, row))
            print_option(out, row);
    if (command->example)
        fprintf(out, "\nexamples:\n%s\n", command->example);
}

/* --------------------------------------------------------------------------- completion */

/* What stands beside the commands: these are not about traces, and take no options. */
static const char other_words[] = "help man completion version";

static void complete_bash(FILE *out)
{
    char choices[OPTION_CHOICES_SIZE];

    fputs("# bash completion of snag\n_snag()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]}\n"
          "    local prev=${COMP_WORDS[COMP_CWORD - 1]}\n    local commands='",
          out);
    for (const struct command *c = command_list(); c->name; c++)
        fprintf(out, "%s%s", c == command_list() ? "" : " ", c->name);
    fprintf(
        out,
        "'\n    if ((COMP_CWORD == 1)); then\n"
        "        COMPREPLY=($(compgen -W \"$commands %s\" -- \"$cur\"))\n"
        "        return\n    fi\n    case $prev in\n"
        "        help | man) COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\")); return ;;\n"
        "        completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")); return "
        ";;\n",
        other_words);
    for (const struct option_row *row = option_list(); row->name; row++) {
        if (option_choices(row, " ", choices, sizeof choices))
            fprintf(out,
                    "        --%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n",
                    row->name, choices);
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
    char choices[OPTION_CHOICES_SIZE];

    fputs("#compdef snag\nlocal -a commands=(\n", out);
    for (const struct command *c = command_list(); c->name; c++) {
        fprintf(out, "  '%s:", c->name);
        put_zsh(out, c->summary);
        fputs("'\n", out);
    }
    fputs("  'help:what a command takes'\n  'man:its manual page'\n"
          "  'completion:for bash, zsh or fish'\n  'version:of this program'\n"
          ")\nif ((CURRENT == 2)); then\n  _describe command commands\n  return\nfi\n"
          "shift words\n((CURRENT--))\n"
          "case $words[1] in\n"
          "help | man) _describe command commands ;;\n"
          "completion) _values shell bash zsh fish ;;\n",
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
            if (option_choices(row, " ", choices, sizeof choices))
                fprintf(out, "(%s)", choices);
            fputs("' ", out);
        }
        fputs("'*:file:_files' ;;\n", out);
    }
    fputs("esac\n", out);
}

static void complete_fish(FILE *out)
{
    char choices[OPTION_CHOICES_SIZE];

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
            if (option_choices(row, " ", choices, sizeof choices))
                fprintf(out, " -f -a '%s'", choices);
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
    if (*shell == '\0')
        return err_set(ERR_USAGE, "for which shell? snag completion bash, zsh or fish");
    return err_set(ERR_USAGE, "no completion for '%s': bash, zsh and fish have one", shell);
}
