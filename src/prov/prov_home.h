/*
 * prov_home -- the directory of a store that is written: made when it is not there, claimed by
 * the process that writes, left alone when it is a run.
 *
 * Instances of a job may write to one store if each has said which rank of which program it
 * writes; what is claimed twice is refused.
 */
#ifndef SNAG_PROV_PROV_HOME_H
#define SNAG_PROV_PROV_HOME_H

#include "base/claim.h"
#include "prov/prov_place.h"

struct prov_home {
    int dir; /* handle of the directory; only while is_open */
    bool is_open;
    struct claim claim;
};

/*
 * prov_home_open -- make the directory or look at it, and claim it.
 *   rank  the only one of the program that is written; NULL: all
 * Returns 0, ERR_IO, ERR_EXISTS when something else is there, or another process writes it.
 */
int prov_home_open(struct prov_home *home, const struct prov_place *place, uint32_t program,
                   const uint32_t *rank);

/* prov_home_close -- a zeroed one, and twice, is harmless. */
void prov_home_close(struct prov_home *home);

/*
 * prov_home_claim -- claim all of the store in a directory, as nobody else writes it then.
 *   dir  its handle
 * Returns 0, ERR_EXISTS while somebody writes it, or ERR_IO. claim_release it.
 */
int prov_home_claim(struct claim *claim, int dir, const struct prov_place *place);

/* prov_home_is_written -- whether somebody writes a store; false if that cannot be told. */
bool prov_home_is_written(const char *url);

/*
 * prov_home_discard -- remove the store at an URL if nobody has stored anything in it, and
 * nobody writes it; for who has just made it in vain. What else is in the directory stays.
 */
void prov_home_discard(const char *url);

#endif
