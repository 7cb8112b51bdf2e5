/*
 * teams -- which spans of threads belong to one team.
 *
 * Threads of a process have one clock, so a member belongs to the fork on its communicator that
 * is open when it begins. A thread that was created has a number on its communicator.
 */
#ifndef SNAG_FOREST_TEAMS_H
#define SNAG_FOREST_TEAMS_H

#include "forest/traffic.h"

/*
 * teams_match -- find the fork of every member, and what created every thread.
 *
 * Sets team of all spans, and n_members of forks. O(spans * log forks).
 */
void teams_match(struct traffic *traffic, const struct definitions *defs);

/* What there is of a kind, for people. */
struct team_counts {
    uint64_t n_forks, n_members; /* members that have their fork */
    uint64_t n_lost;             /* members whose fork is not in the trace */
    uint64_t n_created;          /* threads that were created */
    uint64_t n_barriers;         /* calls of them, all members */
    uint32_t largest;            /* members of the largest team */
};

/* teams_count -- of all locations. After teams_match. O(spans). */
struct team_counts teams_count(const struct traffic *traffic);

/*
 * teams_ratio -- what other members than the forking threads did in their teams, to how long
 * these had teams: 3 for teams of four that are all busy. 0 without teams. O(spans).
 */
double teams_ratio(const struct traffic *traffic);

/* teams_forked_ns -- how long a location had teams that it forked in rows [begin, end): as
 * forked_ns of a profile. O(spans of the location). */
uint64_t teams_forked_ns(const struct traffic *traffic, uint32_t location, uint32_t begin,
                         uint32_t end);

#endif
