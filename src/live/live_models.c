/*
 * A path is its caller's path and a region; most calls follow one of the same path, so each
 * path remembers the callee it was asked for last. Rules are read into lists, which are gone
 * through once per region. By region, a row's model is its region, and nothing has to be
 * looked up.
 */
#include "live/live_models.h"

#include "base/err.h"
#include "base/mem.h"
#include "explain/waiting.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------- call paths */

void live_paths_release(struct live_paths *p)
{
    free(p->path);
    idmap_release(&p->id);
    *p = (struct live_paths){0};
}

uint32_t live_paths_add(struct live_paths *p, uint32_t caller, uint32_t region)
{
    struct key key = key_pair(caller, region);
    uint32_t path = idmap_find(&p->id, key);

    if (path == IDMAP_NONE && caller != NO_PATH && p->n >= LIVE_MAX_PATHS)
        return live_paths_add(p, NO_PATH, region);
    if (path == IDMAP_NONE) {
        path = idmap_add(&p->id, key);
        *mem_push(&p->path, &p->n, &p->cap) = (struct live_path){
            region, caller, .last_region = UINT32_MAX, .last_callee = NO_PATH};
    }
    if (caller != NO_PATH) {
        p->path[caller].last_region = region;
        p->path[caller].last_callee = path;
    }
    return path;
}

char *live_paths_name(const struct live_paths *p, uint32_t path, const struct definitions *defs)
{
    size_t length = 0;
    char *name, *at;

    for (uint32_t i = path; i != NO_PATH; i = p->path[i].caller)
        length += strlen(defs->names.name[p->path[i].region]) + 1;
    name = mem_alloc(length, 1);
    at = name + length; /* the last region ends with zero, the others with a slash */
    for (uint32_t i = path; i != NO_PATH; i = p->path[i].caller) {
        const char *part = defs->names.name[p->path[i].region];
        size_t n = strlen(part);

        *--at = i == path ? '\0' : '/';
        at -= n;
        memcpy(at, part, n);
    }
    return name;
}

/* ------------------------------------------------------------------------------------ rules */

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
    mem_grow(&list->rule, &list->cap, list->n + 1);
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

/* ----------------------------------------------------------------------------------- models */

#define GROWTH 1.05 /* a judge is made anew when its model has so many times the calls */

void live_models_init(struct live_models *m, const struct live_models_opts *opts)
{
    *m = (struct live_models){.opts = *opts};
}

void live_models_release(struct live_models *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        sketch_release(&m->model[i].sketch);
        sketch_release(&m->model[i].step);
        sketch_release(&m->model[i].shared);
        call_judge_release(&m->model[i].judge);
    }
    for (uint32_t l = 0; l < m->n_locations; l++)
        free(m->keys[l].key);
    free(m->keys);
    free(m->noise);
    free(m->model);
    live_paths_release(&m->paths);
    *m = (struct live_models){0};
}

static void add_model(struct live_models *m, uint32_t region, const struct definitions *defs)
{
    struct live_rules *rules = m->opts.rules;
    struct live_model *model;

    model = mem_push(&m->model, &m->n, &m->cap);
    *model = (struct live_model){.region = region,
                                 .function = UINT32_MAX,
                                 .may_wait = waiting_is_likely(&defs->region[region])};
    sketch_init(&model->sketch);
    sketch_init(&model->step);
    sketch_init(&model->shared);
    if (rules) {
        model->is_ignored = live_rules_is_ignored(rules, &defs->region[region]);
        model->threshold = live_rules_threshold(rules, &defs->region[region]);
    }
}

void live_models_follow(struct live_models *m, const struct definitions *defs)
{
    while (!m->opts.is_by_path && m->n < defs->names.n)
        add_model(m, m->n, defs);
    mem_grow(&m->keys, &m->keys_cap, defs->n_locations);
    while (m->n_locations < defs->n_locations)
        m->keys[m->n_locations++] = (struct live_keys){0};
}

const uint32_t *live_models_key(struct live_models *m, uint32_t location, const struct calls *c,
                                const struct definitions *defs)
{
    struct live_keys *k = &m->keys[location];

    if (!m->opts.is_by_path)
        return c->region;
    mem_grow(&k->key, &k->cap, (size_t)c->n + 1);
    for (uint32_t row = 0; row < c->n; row++) { /* callers come first */
        uint32_t caller = c->caller[row] == NO_CALL ? NO_PATH : k->key[c->caller[row]];

        k->key[row] = live_paths_callee(&m->paths, caller, c->region[row]);
    }
    while (m->n < m->paths.n)
        add_model(m, m->paths.path[m->n].region, defs);
    return k->key;
}

uint64_t live_models_learn(struct live_models *m, const uint32_t *key, const struct calls *c)
{
    uint64_t n = 0;

    for (uint32_t row = 0; row < c->n; row++) {
        struct live_model *model = &m->model[key[row]];

        if (c->inclusive_ns[row] == CALL_OPEN)
            continue;
        n++;
        if (!model->is_ignored)
            sketch_add(m->opts.has_server ? &model->step : &model->sketch,
                       live_models_time(m, c, row));
    }
    return n;
}

static void fit(const struct live_models *m, struct live_model *model)
{
    struct call_detector_opts opts = m->opts.detector_opts;
    const struct sketch *known = live_models_known(model);

    opts.may_wait = model->may_wait;
    if (model->threshold > 0)
        opts.p = opts.sigmas = opts.score_share = model->threshold; /* each looks at its own */
    call_judge_fit(&model->judge, m->opts.detector, &opts, known);
    model->n_fitted = known->n;
}

void live_models_fit(struct live_models *m)
{
    bool is_any_new = false;

    for (uint32_t i = 0; i < m->n; i++) {
        struct live_model *model = &m->model[i];
        uint64_t n = live_models_known(model)->n;

        if (n < m->opts.least_calls || n == 0 || model->is_ignored)
            continue;
        if ((double)n < GROWTH * (double)model->n_fitted && n >= model->n_fitted)
            continue;
        fit(m, model);
        is_any_new = true;
    }
    if (is_any_new) {
        mem_grow(&m->noise, &m->noise_cap, m->n);
        for (uint32_t i = 0; i < m->n; i++)
            m->noise[i] = m->model[i].n_fitted > 0 ? m->model[i].judge.noise_ns : INFINITY;
        m->noise_ns = call_noise(m->noise, m->n);
    }
}

char *live_models_name(const struct live_models *m, uint32_t model,
                       const struct definitions *defs)
{
    return m->opts.is_by_path ? live_paths_name(&m->paths, model, defs)
                              : mem_copy_string(defs->names.name[model]);
}
