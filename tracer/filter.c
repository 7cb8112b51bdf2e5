/* A file that cannot be read, or a line that is no rule, must not cost a long run its trace:
 * it is left out, and said once MPI has started and it is known who is rank 0. */
#include "filter.h"

#include "memory.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    bool is_include;
    char *pattern;
};

static struct rule *rules;
static size_t n_rules, cap_rules;
static bool is_read;
static char trouble[256];

/* True for a rule, a comment or an empty line. */
static bool add_rule(const char *line)
{
    char verb[16], pattern[4096], rest[2];
    int n = sscanf(line, "%15s %4095s %1s", verb, pattern, rest);

    if (n <= 0 || verb[0] == '#')
        return true;
    if (n < 2 || (n == 3 && rest[0] != '#') ||
        (strcmp(verb, "include") != 0 && strcmp(verb, "exclude") != 0))
        return false;
    if (memory_grow(&rules, n_rules, cap_rules))
        rules[n_rules++] = (struct rule){verb[0] == 'i', memory_copy(pattern)};
    return true;
}

static void read_rules(const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t cap = 0;

    if (file == NULL) {
        snprintf(trouble, sizeof trouble, "cannot read filter '%.120s': %s", path,
                 strerror(errno));
        return;
    }
    for (unsigned n = 1; getline(&line, &cap, file) >= 0; n++)
        if (!add_rule(line) && trouble[0] == '\0')
            snprintf(trouble, sizeof trouble,
                     "filter '%.120s', line %u: not 'include PATTERN' or 'exclude PATTERN'",
                     path, n);
    free(line);
    fclose(file);
}

/* When the library is loaded, as the first call may come in the midst of the program's malloc;
 * or before that, by what the constructors of other libraries call. */
__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("SNAG_TRACER_FILTER");

    if (is_read)
        return;
    is_read = true;
    if (path && path[0])
        read_rules(path);
}

bool filter_includes(const char *name)
{
    begin();
    for (size_t i = n_rules; i-- > 0;)
        if (fnmatch(rules[i].pattern, name, 0) == 0)
            return rules[i].is_include;
    return true;
}

const char *filter_trouble(void)
{
    return trouble;
}
