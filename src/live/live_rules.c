/* Lines are read into lists, which are gone through once per region. */
#include "live/live_rules.h"

#include "base/err.h"
#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading_at {
    const char *path;
    unsigned line;
    double most;
};

/* Without white space at both ends. */
static char *trim(char *text)
{
    size_t n;

    text += strspn(text, " \t\r\n");
    n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        text[--n] = '\0';
    return text;
}

static struct live_rule *add(struct live_rule_list *list, const char *name)
{
    mem_grow(&list->rule, &list->cap, list->n + 1, sizeof *list->rule);
    list->rule[list->n] = (struct live_rule){.name = mem_copy_string(name)};
    return &list->rule[list->n++];
}

static int add_ignored(struct live_rule_list *list, char *text, const struct reading_at *at)
{
    size_t n = strlen(text);
    struct live_rule *rule = add(list, text);
    char why[200];
    int status;

    if (n < 2 || text[0] != '/' || text[n - 1] != '/')
        return 0;
    text[n - 1] = '\0';
    status = regcomp(&rule->regex, text + 1, REG_EXTENDED | REG_NOSUB);
    rule->is_regex = status == 0;
    if (rule->is_regex)
        return 0;
    regerror(status, &rule->regex, why, sizeof why);
    return err_set(ERR_FORMAT, "bad regular expression in '%s', line %u: %s", at->path,
                   at->line, why);
}

/* Names may have spaces in them: the threshold is what is after the last one. */
static int add_threshold(struct live_rule_list *list, char *text, const struct reading_at *at)
{
    char *last = text + strlen(text), *end;
    double value;

    while (last > text && !isspace((unsigned char)last[-1]))
        last--;
    value = strtod(last, &end);
    if (last == text || *end != '\0' || !(value > 0 && value < at->most))
        return err_set(ERR_FORMAT,
                       "no name and threshold (above 0, below %g) in '%s', line %u: '%s'",
                       at->most, at->path, at->line, text);
    last[-1] = '\0';
    add(list, trim(text))->threshold = value;
    return 0;
}

static int read_lines(struct live_rule_list *list, struct reading_at at,
                      int (*take)(struct live_rule_list *, char *, const struct reading_at *))
{
    FILE *file = fopen(at.path, "r");
    char *line = NULL;
    size_t cap = 0;
    int rc = 0;

    if (file == NULL)
        return err_set(ERR_IO, "cannot read '%s': %s", at.path, strerror(errno));
    for (; rc == 0 && getline(&line, &cap, file) >= 0; at.line++) {
        char *text = trim(line);

        if (*text != '\0' && *text != '#')
            rc = take(list, text, &at);
    }
    if (rc == 0 && ferror(file))
        rc = err_set(ERR_IO, "cannot read '%s': %s", at.path, strerror(errno));
    free(line);
    fclose(file);
    return rc;
}

int live_rules_ignore(struct live_rules *rules, const char *path)
{
    return read_lines(&rules->ignore, (struct reading_at){path, 1, 0}, add_ignored);
}

int live_rules_thresholds(struct live_rules *rules, const char *path, double most)
{
    return read_lines(&rules->threshold, (struct reading_at){path, 1, most}, add_threshold);
}

static void release(struct live_rule_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->rule[i].is_regex)
            regfree(&list->rule[i].regex);
        free(list->rule[i].name);
    }
    free(list->rule);
}

void live_rules_release(struct live_rules *rules)
{
    release(&rules->ignore);
    release(&rules->threshold);
    *rules = (struct live_rules){0};
}

static bool is_of(const struct live_rule *rule, const char *name)
{
    return rule->is_regex ? regexec(&rule->regex, name, 0, NULL, 0) == 0
                          : strcmp(rule->name, name) == 0;
}

/* The last rule that is of the region, or NULL. */
static const struct live_rule *find(struct live_rule_list *list, const struct region *region)
{
    const struct live_rule *found = NULL;

    for (size_t i = 0; i < list->n; i++) {
        struct live_rule *rule = &list->rule[i];

        if (is_of(rule, region->name) || is_of(rule, region->short_name) ||
            is_of(rule, region->plain) || is_of(rule, region->identity)) {
            rule->is_used = true;
            found = rule;
        }
    }
    return found;
}

bool live_rules_is_ignored(struct live_rules *rules, const struct region *region)
{
    return find(&rules->ignore, region) != NULL;
}

double live_rules_threshold(struct live_rules *rules, const struct region *region)
{
    const struct live_rule *rule = find(&rules->threshold, region);

    return rule ? rule->threshold : 0;
}
