/*
 * A balance may go down to nothing before anything is left out, and grows no further than what
 * ten seconds bring: a program that was quiet for an hour is not to be slowed down for a
 * minute. What is decided on is what happened since the balance was last full, or since
 * something was decided.
 *
 * The bits are read without the lock, which guards the list of those that are left out.
 */
#include "budget.h"

#include "memory.h"
#include "python.h"
#include "regions.h"
#include "stack.h"
#include "state.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_NS 10e6  /* the balance of a thread that begins, */
#define AGAIN_NS 2e6   /* and after a decision: some 50,000 records to decide on next time */
#define MAX_SAVED_S 10 /* it is no more than what so many seconds bring, or that */
#define MIN_CALLS 100  /* fewer in a thread are not worth leaving out */
#define ALL_CHUNKS 64  /* the first are looked at all, of others: */
#define EVERY_CHUNK 8
#define N_TIMED 300 /* records in a measurement; they fit into a chunk */
#define N_TIMES 5   /* of which the shortest counts */
#define MAX_WATCHED_NS 20e3

_Atomic uint64_t budget_bits[BUDGET_REGIONS / 64];

static double limit; /* a ratio; 0: none */
static char trouble[160];
static double call_ns, between_ns, other_ns; /* of one record */
static double unseen_ns, dearer_ns;          /* of a call left out; of a dearer one */
static double watch_ns; /* that a call seems to take in which nothing is done */
static atomic_uint_fast64_t once_ns;

/* A region that is left out, and its numbers in the journal; NULL: there was no room. */
struct left_out_region {
    uint32_t region;
    uint64_t *number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct left_out_region *list;
static size_t n_list, cap_list;

/* --------------------------------------------------------------------------------- beginning
 */

static void time_calls(struct recorder *r)
{
    for (int i = 0; i < N_TIMED; i++) {
        recorder_enter(r, 0, clock_ns());
        recorder_leave(r, 0, clock_ns());
    }
}

static void time_others(struct recorder *r)
{
    for (int i = 0; i < 2 * N_TIMED; i++)
        recorder_put(r, RECORD_COLLECTIVE_BEGIN, 0, 0);
}

static void time_between(struct recorder *r)
{
    struct between when = {0};

    for (int i = 0; i < N_TIMED; i++) {
        recorder_enter_between(r, 0, &when);
        recorder_leave_between(r, &when);
    }
}

static void time_unseen(struct recorder *r)
{
    for (int i = 0; i < N_TIMED; i++) {
        budget_enter(r, 0);
        recorder_leave_unseen(r, 0);
    }
}

static double watched_ns(const struct watch *w, uint64_t returned_ns)
{
    return (double)(w->asked_ns - w->began_ns + clock_ns() - returned_ns);
}

/* Reading the clock takes time itself, and waits for what was begun. */
static double time_watch(void)
{
    double least_ns = HUGE_VAL;

    for (int i = 0; i < N_TIMES; i++) {
        double ns = 0;

        for (int k = 0; k < N_TIMED; k++) {
            struct watch w = {.began_ns = clock_ns()};

            w.asked_ns = clock_ns();
            ns += watched_ns(&w, clock_ns());
        }
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return least_ns / N_TIMED;
}

/* Nanoseconds of what is done 2 * N_TIMED times, with a recorder that leads nowhere. */
static double measure(void (*work)(struct recorder *))
{
    static union slot slot[4 * N_TIMED + MAX_RECORD_SLOTS];
    static struct entered_call open[1];
    static struct tally tally;
    static struct budget budget = {.of = &tally, .n = 1};
    static _Atomic uint64_t told;
    uint64_t least_ns = UINT64_MAX;

    for (int i = 0; i < N_TIMES; i++) {
        struct recorder r = {.limit = slot + 4 * N_TIMED + 1,
                             .next = slot,
                             .next_told = &told,
                             .open = open,
                             .cap_open = 1,
                             .budget = &budget};
        uint64_t begin_ns = clock_ns(), took_ns;

        work(&r);
        took_ns = clock_ns() - begin_ns;
        least_ns = took_ns < least_ns ? took_ns : least_ns;
    }
    return (double)least_ns / (2 * N_TIMED);
}

static void read_limit(void)
{
    const char *said = getenv("SNAG_TRACER_OVERHEAD");
    char *end;
    double percent = said ? strtod(said, &end) : 0;

    if (said == NULL || *said == '\0')
        return;
    if (end != said && percent > 0 && percent <= 1e6 && (*end == '\0' || strcmp(end, "%") == 0))
        limit = percent / 100;
    else
        snprintf(
            trouble, sizeof trouble,
            "SNAG_TRACER_OVERHEAD is a share such as 2%%, not '%.40s'; nothing is left out",
            said);
}

static void begin(void)
{
    read_limit();
    call_ns = measure(time_calls);
    other_ns = measure(time_others);
    between_ns = measure(time_between);
    unseen_ns = 2 * measure(time_unseen);
    watch_ns = time_watch();
    dearer_ns = python_is_recorded() ? python_call_ns() : stack_return_ns();
}

static void begin_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, begin);
}

struct budget *budget_new(void)
{
    struct budget *b = memory_resize(NULL, 1, sizeof *b);

    begin_once();
    *b = (struct budget){.balance_ns = FIRST_NS};
    return b;
}

void budget_adopt(struct recorder *r)
{
    r->budget->settled_ns = 0; /* of processor time each thread begins with none */
}

uint64_t budget_thread_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void budget_once(uint64_t begin_ns)
{
    atomic_fetch_add(&once_ns, budget_thread_ns() - begin_ns);
}

/* ---------------------------------------------------------------------------------- counting
 */

/* Where there is no memory they are counted in vain. */
static struct tally *tally_of(struct budget *b, uint32_t region)
{
    static struct tally of_all;
    uint32_t n = b->n, more = region + 256;
    struct tally *of;

    if (region < n)
        return &b->of[region];
    of = memory_resize(b->of, more, sizeof *of);
    if (of == NULL)
        return &of_all;
    memset(of + n, 0, (more - n) * sizeof *of);
    b->of = of;
    b->n = more;
    return &of[region];
}

bool budget_has_limit(void)
{
    return limit > 0;
}

void budget_left_out(struct recorder *r, uint32_t region)
{
    tally_of(r->budget, region)->n_left_out++;
    r->budget->n_unseen++;
}

bool budget_has(const struct recorder *r, uint32_t region)
{
    return region < r->budget->n;
}

void budget_enter(struct recorder *r, uint32_t region)
{
    budget_left_out(r, region);
    recorder_enter_unseen(r, region);
}

static double cost_of(enum record_kind kind)
{
    switch (kind) {
    case RECORD_ENTER:
    case RECORD_LEAVE:
        return call_ns;
    case RECORD_ENTER_BETWEEN:
    case RECORD_LEAVE_BETWEEN:
    case RECORD_LEAVE_INLINED:
        return between_ns;
    default:
        return other_ns;
    }
}

void budget_watch_begin(struct recorder *r, uint64_t began_ns)
{
    r->budget->watch = (struct watch){.began_ns = began_ns,
                                      .n_unseen = r->budget->n_unseen,
                                      .slot = recorder_next(r),
                                      .generation = atomic_load(&r->generation)};
}

/* Who was handed over in between, or whose records are in two chunks, is not counted: it would
 * be twice. One that was interrupted, or read rules of the stack, stands for itself alone. */
void budget_watch_end(struct recorder *r, uint64_t returned_ns, bool reads_clock)
{
    struct budget *b = r->budget;
    struct watch w = b->watch;
    double took_ns = watched_ns(&w, returned_ns) - (reads_clock ? watch_ns / 2 : watch_ns);
    double more_ns = took_ns - unseen_ns * (double)(b->n_unseen - w.n_unseen);

    b->watch.began_ns = 0;
    if (w.began_ns == 0 || w.asked_ns == 0) /* another began within it */
        return;
    if (w.generation != atomic_load(&r->generation) || w.slot < r->last->slot ||
        w.slot > recorder_next(r))
        return;
    for (const union slot *s = w.slot; s < recorder_next(r); s += record_slots(s->head.kind))
        more_ns -= cost_of(s->head.kind);
    b->due_ns += took_ns < MAX_WATCHED_NS ? BUDGET_EVERY * more_ns : more_ns;
}

static bool is_leave(enum record_kind kind)
{
    return kind == RECORD_LEAVE || kind == RECORD_LEAVE_BETWEEN || kind == RECORD_LEAVE_INLINED;
}

/* Calls of more than a chunk are not timed: they are long. */
static double look_at(struct budget *b, const union slot *slot, size_t n, unsigned weight)
{
    uint16_t open[CHUNK_SLOTS]; /* where in the chunk */
    uint32_t n_open = 0;
    double cost_ns = 0;

    for (const union slot *s = slot; s < slot + n; s += record_slots(s->head.kind)) {
        cost_ns += cost_of(s->head.kind);
        b->n_records += weight;
        if (s->head.kind == RECORD_ENTER || s->head.kind == RECORD_ENTER_BETWEEN) {
            tally_of(b, s->head.id)->n_calls += weight;
            open[n_open++] = (uint16_t)(s - slot);
        } else if (is_leave(s->head.kind) && n_open > 0) {
            const union slot *enter = &slot[open[--n_open]];
            struct tally *t = tally_of(b, enter->head.id);

            t->n_timed += weight;
            t->inside_ns += weight * (s->head.time_ns - enter->head.time_ns);
        }
    }
    return weight * cost_ns;
}

void budget_count(struct recorder *r, const union slot *slot, size_t n)
{
    struct budget *b = r->budget;
    unsigned weight = b->n_chunks < ALL_CHUNKS ? 1 : EVERY_CHUNK;

    if (b->n_chunks++ % weight == 0)
        b->due_ns += look_at(b, slot, n, weight);
}

/* ----------------------------------------------------------------------------------- deciding
 */

static void leave_out(uint32_t region, uint64_t now_ns)
{
    uint64_t bit = (uint64_t)1 << region % 64;

    pthread_mutex_lock(&lock);
    if (memory_grow(&list, n_list, cap_list) &&
        !(atomic_fetch_or(&budget_bits[region / 64], bit) & bit)) {
        uint64_t number[] = {region, now_ns, 0};

        list[n_list++] = (struct left_out_region){
            region, state_journal(&(struct definition){
                        .kind = JOURNAL_LEFT_OUT, .number = number, .n_numbers = 3})};
    }
    pthread_mutex_unlock(&lock);
}

/* Its records cost more than the limit allows in the time that it takes. */
static bool is_short(const struct tally *t, double each_ns)
{
    return 2 * t->n_timed > t->n_calls &&
           limit * (double)t->inside_ns < 2 * each_ns * (double)t->n_timed;
}

static uint32_t most_often(const struct budget *b, double each_ns)
{
    uint32_t found = REGION_FILTERED;

    for (uint32_t i = 0; i < b->n && i < BUDGET_REGIONS; i++)
        if (b->of[i].n_calls >= MIN_CALLS &&
            (found == REGION_FILTERED || b->of[i].n_calls > b->of[found].n_calls) &&
            is_short(&b->of[i], each_ns) && !budget_leaves_out(i) && region_is_optional(i))
            found = i;
    return found;
}

/* Until what remains would have fitted into the time since the last decision. */
static void decide(const struct budget *b, uint64_t now_ns)
{
    double each_ns = b->n_records > 0 ? b->spent_ns / b->n_records : 0, rest_ns = b->spent_ns;
    uint32_t region;

    for (uint32_t i = 0; i < b->n; i++)
        if (budget_leaves_out(i))
            rest_ns -= 2 * each_ns * (double)b->of[i].n_calls;
    while (rest_ns > limit * b->own_ns &&
           (region = most_often(b, each_ns)) != REGION_FILTERED) {
        leave_out(region, now_ns);
        rest_ns -= 2 * each_ns * (double)b->of[region].n_calls;
    }
}

static void start_anew(struct budget *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->of[i] = (struct tally){.n_left_out = b->of[i].n_left_out, .n_told = b->of[i].n_told};
    b->own_ns = b->spent_ns = b->n_records = 0;
}

/* What is not taken off the balance yet. */
static double due(const struct budget *b)
{
    return b->due_ns + unseen_ns * (double)(b->n_unseen - b->n_unseen_settled) +
           dearer_ns * (double)(b->n_dearer - b->n_dearer_settled);
}

/* What was left out since it was told last. */
static void tell_left_out(struct budget *b)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_list; i++) {
        struct tally *t = list[i].region < b->n ? &b->of[list[i].region] : NULL;

        if (t && list[i].number)
            __atomic_fetch_add(&list[i].number[2], t->n_left_out - t->n_told, __ATOMIC_RELAXED);
        if (t)
            t->n_told = t->n_left_out;
    }
    pthread_mutex_unlock(&lock);
}

void budget_settle(struct recorder *r, uint64_t begin_ns, uint64_t end_ns)
{
    struct budget *b = r->budget;
    double spent_ns = due(b) + (double)(end_ns - begin_ns);
    double own_ns = (double)(end_ns - b->settled_ns) - spent_ns, most_ns;

    own_ns = own_ns > 0 ? own_ns : 0;
    b->due_ns = 0;
    b->n_unseen_settled = b->n_unseen;
    b->n_dearer_settled = b->n_dearer;
    b->processor_ns += end_ns - b->settled_ns;
    b->settled_ns = end_ns;
    b->cost_ns += spent_ns;
    if (limit == 0)
        return;
    tell_left_out(b);
    b->spent_ns += spent_ns;
    b->own_ns += own_ns;
    b->balance_ns += limit * own_ns - spent_ns;
    most_ns = limit * MAX_SAVED_S * 1e9;
    most_ns = most_ns > FIRST_NS ? most_ns : FIRST_NS;
    if (b->balance_ns >= most_ns) {
        b->balance_ns = most_ns;
        start_anew(b);
    } else if (b->balance_ns < 0) {
        decide(b, clock_ns());
        start_anew(b);
        b->balance_ns = AGAIN_NS;
    }
}

/* ---------------------------------------------------------------------------------- at the end
 */

uint64_t budget_once_ns(const struct recorder *r)
{
    return r->thread == 0 ? atomic_load(&once_ns) : 0;
}

uint64_t budget_cost_ns(const struct recorder *r)
{
    double cost_ns = r->budget->cost_ns + due(r->budget) + (double)budget_once_ns(r);

    return cost_ns > 0 ? (uint64_t)cost_ns : 0;
}

uint64_t budget_processor_ns(const struct recorder *r)
{
    uint64_t since_ns = r == recorder_self ? budget_thread_ns() - r->budget->settled_ns : 0;

    return r->budget->processor_ns + since_ns;
}

void budget_end(const struct recorder *newest)
{
    for (const struct recorder *r = newest; r; r = r->older)
        tell_left_out(r->budget);
}

const char *budget_trouble(void)
{
    begin_once();
    return trouble;
}
