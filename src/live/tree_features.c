/* A table, and what its columns are computed by. */
#include "live/tree_features.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS 1000.0 /* no clock is taken to be better */

static uint64_t duration(const struct live_forest *lf, uint32_t t)
{
    return forest_own_ns(&lf->forest, t);
}

static uint64_t exclusive(const struct live_forest *lf, uint32_t t)
{
    return lf->forest.exclusive_ns[lf->forest.first[t]];
}

static uint64_t exit_time(const struct live_forest *lf, uint32_t t)
{
    return lf->forest.enter_ns[t] + lf->forest.root_ns[t];
}

static uint64_t messages(const struct live_forest *lf, uint32_t t)
{
    return lf->forest.n_messages[t];
}

/* Messages per second. */
static uint64_t rate(const struct live_forest *lf, uint32_t t)
{
    uint64_t ns = forest_own_ns(&lf->forest, t);

    return (uint64_t)((double)lf->forest.n_messages[t] * 1e9 / (double)(ns ? ns : 1));
}

static uint64_t n_calls(const struct live_forest *lf, uint32_t t)
{
    uint32_t n_vertices = lf->forest.first[t + 1] - lf->forest.first[t];

    return lf->n_calls[t] - (forest_n_rows(&lf->forest, t) - n_vertices); /* the program's */
}

/* Vertices on the longest path. The parent of the last vertex at each depth is enough. */
static uint64_t depth(const struct live_forest *lf, uint32_t t)
{
    const struct forest *f = &lf->forest;
    uint32_t first = f->first[t], n = f->first[t + 1] - first, deepest = 1;
    uint32_t *of = mem_resize(NULL, n, sizeof *of);

    of[0] = 1;
    for (uint32_t i = 1; i < n; i++) {
        of[i] = of[f->parent[first + i] - first] + 1;
        deepest = of[i] > deepest ? of[i] : deepest;
    }
    free(of);
    return deepest;
}

static char *number_text(double value, char out[TEXT_SIZE])
{
    return text_count((uint64_t)llrint(fmax(value, 0)), out);
}

static const struct tree_feature features[] = {
    {"duration", "took", "", 0.01, TICK_NS, duration, text_duration},
    {"exclusive", "took, without the calls in it,", "", 0.01, TICK_NS, exclusive,
     text_duration},
    {"exit", "was left at", "", 0, TICK_NS, exit_time, text_duration},
    {"messages", "had", " messages", 0.01, 1, messages, number_text},
    {"rate", "had", " messages per second", 0.01, 1, rate, number_text},
    {"calls", "had", " calls", 0.01, 1, n_calls, number_text},
    {"depth", "was", " calls deep", 0.01, 1, depth, number_text},
};
#define N_FEATURES (sizeof features / sizeof *features)

static const struct tree_feature *find(const char *name, size_t length)
{
    for (size_t i = 0; i < N_FEATURES; i++)
        if (strlen(features[i].name) == length && memcmp(features[i].name, name, length) == 0)
            return &features[i];
    return NULL;
}

static int complain(const char *name, size_t length)
{
    char all[256] = "";
    size_t n = 0;

    for (size_t i = 0; i < N_FEATURES; i++)
        n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", features[i].name);
    return err_set(ERR_USAGE, "no such feature of executions: '%.*s'; there are %s",
                   (int)length, name, all);
}

int tree_features_parse(const char *names, const struct tree_feature **feature)
{
    int n = 0;

    for (;;) {
        size_t length = strcspn(names, ",");
        const struct tree_feature *found = find(names, length);

        if (found == NULL)
            return complain(names, length);
        for (int i = 0; i < n; i++)
            if (feature[i] == found)
                return err_set(ERR_USAGE, "feature '%s' is named twice", found->name);
        feature[n++] = found; /* so there are never more than the table has */
        if (names[length] == '\0')
            return n;
        names += length + 1;
    }
}

uint64_t tree_feature_value(const struct tree_feature *feature, const struct live_forest *lf,
                            uint32_t t)
{
    uint64_t value = feature->value(lf, t);

    return value < TREE_FEATURE_MAX ? value : TREE_FEATURE_MAX;
}
