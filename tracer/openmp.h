/*
 * openmp -- what OpenMP does in the program: teams of threads, and where these wait for each
 * other. Told by GCC's libgomp, whose functions are taken (openmp_gomp.c), or by a runtime that
 * has OMPT, as LLVM's and Intel's (openmp_ompt.c).
 *
 *     forking thread   FORK  TEAM_BEGIN  parallel(... implicit barrier( ))  TEAM_END  JOIN
 *     other threads          TEAM_BEGIN  parallel(...)  TEAM_END
 *
 * A member of a team is done when it comes to the barrier at the end: how long it is there only
 * the forking thread has, as a runtime does not say when it lets the others go. Regions are
 * named as by Score-P, "!$omp barrier @solver.c:17", by where the program calls the runtime.
 *
 * A team is known by the thread that forks and how many teams that one is in: its teams of one
 * level come one after the other, so that the times tell which is which.
 */
#ifndef SNAG_TRACER_OPENMP_H
#define SNAG_TRACER_OPENMP_H

#include "communicators.h"
#include "recorder.h"
#include "trace/tracer/tracer_state.h"

#include <otf2/otf2.h>
#include <stdint.h>

/*  what is in the name, role */
#define OPENMP_CONSTRUCTS(X)                                                                   \
    X(PARALLEL, "parallel", PARALLEL)                                                          \
    X(BARRIER, "barrier", BARRIER)                                                             \
    X(IMPLICIT_BARRIER, "implicit barrier", IMPLICIT_BARRIER)                                  \
    X(FOR, "for", LOOP)                                                                        \
    X(SECTIONS, "sections", SECTIONS)                                                          \
    X(SINGLE, "single", SINGLE)                                                                \
    X(CRITICAL, "critical", CRITICAL)                                                          \
    X(CRITICAL_BLOCK, "critical sblock", CRITICAL_SBLOCK)                                      \
    X(ORDERED, "ordered", ORDERED)                                                             \
    X(TASK, "task", TASK)                                                                      \
    X(TASKLOOP, "taskloop", TASK_CREATE)                                                       \
    X(TASKWAIT, "taskwait", TASK_WAIT)                                                         \
    X(TASKGROUP, "taskgroup", TASK_WAIT)

enum openmp_construct {
#define OPENMP_AS_ENUM(name, text, role) OPENMP_##name,
    OPENMP_CONSTRUCTS(OPENMP_AS_ENUM)
#undef OPENMP_AS_ENUM
        N_OPENMP_CONSTRUCTS
};

/* ---------------------------------------------------------------------------------- teams */

struct openmp_team;

/* A parallel region, from its fork to its join. */
struct openmp_fork {
    struct openmp_team *team; /* NULL: nothing is recorded */
    struct recorder *by;
    uint32_t level; /* of teams that thread is in already */
    const void *site;
    uint32_t region, barrier;
};

/* openmp_fork, openmp_join -- the calling thread makes a team, and all its members are done.
 *   site  where the program calls the runtime; NULL: only the region around it is known */
void openmp_fork(struct openmp_fork *fork, const void *site, uint32_t n_threads);
void openmp_join(const struct openmp_fork *fork);

/*
 * openmp_number -- before openmp_begin, of a thread that has recorded nothing yet: which member
 * of the team it is. Those of teams of the first thread, that are in no other team, have that
 * as their number in the trace.
 *   n_outermost  threads in the outermost team that it is in; 0: not known
 */
void openmp_number(const struct openmp_fork *fork, uint32_t index, uint32_t n_outermost);

/* openmp_begin, openmp_end -- the calling thread begins what it does in the team, and is done.
 * The forking thread says openmp_wait when it is done, and openmp_end when all are. */
void openmp_begin(const struct openmp_fork *fork);
void openmp_wait(const struct openmp_fork *fork);
void openmp_end(const struct openmp_fork *fork);

static inline bool openmp_is_by_this_thread(const struct openmp_fork *fork)
{
    return fork->by == recorder_self;
}

/* ---------------------------------------------------------------------------- within teams */

/* openmp_enter, openmp_leave -- a construct begins, and ends: its region. */
uint32_t openmp_enter(enum openmp_construct construct, const void *site);
void openmp_leave(uint32_t region);

/* openmp_hold, openmp_let_go -- likewise, where the end is told by another function: it ends
 * the last construct of the kind that the thread has begun in this team, if there is one. */
void openmp_hold(enum openmp_construct construct, const void *site);
void openmp_let_go(enum openmp_construct construct);

/* ---------------------------------------------------------------------------- at the end */

/* openmp_journal -- the state (state.h) is open: put all teams into its journal, and from now
 * on each new one. The first has the local number OPENMP_FIRST_COMM among communicators. */
#define OPENMP_FIRST_COMM STATE_FIRST_TEAM
void openmp_journal(void);

/* openmp_region_name -- of a construct at a place, to be freed. Not thread-safe: regions.c
 * calls it under its lock. */
char *openmp_region_name(enum openmp_construct construct, uintptr_t site);
OTF2_RegionRole openmp_role(enum openmp_construct construct);

#endif
