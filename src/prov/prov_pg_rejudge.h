/* prov_pg_rejudge -- the final verdict on the records of a run in PostgreSQL. See
 * prov_store_rejudge. */
#ifndef SNAG_PROV_PROV_PG_REJUDGE_H
#define SNAG_PROV_PROV_PG_REJUDGE_H

#include "prov/prov_rejudge.h"

/*
 * prov_pg_rejudge -- in one transaction, on a connection of its own; once more when that
 * breaks. Adds to counts. Returns 0 or ERR_DATABASE.
 */
int prov_pg_rejudge(const char *url, const struct prov_rejudge *opts,
                    struct prov_rejudged *counts);

#endif
