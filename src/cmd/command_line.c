#include "cmd/command_line.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

static void put_quoted(FILE *out, const char *word)
{
    fputc('\'', out);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc(*word, out);
    fputc('\'', out);
}

static void put_word(FILE *out, const char *word)
{
    if (*word && word[strspn(word, PLAIN)] == '\0')
        fputs(word, out);
    else
        put_quoted(out, word);
}

char *command_line_word(const char *word)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        mem_give_up(1, BUFSIZ);
    put_quoted(out, word);
    fclose(out);
    return text;
}

/* Says by whom it is done, not what, and a run is the same whoever makes it. */
static bool is_about_processes(const char *word)
{
    return strlen(word) > 3 && strncmp(word, "--together", strlen(word)) == 0;
}

char *command_line(const struct settings *settings)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        mem_give_up(1, BUFSIZ);
    fputs("snag", out);
    for (int i = 0; i < settings->n_words; i++) {
        if (is_about_processes(settings->words[i]))
            continue;
        fputc(' ', out);
        put_word(out, settings->words[i]);
    }
    fclose(out);
    return text;
}
