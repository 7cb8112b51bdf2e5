/*
 * otf2_definitions -- the global definitions of an OTF2 archive.
 *
 * Definitions come in any order, refer to what is defined later, and some tracers write them
 * twice or with the same id for two things. So they are collected first, as they are, and
 * resolved when all have been seen.
 */
#ifndef SNAG_TRACE_OTF2_DEFINITIONS_H
#define SNAG_TRACE_OTF2_DEFINITIONS_H

#include "trace/idtable.h"
#include "trace/source.h"

#include <otf2/otf2.h>

/* A value of a metric: a counter of ours, and what it counts in. */
struct otf2_member {
    uint32_t counter;
    bool is_scaled;
    double scale;
};

struct otf2_metric {
    uint32_t n;
    struct otf2_member *member; /* [n], of the definitions' arena */
};

#define OTF2_LEFT_OUT (IDMAP_NONE - 1) /* a region whose calls are not read: see left_out */

#define NO_ATTRIBUTE UINT32_MAX

struct otf2_tables {
    struct idtable region; /* OTF2 region to index in definitions, or OTF2_LEFT_OUT */
    struct idtable comm;   /* OTF2 communicator to index in definitions */
    uint32_t flush_region; /* what BUFFER_FLUSH records are calls of */
    uint32_t undefined_region;
    uint32_t earlier, later;  /* attributes: by how much an event may be; or NO_ATTRIBUTE */
    uint32_t inlined;         /* likewise: as many calls a call may be */
    bool has_arguments;       /* attributes may be arguments of calls; then: */
    struct idtable attribute; /* OTF2 attribute to a name of definitions arguments */
    struct idtable parameter; /* likewise */
    struct idtable string;    /* OTF2 string to: */
    const char **text;        /* of the definitions' arena, where some are texts */
    struct idtable metric_id; /* OTF2 metric class or instance to: */
    struct otf2_metric *metric;
    size_t n_metrics, metric_cap;
};

/*
 * otf2_definitions_read -- read all global definitions of an open archive.
 *   dir      where the event files are, to find locations that damaged definitions do not name
 *   source   its definitions are filled in and finished, what was wrong is added to its quality
 *   tables   out: the archive's ids
 * Returns 0, or ERR_FORMAT if no definitions can be read at all.
 */
int otf2_definitions_read(OTF2_Reader *reader, const char *dir, struct source *source,
                          struct otf2_tables *tables);

void otf2_tables_release(struct otf2_tables *tables);

#endif
