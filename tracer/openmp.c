/* What a thread needs to know of itself hangs off its recorder; teams are never freed, there
 * are as many as threads that fork, on each level. */
#include "openmp.h"

#include "budget.h"
#include "lines.h"
#include "memory.h"
#include "quiet.h"
#include "regions.h"
#include "stack.h"
#include "state.h"
#include "structure.h"
#include "symbols.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_LEVELS 8     /* deeper ones are taken for the last */
#define MAX_HELD 32      /* constructs that are open in one another; others have no record */
#define MAX_MEMBERS 4096 /* threads; others are in no team's definition */

_Static_assert(OPENMP_FIRST_COMM == MAX_COMMUNICATORS, "numbers behind those of MPI");

/* Who was a member once, by thread: in the journal of the state, when that is open. */
struct openmp_team {
    uint32_t number;
    uint32_t thread;                  /* of the recorder that forks */
    _Atomic uint64_t *_Atomic member; /* [MAX_MEMBERS / 64] */
    _Atomic uint64_t own[MAX_MEMBERS / 64];
};

struct openmp_thread {
    const void *owner;                    /* who has the recorder now */
    uint32_t level;                       /* teams it is in */
    struct openmp_team *team[MAX_LEVELS]; /* that it forks, by how many it is in then */
    const void *site[MAX_LEVELS];         /* where those were forked that it is in */
    const struct openmp_team *ended;      /* the team it was last in, if others forked that */
    uint32_t resumed_at; /* n_held before it was in that again, + 1; 0: it is not */
    uint32_t n_held;     /* those from MAX_HELD on have no record */
    struct {
        uint32_t construct, level, region;
    } held[MAX_HELD];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards those below */
static struct openmp_team **teams;
static size_t n_teams, cap_teams;
static bool is_journaled;

static atomic_uint most_members; /* of an outermost team, or that were asked for */

/* Recorders pass from a thread that ends to one that starts. */
static struct openmp_thread *thread_of(struct recorder *r)
{
    static _Thread_local char owner;

    if (__builtin_expect(r->openmp == NULL, 0)) {
        r->openmp = memory_zeroed(1, sizeof *r->openmp);
    }
    if (__builtin_expect(r->openmp->owner != &owner, 0)) {
        r->openmp->owner = &owner;
        r->openmp->level = r->openmp->n_held = r->openmp->resumed_at = 0;
        r->openmp->ended = NULL;
    }
    return r->openmp;
}

/* Who joins meanwhile is in one of them, and then in both. */
static void journal_team(struct openmp_team *team)
{
    uint64_t number = team->thread;
    uint64_t *told = state_journal(&(struct definition){.kind = JOURNAL_TEAM,
                                                        .number = &number,
                                                        .n_numbers = 1,
                                                        .data = team->own,
                                                        .bytes = sizeof team->own});
    _Atomic uint64_t *member = told ? (_Atomic uint64_t *)(told + 1) : NULL;

    if (member == NULL)
        return;
    atomic_store(&team->member, member);
    for (size_t i = 0; i < MAX_MEMBERS / 64; i++)
        atomic_fetch_or(&member[i], atomic_load(&team->own[i]));
}

/* NULL if there is no memory for it. */
static struct openmp_team *team_new(const struct recorder *r)
{
    struct openmp_team *team = memory_zeroed(1, sizeof *team);
    struct quiet q;

    team->thread = r->thread;
    atomic_init(&team->member, team->own);
    quiet_begin(&q);
    pthread_mutex_lock(&lock);
    if (memory_grow(&teams, n_teams, cap_teams)) {
        team->number = (uint32_t)n_teams;
        teams[n_teams++] = team;
        if (is_journaled)
            journal_team(team);
    } else {
        memory_free(team);
        team = NULL;
    }
    pthread_mutex_unlock(&lock);
    quiet_end(&q);
    return team;
}

void openmp_journal(void)
{
    pthread_mutex_lock(&lock);
    is_journaled = true;
    for (size_t i = 0; i < n_teams; i++)
        journal_team(teams[i]);
    pthread_mutex_unlock(&lock);
}

static uint32_t index_of(uint32_t level)
{
    return level < MAX_LEVELS ? level : MAX_LEVELS - 1;
}

static struct openmp_team *team_of(const struct recorder *r, struct openmp_thread *self)
{
    uint32_t level = index_of(self->level);

    if (self->team[level] == NULL)
        self->team[level] = team_new(r);
    return self->team[level];
}

/* The word is written once: after that all members read it. */
static void join_members(struct openmp_team *team, uint32_t thread)
{
    uint64_t bit = (uint64_t)1 << thread % 64;
    _Atomic uint64_t *word = &atomic_load_explicit(
        &team->member, memory_order_acquire)[thread / 64 % (MAX_MEMBERS / 64)];

    if (thread < MAX_MEMBERS && !(atomic_load_explicit(word, memory_order_relaxed) & bit))
        atomic_fetch_or(word, bit);
}

/* ---------------------------------------------------------------------------------- records */

/* Where a construct is: where that is not known, where the region around it is. */
static const void *known_site(const struct openmp_thread *self, const void *site)
{
    return site == NULL && self->level > 0 ? self->site[index_of(self->level - 1)] : site;
}

static void set_inside(struct recorder *r, const struct openmp_thread *self)
{
    r->n_inside = self->level + self->n_held;
}

static uint64_t now_in(struct recorder *r)
{
    return structure_is(STRUCTURE_STACKS) ? stack_enter(r) : clock_ns();
}

static void enter(struct recorder *r, uint32_t region, uint64_t time_ns)
{
    if (budget_leaves_out(region))
        budget_enter(r, region);
    else if (region != REGION_FILTERED)
        recorder_enter(r, region, recorder_time(r, time_ns));
}

static void leave(struct recorder *r, uint32_t region, uint64_t time_ns)
{
    if (region != REGION_FILTERED && !recorder_leave_unseen(r, region))
        recorder_leave(r, region, recorder_time(r, time_ns));
}

static void put(struct recorder *r, enum record_kind kind, uint32_t id, uint64_t time_ns)
{
    if (!r->is_full)
        recorder_put(r, kind, id, recorder_time(r, time_ns));
}

/* ------------------------------------------------------------------------------------ teams */

static void note_members(uint32_t n)
{
    unsigned most = atomic_load_explicit(&most_members, memory_order_relaxed);

    while (n > most && !atomic_compare_exchange_weak(&most_members, &most, n))
        ;
}

void openmp_fork(struct openmp_fork *fork, const void *site, uint32_t n_threads)
{
    struct recorder *r = recorder_begin();
    struct openmp_thread *self;

    *fork = (struct openmp_fork){.by = r};
    if (r == NULL)
        return;
    self = thread_of(r);
    fork->level = self->level;
    if (self->level == 0)
        note_members(n_threads);
    fork->site = known_site(self, site);
    fork->region = region_of_openmp(OPENMP_PARALLEL, fork->site);
    fork->barrier = region_of_openmp(OPENMP_IMPLICIT_BARRIER, fork->site);
    fork->team = team_of(r, self);
    put(r, RECORD_FORK, n_threads, now_in(r));
    recorder_end(r);
}

void openmp_join(const struct openmp_fork *fork)
{
    struct recorder *r = fork->team ? recorder_begin() : NULL;
    uint64_t now_ns;

    if (r == NULL)
        return;
    now_ns = clock_ns();
    put(r, RECORD_JOIN, 0, now_ns);
    stack_left(r, now_ns);
    recorder_end(r);
}

void openmp_number(const struct openmp_fork *fork, uint32_t index, uint32_t n_outermost)
{
    bool is_known = fork->team && fork->by->thread == 0 && fork->level == 0;

    note_members(n_outermost);
    recorder_prefer(is_known ? index : 0, atomic_load(&most_members));
}

void openmp_begin(const struct openmp_fork *fork)
{
    struct recorder *r = fork->team ? recorder_begin() : NULL;
    struct openmp_thread *self;
    uint64_t now_ns;

    if (r == NULL)
        return;
    self = thread_of(r);
    now_ns = r == fork->by ? clock_ns() : now_in(r);
    self->site[index_of(self->level++)] = fork->site;
    set_inside(r, self);
    join_members(fork->team, r->thread);
    put(r, RECORD_TEAM_BEGIN, OPENMP_FIRST_COMM + fork->team->number, now_ns);
    enter(r, fork->region, now_ns);
    recorder_end(r);
}

void openmp_wait(const struct openmp_fork *fork)
{
    struct recorder *r = fork->team ? recorder_begin() : NULL;

    if (r == NULL)
        return;
    enter(r, fork->barrier, clock_ns());
    recorder_end(r);
}

void openmp_end(const struct openmp_fork *fork)
{
    struct recorder *r = fork->team ? recorder_begin() : NULL;
    struct openmp_thread *self;
    uint64_t now_ns;

    if (r == NULL)
        return;
    self = thread_of(r);
    now_ns = clock_ns();
    if (r == fork->by)
        leave(r, fork->barrier, now_ns);
    leave(r, fork->region, now_ns);
    put(r, RECORD_TEAM_END, OPENMP_FIRST_COMM + fork->team->number, now_ns);
    while (self->n_held > 0 &&
           (self->n_held > MAX_HELD || self->held[self->n_held - 1].level >= self->level))
        self->n_held--;
    self->level -= self->level > 0;
    self->ended = r == fork->by ? NULL : fork->team;
    set_inside(r, self);
    stack_left(r, now_ns);
    recorder_end(r);
}

/* ----------------------------------------------------------------------------- within teams */

uint32_t openmp_enter(enum openmp_construct construct, const void *site)
{
    struct recorder *r = recorder_begin();
    uint32_t region;

    if (r == NULL) {
        recorder_missed();
        return REGION_FILTERED;
    }
    region = region_of_openmp(construct, known_site(thread_of(r), site));
    enter(r, region, now_in(r));
    recorder_end(r);
    return region;
}

void openmp_leave(uint32_t region)
{
    struct recorder *r = region == REGION_FILTERED ? NULL : recorder_begin();
    uint64_t now_ns;

    if (r == NULL)
        return;
    now_ns = clock_ns();
    leave(r, region, now_ns);
    stack_left(r, now_ns);
    recorder_end(r);
}

/* Who waits for the others at the end of a region runs what tasks there are: is in the team
 * again. */
static void resume(struct recorder *r, struct openmp_thread *self, uint64_t now_ns)
{
    if (self->level > 0 || self->ended == NULL)
        return;
    self->level++;
    self->resumed_at = self->n_held + 1;
    put(r, RECORD_TEAM_BEGIN, OPENMP_FIRST_COMM + self->ended->number, now_ns);
}

static void stop_again(struct recorder *r, struct openmp_thread *self, uint64_t now_ns)
{
    if (self->resumed_at != self->n_held + 1)
        return;
    self->level--;
    self->resumed_at = 0;
    put(r, RECORD_TEAM_END, OPENMP_FIRST_COMM + self->ended->number, now_ns);
}

void openmp_hold(enum openmp_construct construct, const void *site)
{
    struct recorder *r = recorder_begin();
    struct openmp_thread *self;
    uint32_t region, at;
    uint64_t now_ns;

    if (r == NULL)
        return;
    self = thread_of(r);
    now_ns = now_in(r);
    if (construct == OPENMP_TASK)
        resume(r, self, now_ns);
    at = self->n_held++;
    if (at < MAX_HELD) {
        region = region_of_openmp(construct, known_site(self, site));
        self->held[at].construct = construct;
        self->held[at].level = self->level;
        self->held[at].region = region;
        enter(r, region, now_ns);
    }
    set_inside(r, self);
    recorder_end(r);
}

/* Whether what the thread holds last is of this kind, and of the team it is in. */
static bool holds(const struct openmp_thread *self, enum openmp_construct construct)
{
    uint32_t at = self->n_held - 1;

    return self->n_held > 0 && (at >= MAX_HELD || (self->held[at].construct == construct &&
                                                   self->held[at].level == self->level));
}

void openmp_let_go(enum openmp_construct construct)
{
    struct recorder *r = recorder_begin();
    struct openmp_thread *self;
    uint64_t now_ns;

    if (r == NULL)
        return;
    self = thread_of(r);
    if (holds(self, construct) && --self->n_held < MAX_HELD) {
        now_ns = clock_ns();
        leave(r, self->held[self->n_held].region, now_ns);
        stop_again(r, self, now_ns);
        stack_left(r, now_ns);
    }
    set_inside(r, self);
    recorder_end(r);
}

/* --------------------------------------------------------------------------------- at the end
 */

static const struct {
    const char *text;
    OTF2_RegionRole role;
} constructs[] = {
#define OPENMP_AS_ROW(name, text, role) {text, OTF2_REGION_ROLE_##role},
    OPENMP_CONSTRUCTS(OPENMP_AS_ROW)
#undef OPENMP_AS_ROW
};

char *openmp_region_name(enum openmp_construct construct, uintptr_t site)
{
    char *place = line_name(site), *name;
    size_t bytes;

    if (place == NULL)
        place = symbol_place(site);
    bytes = strlen("!$omp  @") + strlen(constructs[construct].text) + strlen(place) + 1;
    name = memory_resize(NULL, bytes, 1);
    snprintf(name, bytes, "!$omp %s @%s", constructs[construct].text, place);
    memory_free(place);
    return name;
}

OTF2_RegionRole openmp_role(enum openmp_construct construct)
{
    return constructs[construct].role;
}
