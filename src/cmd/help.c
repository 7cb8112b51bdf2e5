/*
 * What snag says of itself: help for the terminal, completions for shells, manual pages. All
 * walk the same rows, the tables of commands and options.
 *
 * Pages are written in mdoc; that of the formats is docs/formats.md, which is part of the
 * program. What goes to a terminal is formatted by man, where there is one.
 */
#include "cmd/help.h"

#include "base/err.h"
#include "base/text.h"
#include "trace/source.h"
#include "trace/stream.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --------------------------------------------------------------------- help and completions */

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

/* What stands beside the commands: these are not about traces, and take no options. */
static const struct {
    const char *name, *usage, *summary;
} others[] = {
    {"help", "[COMMAND]", "what a command takes"},
    {"man", "[COMMAND|formats]", "the manual page of a command, or of the files"},
    {"completion", "bash|zsh|fish", "what makes a shell complete the arguments of snag"},
    {"version", "[--json]", "the version of this program"}};

#define N_OTHERS (sizeof others / sizeof *others)

bool help_other(FILE *out, const char *name)
{
    for (size_t i = 0; i < N_OTHERS; i++)
        if (strcmp(others[i].name, name) == 0) {
            fprintf(out, "usage: snag %s %s\n\n%s.\n", name, others[i].usage,
                    others[i].summary);
            return true;
        }
    return false;
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

/* The command's first argument is what stream_open takes. */
static bool help_reads_streams(const struct command *command)
{
    return strncmp(command->usage, "SOURCE", strlen("SOURCE")) == 0;
}

void help_command(FILE *out, const struct command *command)
{
    fprintf(out, "usage: snag %s %s\n\n%s.\n\n", command->name, command->usage,
            command->summary);
    print_paragraphs(out, command->description);
    if (help_reads_streams(command)) {
        fputs("\nSOURCE is one of\n", out);
        for (const struct stream_ops *const *s = stream_list(); *s; s++) {
            fputs("  ", out);
            print_wrapped(out, (*s)->what, strlen((*s)->what), 4, 2);
        }
    }
    fputs("\noptions:\n", out);
    for (const struct option_row *row = option_list(); row->name; row++)
        if (command_takes(command, row))
            print_option(out, row);
    if (command->example)
        fprintf(out, "\nexamples:\n%s\n", command->example);
}

/* --------------------------------------------------------------------------- completion */

static void complete_bash(FILE *out)
{
    char choices[OPTION_CHOICES_SIZE];

    fputs("# bash completion of snag\n_snag()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]}\n"
          "    local prev=${COMP_WORDS[COMP_CWORD - 1]}\n    local commands='",
          out);
    for (const struct command *c = command_list(); c->name; c++)
        fprintf(out, "%s%s", c == command_list() ? "" : " ", c->name);
    fputs("'\n    local others='", out);
    for (size_t i = 0; i < N_OTHERS; i++)
        fprintf(out, "%s%s", i ? " " : "", others[i].name);
    fputs("'\n    if ((COMP_CWORD == 1)); then\n"
          "        COMPREPLY=($(compgen -W \"$commands $others\" -- \"$cur\"))\n"
          "        return\n    fi\n    case $prev in\n"
          "        help | man) COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\")); return ;;\n"
          "        completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")); return "
          ";;\n",
          out);
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
    for (size_t i = 0; i < N_OTHERS; i++)
        fprintf(out, "  '%s:%s'\n", others[i].name, others[i].summary);
    fputs(")\nif ((CURRENT == 2)); then\n  _describe command commands\n  return\nfi\n"
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

/* ----------------------------------------------------------------------------- manual pages */

#define FORMATS "formats" /* the page that is of no command */
#define LINE_WIDTH 68     /* before dashes are escaped */

/* A character, with what means something to mdoc made harmless. */
static void put_mdoc_char(FILE *out, char c, bool is_line_start)
{
    if (is_line_start && (c == '.' || c == '\''))
        fputs("\\&", out);
    if (c == '\\')
        fputs("\\e", out);
    else if (c == '-')
        fputs("\\-", out);
    else
        fputc(c, out);
}

/* Lines as they are. */
static void put_literal(FILE *out, const char *text)
{
    for (bool is_line_start = true; *text; text++) {
        put_mdoc_char(out, *text, is_line_start);
        is_line_start = *text == '\n';
    }
}

/* Words in lines of a width; mdoc wants every sentence to start on a line of its own. */
static void put_words(FILE *out, const char *text, size_t length)
{
    const char *end = text + length;
    size_t column = 0;
    bool is_sentence_end = false;

    while (text < end) {
        size_t n = strcspn(text, " \n");

        if (n > (size_t)(end - text))
            n = (size_t)(end - text);
        if (column > 0 && (is_sentence_end || column + 1 + n > LINE_WIDTH)) {
            fputc('\n', out);
            column = 0;
        } else if (column > 0) {
            fputc(' ', out);
            column++;
        }
        for (size_t i = 0; i < n; i++)
            put_mdoc_char(out, text[i], column++ == 0);
        is_sentence_end = n > 0 && text[n - 1] == '.';
        text += n;
        text += strspn(text, " \n");
    }
}

static void put_mdoc(FILE *out, const char *text)
{
    put_words(out, text, strlen(text));
}

/* Paragraphs: an empty line becomes .Pp. */
static void put_paragraphs(FILE *out, const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);

        put_words(out, text, length);
        fputc('\n', out);
        text += length;
        if (*text) {
            fputs(".Pp\n", out);
            text += 2;
        }
    }
}

/* "RUN --labels FILE [options]" as a synopsis. */
static void man_usage(FILE *out, const char *usage)
{
    while (*usage) {
        int n = (int)strcspn(usage, *usage == '[' ? "]" : " ") + (*usage == '[');

        if (*usage == '[')
            fprintf(out, ".Op Ar %.*s\n", n - 2, usage + 1);
        else if (strncmp(usage, "--", 2) == 0)
            fprintf(out, ".Fl Fl %.*s\n", n - 2, usage + 2);
        else
            fprintf(out, ".Ar %.*s\n", n, usage);
        usage += n;
        usage += strspn(usage, " ");
    }
}

static void man_options(FILE *out, const struct command *command)
{
    char text[512];

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
        option_describe(row, text, sizeof text - 1);
        strcat(text, ".");
        put_mdoc(out, text);
        fputc('\n', out);
    }
    fputs(".El\n", out);
}

static void man_head(FILE *out, const char *name, int section, const char *summary)
{
    char upper[64];
    size_t n = 0;

    for (; name[n] && n + 1 < sizeof upper; n++)
        upper[n] = (char)toupper((unsigned char)name[n]);
    upper[n] = '\0';
    fprintf(out, ".Dd $Mdocdate$\n.Dt %s %d\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", upper, section,
            name);
    put_mdoc(out, summary);
    fputc('\n', out);
}

static void man_status(FILE *out)
{
    fputs(".Sh ENVIRONMENT\nEvery option that takes a value can be set by a variable of its\n"
          "name in capitals after\n.Ev SNAG_ ,\nas in\n.Ev SNAG_THREADS .\n.Ev NO_COLOR\n"
          "turns colours off.\n"
          ".Sh EXIT STATUS\n.Bl -tag -width Ds\n.It 0\ndone\n.It 1\nfailed\n.It 2\nbad usage\n"
          ".It 3\ndone, but the trace was damaged; what was skipped or repaired is reported\n"
          ".It 4\ndone, and beyond a limit of\n.Fl -fail-on ;\nnothing else ends so\n"
          ".El\n",
          out);
}

static void man_overview(FILE *out)
{
    man_head(out, "snag", 1, SNAG_SUMMARY);
    fputs(".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar argument ...\n.Sh DESCRIPTION\n", out);
    fputs("The commands are:\n.Bl -tag -width Ds\n", out);
    for (const struct command *c = command_list(); c->name; c++) {
        fprintf(out, ".It Xr snag\\-%s 1\n", c->name);
        put_mdoc(out, c->summary);
        fputc('\n', out);
    }
    fputs(".El\n.Pp\nBesides,\n.Nm\n.Cm help\nprints what a command takes,\n.Nm\n.Cm man\n"
          "these pages, and\n.Nm\n.Cm completion\nwhat makes bash, zsh or fish complete its "
          "arguments.\n"
          ".Pp\nA trace is one of\n.Bl -tag -width Ds\n",
          out);
    for (const struct source_ops *const *s = source_list(); *s; s++) {
        fprintf(out, ".It Cm %s\n", (*s)->name);
        put_mdoc(out, (*s)->what);
        fputc('\n', out);
    }
    fputs(".El\n", out);
    man_status(out);
    fputs(".Sh SEE ALSO\n.Xr snag\\-formats 5\n", out);
}

static void man_command(FILE *out, const struct command *command)
{
    char title[64];

    snprintf(title, sizeof title, "snag-%s", command->name);
    man_head(out, title, 1, command->summary);
    fprintf(out, ".Sh SYNOPSIS\n.Nm snag %s\n", command->name);
    man_usage(out, command->usage);
    fputs(".Sh DESCRIPTION\n", out);
    put_paragraphs(out, command->description);
    if (help_reads_streams(command)) {
        fputs(".Pp\n.Ar SOURCE\nis one of\n.Bl -bullet\n", out);
        for (const struct stream_ops *const *s = stream_list(); *s; s++) {
            fputs(".It\n", out);
            put_mdoc(out, (*s)->what);
            fputc('\n', out);
        }
        fputs(".El\n", out);
    }
    fputs(".Pp\nThe options are:\n", out);
    man_options(out, command);
    man_status(out);
    if (command->example) {
        fputs(".Sh EXAMPLES\n.Bd -literal\n", out);
        put_literal(out, command->example);
        fputs("\n.Ed\n", out);
    }
    fputs(".Sh SEE ALSO\n.Xr snag 1 ,\n.Xr snag\\-formats 5\n", out);
}

/* ------------------------------------------------------------------------- from Markdown */

static const char formats[] =
#include "cmd/formats.inc"
    ;

enum block { BLOCK_NONE, BLOCK_TEXT, BLOCK_LIST, BLOCK_TABLE, BLOCK_LITERAL };

/* A page on its way from Markdown, of which only what docs/formats.md uses is known. */
struct page {
    FILE *out;
    enum block block; /* that is open */
    bool has_text;    /* since the last heading */
    bool is_table_body, has_rows;
    char text[8192]; /* [n] of the paragraph, item or cell so far */
    size_t n;
};

static void add_text(struct page *p, const char *text, size_t n)
{
    if (p->n > 0 && p->n + 1 < sizeof p->text)
        p->text[p->n++] = ' ';
    if (n > sizeof p->text - p->n)
        n = sizeof p->text - p->n;
    memcpy(p->text + p->n, text, n);
    p->n += n;
}

/* The text without the marks of code, emphasis and links: "[text](target)" is text. */
static void put_text(struct page *p)
{
    char plain[sizeof p->text];
    size_t n = 0;
    bool is_code = false;

    for (size_t i = 0; i < p->n; i++) {
        const char *rest = p->text + i;
        size_t left = p->n - i;

        if (*rest == '`') {
            is_code = !is_code;
        } else if (!is_code && *rest == ']' && left > 1 && rest[1] == '(') {
            const char *end = memchr(rest, ')', left);

            i += end ? (size_t)(end - rest) : 0;
        } else if (is_code || !strchr("*[", *rest)) {
            if (*rest == '\\' && left > 1 && rest[1] == '|')
                continue;
            plain[n++] = *rest;
        }
    }
    put_words(p->out, plain, n);
    fputc('\n', p->out);
    p->n = 0;
}

static void end_block(struct page *p)
{
    if (p->n > 0)
        put_text(p);
    if (p->block == BLOCK_LIST || (p->block == BLOCK_TABLE && p->has_rows))
        fputs(".El\n", p->out);
    else if (p->block == BLOCK_LITERAL)
        fputs(".Ed\n", p->out);
    p->block = BLOCK_NONE;
}

static void begin_block(struct page *p, enum block block)
{
    if (p->block == block)
        return;
    end_block(p);
    if (block == BLOCK_TEXT && p->has_text)
        fputs(".Pp\n", p->out);
    else if (block == BLOCK_LIST)
        fputs(".Bl -bullet\n", p->out);
    else if (block == BLOCK_LITERAL)
        fputs(".Bd -literal -offset indent\n", p->out);
    p->block = block;
    p->has_text = true;
    p->is_table_body = p->has_rows = false;
}

static void put_heading(struct page *p, const char *line, size_t n)
{
    size_t n_marks = strspn(line, "#");

    end_block(p);
    fputs(n_marks > 2 ? ".Ss " : ".Sh ", p->out);
    add_text(p, line + n_marks + 1, n - n_marks - 1);
    put_text(p);
    p->has_text = false;
}

/* "| a | b | c |": a is what b and c are said of. The rows up to "|---|" are a head. */
static void put_row(struct page *p, const char *line, size_t n)
{
    const char *end = line + n;
    bool is_first = true;

    begin_block(p, BLOCK_TABLE);
    if (strncmp(line, "|---", 4) == 0) {
        p->is_table_body = true;
        return;
    }
    if (!p->is_table_body)
        return;
    fputs(p->has_rows ? ".It " : ".Bl -tag -width Ds\n.It ", p->out);
    p->has_rows = true;
    for (const char *cell = line + 1; cell < end;) {
        const char *bar = cell;

        while (bar < end && (*bar != '|' || bar[-1] == '\\'))
            bar++;
        if (bar > cell + 2) {
            if (p->n > 0 && p->n < sizeof p->text)
                p->text[p->n++] = ';';
            add_text(p, cell + 1, (size_t)(bar - cell) - 2);
        }
        if (is_first)
            put_text(p);
        is_first = false;
        cell = bar + 1;
    }
    if (p->n > 0)
        put_text(p);
}

static void put_line(struct page *p, const char *line, size_t n)
{
    if (n == 0 && p->block != BLOCK_LITERAL) {
        if (p->block == BLOCK_LIST)
            return;
        end_block(p);
    } else if (line[0] == '#') {
        if (line[1] == '#')
            put_heading(p, line, n);
    } else if (line[0] == '|') {
        put_row(p, line, n);
    } else if (strncmp(line, "    ", 4) == 0 || (n == 0 && p->block == BLOCK_LITERAL)) {
        begin_block(p, BLOCK_LITERAL);
        for (size_t i = n < 4 ? n : 4; i < n; i++)
            put_mdoc_char(p->out, line[i], i == 4);
        fputc('\n', p->out);
    } else if (strncmp(line, "- ", 2) == 0) {
        begin_block(p, BLOCK_LIST);
        if (p->n > 0)
            put_text(p);
        fputs(".It\n", p->out);
        add_text(p, line + 2, n - 2);
    } else if (p->block == BLOCK_LIST && line[0] == ' ') {
        add_text(p, line + strspn(line, " "), n - strspn(line, " "));
    } else {
        begin_block(p, BLOCK_TEXT);
        add_text(p, line, n);
    }
}

static void man_formats(FILE *out)
{
    struct page page = {.out = out};

    man_head(out, "snag-formats", 5, "what snag writes and prints");
    fputs(".Sh DESCRIPTION\n", out);
    for (const char *line = formats; *line;) {
        size_t n = strcspn(line, "\n");

        put_line(&page, line, n);
        line += n + (line[n] == '\n');
    }
    end_block(&page);
    fputs(".Sh SEE ALSO\n.Xr snag 1\n", out);
}

/* ------------------------------------------------------------------------------- showing */

static int put_page(FILE *out, const char *name)
{
    const struct command *command = command_find(name);

    if (*name == '\0')
        man_overview(out);
    else if (strcmp(name, FORMATS) == 0)
        man_formats(out);
    else if (command)
        man_command(out, command);
    else
        return ERR_NOT_FOUND;
    return 0;
}

static void put_plain(FILE *out, const char *name)
{
    const struct command *command = command_find(name);

    if (strcmp(name, FORMATS) == 0)
        fputs(formats, out);
    else if (command)
        help_command(out, command);
    else
        help_overview(out);
}

/* As man formats it, in its pager. Returns false when there is no man, or none that can. */
static bool show_by_man(const char *page, size_t size)
{
    void (*was)(int) = signal(SIGPIPE, SIG_IGN);
    FILE *man = popen("man -l - 2>/dev/null", "w");
    bool is_shown = man != NULL;

    if (man) {
        fwrite(page, 1, size, man);
        is_shown = pclose(man) == 0;
    }
    signal(SIGPIPE, was);
    return is_shown;
}

int manual_print(const char *name)
{
    char *page = NULL;
    size_t size = 0;
    FILE *memory = text_open(&page, &size);
    int rc = put_page(memory, name);

    fclose(memory);
    if (rc == 0 && !isatty(STDOUT_FILENO))
        fwrite(page, 1, size, stdout);
    else if (rc == 0 && !show_by_man(page, size))
        put_plain(stdout, name);
    free(page);
    return rc;
}
