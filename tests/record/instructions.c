/*
 * Compares how the tracer decodes instructions with what a disassembler says: lines of their
 * bytes in hexadecimal, a tab, and their text. Prints how many there were, and those that
 * differ.
 */
#include "code_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 15

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The disassembler's prefixes are words of their own. */
static const char *without_prefixes(const char *text)
{
    static const char *const prefix[] = {"bnd ", "notrack ", "ds ", "cs ", "repz ", "data16 "};

    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (begins_with(text, prefix[i])) {
            text += strlen(prefix[i]);
            i = (size_t)-1;
        }
    return text;
}

static enum code_flow flow_of(const char *text)
{
    text = without_prefixes(text);
    if (begins_with(text, "call"))
        return CODE_CALLS;
    if (begins_with(text, "jmp"))
        return text[3 + strspn(text + 3, " ")] == '*' ? CODE_UNKNOWN : CODE_JUMPS;
    if (text[0] == 'j' || begins_with(text, "loop"))
        return CODE_BRANCHES;
    if (begins_with(text, "ret") || begins_with(text, "ud2") || begins_with(text, "hlt") ||
        begins_with(text, "int3"))
        return CODE_ENDS;
    return CODE_GOES_ON;
}

static unsigned read_bytes(char *text, unsigned char *bytes)
{
    unsigned n = 0;
    char *end;

    for (;; text = end) {
        unsigned long byte = strtoul(text, &end, 16);

        if (end == text || n == LONGEST)
            return n;
        bytes[n++] = (unsigned char)byte;
    }
}

int main(void)
{
    char line[1024];
    unsigned long n = 0, n_wrong = 0;

    while (fgets(line, sizeof line, stdin)) {
        unsigned char bytes[2 * LONGEST] = {0};
        char *tab = strchr(line, '\t');
        struct code_instruction i;
        enum code_flow flow;
        unsigned length;

        if (tab == NULL || strstr(tab, "(bad)"))
            continue;
        *tab = '\0';
        length = read_bytes(line, bytes);
        i = code_decode((uintptr_t)bytes, length);
        flow = flow_of(tab + 1);
        n++;
        if (i.length == length && i.flow == flow)
            continue;
        n_wrong++;
        printf("%u bytes, flow %d, not %u and %d: %s: %s", i.length, i.flow, length, flow, line,
               tab + 1);
    }
    printf("%lu instructions\n", n);
    return n == 0 || n_wrong > 0;
}
