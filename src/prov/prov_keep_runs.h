/*
 * prov_keep_runs -- what keeping is for all kinds of stores (prov_keep.h): which runs may go,
 * and a directory that is there as a whole or not at all.
 */
#ifndef SNAG_PROV_PROV_KEEP_RUNS_H
#define SNAG_PROV_PROV_KEEP_RUNS_H

#include "prov/prov_keep.h"

#include <stddef.h>

/* A run that has rows. */
struct prov_kept_run {
    int64_t id;
    uint64_t last_ns; /* of its end, or begin */
    bool is_over, is_safe;
    int64_t stored; /* PostgreSQL: up to which row */
    double bytes;   /* of its records: only to compare runs */
};

struct prov_kept_runs {
    struct prov_kept_run *at; /* free it */
    size_t n, room;
};

void prov_kept_runs_add(struct prov_kept_runs *runs, struct prov_kept_run run);

/* prov_kept_runs_weigh -- add to the bytes of a run, if it is one of these. */
void prov_kept_runs_weigh(struct prov_kept_runs *runs, int64_t id, double bytes);

/* prov_kept_runs_list -- "(3,7,8)" of those that are chosen; to be freed. */
char *prov_kept_runs_list(const struct prov_kept_runs *runs, const bool *is_chosen);

/*
 * prov_kept_runs_choose -- those that are too old and, of the rest, the oldest until the others
 * fit; none that is not safe, which are counted.
 *   runs       the oldest first
 *   used       bytes of all of them together
 *   is_chosen  (runs->n) out
 * Returns how many.
 */
uint64_t prov_kept_runs_choose(const struct prov_kept_runs *runs,
                               const struct prov_prune_opts *opts, double used, bool *is_chosen,
                               uint64_t *n_kept);

/*
 * prov_keep_directory -- a new directory, filled under another name; when this returns 0, it is
 * on disk and has its own.
 *   fill  of the directory `dir`; syncs its files. Returns 0 or an error
 * Returns 0, ERR_EXISTS, ERR_RANGE, ERR_IO, or what fill returned.
 */
int prov_keep_directory(const char *to, int (*fill)(void *ctx, int dir), void *ctx);

#endif
