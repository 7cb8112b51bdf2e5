/*
 * reduction -- how many bytes of a trace were read, and how many of a store are left of them:
 * the third paper's figure. One answer for all who say it: ad, watch, the page, metrics,
 * provdb.
 *
 * Of a trace: its files as they lie on disk, or what came through a socket. Of a store in a
 * directory: by how much its files have grown since the run began; of a database: the rows that
 * were sent to it, before it adds anything of its own.
 */
#ifndef SNAG_PROV_REDUCTION_H
#define SNAG_PROV_REDUCTION_H

#include "base/database.h"
#include "prov/prov_store.h"

#include <jansson.h>

#define REDUCTION_TEXT 256

struct reduction {
    double trace_bytes, stored_bytes; /* NAN: not known */
    bool is_sent;                     /* the latter: to a database */
    const char *why;                  /* the factor is not known; NULL: it is. Constant */
};

/*
 * reduction_of -- of a run.
 *   no_bytes  why n_bytes of the trace are not known, constant text; NULL: they are
 *   store     NULL: there is none
 */
struct reduction reduction_of(uint64_t n_bytes, const char *no_bytes,
                              const struct prov_counts *store);

/*
 * reduction_read -- of all runs of a store, as an open reader shows them: known where each of
 * them says what it was made of, which one that was killed does not. Returns 0 or ERR_DATABASE.
 */
int reduction_read(struct database *reader, const char *url, struct reduction *out);

/* reduction_factor -- how many times less is stored; NAN: not known. */
double reduction_factor(const struct reduction *reduction);

/* reduction_text -- "20.1 MiB of trace read, 1.00 MiB stored: 20.1 times less". Returns out. */
char *reduction_text(const struct reduction *reduction, char out[REDUCTION_TEXT]);

/* reduction_set -- trace_bytes, stored_bytes, stored_is, reduction and reduction_unknown of an
 * object. */
void reduction_set(json_t *object, const struct reduction *reduction);

#endif
