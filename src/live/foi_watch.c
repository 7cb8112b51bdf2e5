/* The rules are foi_match's; here is only what it is to be told. */
#include "live/foi_watch.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

#include <stdlib.h>

int foi_watch_init(struct foi_watch *w, const char *const *pattern, uint32_t n_patterns)
{
    const struct definitions nothing = {.n_locations = 0};
    uint32_t region[MAX_FOIS];
    size_t n;

    *w = (struct foi_watch){.n_patterns = n_patterns};
    w->pattern = mem_alloc(n_patterns, sizeof *w->pattern);
    w->is_too_much = mem_alloc(n_patterns, sizeof *w->is_too_much);
    for (uint32_t p = 0; p < n_patterns; p++)
        w->pattern[p] = mem_copy_string(pattern[p]);
    for (uint32_t p = 0; p < n_patterns; p++) {
        int rc = foi_match(pattern[p], &nothing, &w->called, region, &n);

        if (rc < 0 && rc != ERR_NOT_FOUND)
            return rc;
    }
    return 0;
}

void foi_watch_name(struct foi_watch *w, const char *name)
{
    uint32_t n = w->n_patterns++;

    w->pattern = mem_resize(w->pattern, w->n_patterns, sizeof *w->pattern);
    w->is_too_much = mem_resize(w->is_too_much, w->n_patterns, sizeof *w->is_too_much);
    w->pattern[n] = mem_copy_string(name);
    w->is_too_much[n] = false;
}

void foi_watch_release(struct foi_watch *w)
{
    for (uint32_t p = 0; p < w->n_patterns; p++)
        free(w->pattern[p]);
    free(w->pattern);
    free(w->is_too_much);
    free(w->is_called);
    free(w->called.row);
    *w = (struct foi_watch){0};
}

static void follow_definitions(struct foi_watch *w, const struct definitions *defs)
{
    mem_grow(&w->is_called, &w->called_cap, defs->names.n, sizeof *w->is_called);
    mem_grow(&w->called.row, &w->region_cap, defs->names.n, sizeof *w->called.row);
    for (; w->called.n_regions < defs->names.n; w->called.n_regions++) {
        w->is_called[w->called.n_regions] = false;
        w->called.row[w->called.n_regions] = (struct profile_row){0};
    }
}

void foi_watch_add(struct foi_watch *w, const struct calls *calls,
                   const struct definitions *defs)
{
    follow_definitions(w, defs);
    for (uint32_t row = calls->n_carried; row < calls->n; row++) {
        uint32_t region = calls->region[row];

        if (w->is_called[region])
            continue;
        w->is_called[region] = w->is_changed = true;
        w->called.row[region].n_calls = 1;
    }
}

static size_t add(uint32_t *all, size_t n, uint32_t region)
{
    for (size_t i = 0; i < n; i++)
        if (all[i] == region)
            return n;
    if (n < MAX_FOIS)
        all[n++] = region;
    return n;
}

/* A loop that is sought is not to be taken for a function whose name is merely like it. */
static bool waits_for_loop(const struct foi_watch *w, uint32_t p,
                           const struct definitions *defs)
{
    if (!foi_is_loop(w->pattern[p]) ||
        foi_tier(w->pattern[p], defs, &w->called) + 1 < FOI_NO_MATCH)
        return false;
    for (uint32_t r = 0; r < w->called.n_regions; r++)
        if (w->is_called[r] && defs->region[r].kind == REGION_LOOP)
            return false;
    return true;
}

static bool waits_for_better(const struct foi_watch *w, uint32_t p,
                             const struct definitions *defs)
{
    if (waits_for_loop(w, p, defs))
        return true;
    return foi_tier(w->pattern[p], defs, NULL) < foi_tier(w->pattern[p], defs, &w->called);
}

size_t foi_watch_match(struct foi_watch *w, const struct definitions *defs, uint32_t *region)
{
    size_t n = 0;

    for (uint32_t p = 0; p < w->n_patterns; p++) {
        uint32_t found[MAX_FOIS];
        size_t n_found = 0;
        int rc;

        if (waits_for_better(w, p, defs))
            continue;
        rc = foi_match(w->pattern[p], defs, &w->called, found, &n_found);
        if (rc < 0 && rc != ERR_NOT_FOUND && !w->is_too_much[p]) {
            log_warn("trees", "%s", err_message());
            w->is_too_much[p] = true;
        }
        for (size_t i = 0; rc == 0 && i < n_found; i++)
            n = add(region, n, found[i]);
    }
    w->is_changed = false;
    return n;
}

int foi_watch_check(const struct foi_watch *w, const struct definitions *defs)
{
    uint32_t region[MAX_FOIS];
    size_t n;
    int rc = 0;

    for (uint32_t p = 0; rc == 0 && p < w->n_patterns; p++)
        if (waits_for_loop(w, p, defs))
            rc = err_set(ERR_NOT_FOUND, "no loop was found that '%s' means", w->pattern[p]);
        else
            rc = waits_for_better(w, p, defs)
                     ? err_set(ERR_NOT_FOUND, "'%s' was never called", w->pattern[p])
                     : foi_match(w->pattern[p], defs, &w->called, region, &n);
    return rc;
}
