/*
 * otf2_raw -- the global definitions of an OTF2 archive as they are in the file: lists by kind,
 * that refer to each other by ids. otf2_definitions.c finds out what they mean.
 */
#ifndef SNAG_TRACE_OTF2_RAW_H
#define SNAG_TRACE_OTF2_RAW_H

#include "base/arena.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "trace/source.h"

#include <otf2/otf2.h>

struct raw_region {
    uint32_t id, name, canonical;
    uint32_t file, line;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
};

struct raw_group {
    uint32_t id;
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    uint32_t n_members;
    uint64_t *member;
    uint32_t *rank; /* [n_members] of the members, once somebody asked; in the definitions */
    const uint32_t *sorted; /* [n_members] the same */
};

struct raw_comm {
    uint32_t id, name, group, remote;
    bool is_inter;
};

struct raw_location {
    uint64_t id, n_events;
    uint32_t name, process;
    bool is_gpu;
};

/* A part of the machine. */
struct raw_node {
    uint32_t name, class, parent;
};

struct raw_member {
    uint32_t id, name, unit;
    OTF2_MetricMode mode;
    OTF2_Base base;
    int64_t exponent;
};

struct raw_metric {
    uint32_t id, class; /* class: of an instance; OTF2_UNDEFINED_METRIC: it is a class itself */
    uint32_t n_members;
    uint32_t *member;
};

/* A number that is said of a location or of a process. */
struct raw_property {
    uint64_t of;
    uint32_t name;
    uint64_t value;
};

/* Of enters and leaves; or a parameter of calls. */
struct raw_attribute {
    uint32_t id, name;
    OTF2_Type type;
};

/* A text that is said of a process, or of the machine and its parts. */
struct raw_text {
    uint64_t process; /* RAW_NO_PROCESS: of the machine */
    uint32_t name, value;
};
#define RAW_NO_PROCESS UINT64_MAX

/* An array of raw definitions of one kind. */
#define RAW_LIST(type)                                                                         \
    struct {                                                                                   \
        type *at;                                                                              \
        size_t n, cap;                                                                         \
    }
#define RAW_PUSH(list)                                                                         \
    ({                                                                                         \
        mem_grow(&(list).at, &(list).cap, (list).n + 1);                                       \
        &(list).at[(list).n++];                                                                \
    })

/* All of them. A zeroed one is empty. */
struct otf2_raw {
    struct arena arena;
    struct idmap string_id;
    RAW_LIST(const char *) string;
    RAW_LIST(struct raw_region) region;
    RAW_LIST(struct raw_group) group;
    RAW_LIST(struct raw_comm) comm;
    RAW_LIST(struct raw_location) location;
    struct idmap member_id;
    RAW_LIST(struct raw_member) member;
    RAW_LIST(struct raw_metric) metric;
    struct idmap seen_location; /* ids, as a set */
    struct idmap process_id;
    RAW_LIST(uint32_t) creator; /* of each process */
    RAW_LIST(uint32_t) parent;  /* ... the part of the machine it ran on */
    struct idmap node_id;
    RAW_LIST(struct raw_node) node;
    struct idmap group_id;
    RAW_LIST(uint32_t) comm_group;       /* for each group id, which group communicators mean */
    const struct raw_group *all_of[256]; /* per paradigm, who is rank r; NULL if nobody says */
    RAW_LIST(struct raw_property) location_property;
    RAW_LIST(struct raw_property) process_property;
    RAW_LIST(struct raw_text) text;
    RAW_LIST(struct raw_attribute) attribute, parameter;
    bool has_clock;
    uint64_t ticks_per_s, origin_ticks, wall_time_ns;
    uint64_t n_bad;
};
/*
 * otf2_raw_read -- read all definitions of an open archive, some at a time: source_progress
 * hears how many.
 *   dir  where the event files are; beside it is the file of definitions, "dir.def"
 *   raw  out: what could be read. Release in any case
 */
OTF2_ErrorCode otf2_raw_read(OTF2_Reader *reader, const char *dir, const struct source *source,
                             struct otf2_raw *raw);

/*
 * otf2_raw_add_locations -- those that no definition names, but there is an event file of them:
 * "dir/ID.evt". Sorts all by id. Returns how many.
 */
uint64_t otf2_raw_add_locations(struct otf2_raw *raw, const char *dir);

/* otf2_raw_string -- the text of a string, "" when there is none of this id. */
const char *otf2_raw_string(const struct otf2_raw *raw, uint32_t id);

void otf2_raw_release(struct otf2_raw *raw);

#endif
