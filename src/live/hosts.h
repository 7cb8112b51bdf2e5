/* hosts -- on which node each process runs, as its metadata say. */
#ifndef SNAG_LIVE_HOSTS_H
#define SNAG_LIVE_HOSTS_H

#include "base/names.h"
#include "live/history.h"
#include "prov/prov_store.h"

#include <stdint.h>

struct hosts {
    struct names name;  /* 0 is that of processes which say nothing of it */
    uint32_t *of_group; /* [n_groups] index into name */
    uint32_t n_groups;
    size_t cap;
    size_t n_metadata; /* rows that were looked at */
};

/* hosts_init -- usual: the node of those that do not say it, or "". */
void hosts_init(struct hosts *hosts, const char *usual);
void hosts_release(struct hosts *hosts);

/* hosts_step -- what is new in the metadata; rows go to the store too. O(new rows). */
void hosts_step(struct hosts *hosts, struct histories *h, const struct definitions *defs,
                struct prov_store *store);

/* hosts_of -- index into name of the node of a process. */
uint32_t hosts_of(const struct hosts *hosts, uint32_t group);

#endif
