/* One pass over the name from the left, after a look whether there is anything to do at all. */
#include "trace/chrome/record_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MIN_ADDRESS_DIGITS 4 /* digits: 0x1 is a number */

/* The length of the word for a step that text ends with, or 0. */
static size_t step_word(const char *text, size_t end)
{
    static const char *const words[] = {"step", "iteration", "iter", "epoch", "batch"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);

        if (end >= length && strncasecmp(text + end - length, words[i], length) == 0)
            return length;
    }
    return 0;
}

/* How much of what stands before a number goes with it. */
static size_t separator(const char *out, size_t n)
{
    size_t begin = n;

    while (begin > 0 && strchr("#: =_-(", out[begin - 1]))
        begin--;
    return n - begin;
}

/* Skips "0x7f3c2a10"; returns its length, or 0 where there is none. */
static size_t address_at(const char *text)
{
    size_t n;

    if (text[0] != '0' || text[1] != 'x')
        return 0;
    n = strspn(text + 2, "0123456789abcdefABCDEF");
    return n >= MIN_ADDRESS_DIGITS ? n + 2 : 0;
}

#define MODULE "nn.Module: "

struct renaming {
    char *out;
    size_t n, size;
    bool is_step;
    bool is_module; /* it is that of an object of PyTorch's, which are numbered by class */
    uint64_t *number;
};

static void put(struct renaming *r, char c)
{
    if (r->n + 1 < r->size)
        r->out[r->n++] = c;
}

/* The number at text[0 .. length): kept, or not. Returns how much of text goes with it. */
static size_t take_number(struct renaming *r, const char *text, size_t length)
{
    size_t before = separator(r->out, r->n), rest = r->n - before;
    bool is_step = !r->is_module && before > 0 && step_word(r->out, rest) > 0;
    bool is_hash = before > 0 && r->out[r->n - 1] == '#';
    bool is_last = before > 0 && r->out[r->n - 1] == ' ' && text[length] == '\0';
    bool is_word_after = isalnum((unsigned char)text[length]) || text[length] == '_' ||
                         text[length] == '.' || text[length] == '}'; /* {lambda(int)#1} */
    bool is_module = r->is_module && before > 0 && text[length] == '\0';

    if (rest > 0 && !is_word_after && (is_step || is_hash || is_last || is_module)) {
        bool is_closed = text[length] == ')' && memchr(r->out + rest, '(', before);

        r->n = rest;
        r->is_step |= is_step;
        *r->number = strtoull(text, NULL, 10);
        return length + is_closed;
    }
    for (size_t i = 0; i < length; i++)
        put(r, text[i]);
    return length;
}

bool record_name(const char *name, char *out, size_t size, uint64_t *number)
{
    struct renaming r = {.out = out,
                         .size = size,
                         .is_module = strncmp(name, MODULE, sizeof MODULE - 1) == 0,
                         .number = number};
    bool is_in_word = false;

    if (strpbrk(name, "0123456789") == NULL) {
        snprintf(out, size, "%s", name);
        return false;
    }
    while (*name) {
        size_t length = is_in_word ? 0 : address_at(name), digits;
        bool is_word = isalnum((unsigned char)*name);

        if (length > 0) {
            put(&r, '0');
            put(&r, 'x');
        } else if (!is_in_word && (digits = strspn(name, "0123456789")) > 0) {
            length = take_number(&r, name, digits);
        } else {
            put(&r, *name);
            length = 1;
        }
        is_in_word = is_word;
        name += length;
    }
    out[r.n] = '\0';
    return r.is_step;
}
