/*
 * Points for the live scatter plot: which of them, and as columns. Two passes over a cut of the
 * points, with no lock: how many there are, then those that are sent.
 */
#include "base/err.h"
#include "base/mem.h"
#include "base/order.h"
#include "monitor/api_live.h"

#include <stdlib.h>
#include <string.h>

#define MAX_POINTS 200000
#define TYPICAL_POINTS 20000
#define MAX_RANK (1u << 20)

/* What is asked for. */
struct points_wanted {
    int kind;
    uint64_t since, from_ns, to_ns, most;
    bool *is_region; /* [n_regions], NULL: all */
    bool *is_rank;   /* [n_ranks], NULL: all */
    uint32_t n_regions, n_ranks;
};

/* ------------------------------------------------------------------------------- the wanted */

/* A list as flags; NULL when it is not asked for. */
static int read_flags(const struct request *request, const char *name, uint32_t below,
                      bool **flag)
{
    uint32_t *list, n = 0;
    int rc;

    *flag = NULL;
    if (request_text(request, name, NULL) == NULL)
        return 0;
    list = mem_alloc(below, sizeof *list);
    rc = request_list(request, name, below, list, &n);
    *flag = mem_alloc(below, sizeof **flag);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        (*flag)[list[i]] = true;
    free(list);
    return rc;
}

/* Calls or executions. */
static int read_kind(const struct request *request, struct live_state *live, int *kind)
{
    const char *text = request_text(request, "kind", NULL);

    live_state_lock(live);
    *kind = text ? live_kind_find(text) : (int)live->opts.typical;
    live_state_unlock(live);
    return *kind < LIVE_KINDS
               ? 0
               : err_set(ERR_USAGE, "expected calls or executions, not '%.40s'", text);
}

static int read_wanted(const struct request *request, struct live_state *live,
                       struct points_wanted *wanted)
{
    double since = 0, from = 0, to = 0, most = 0;
    int rc = read_kind(request, live, &wanted->kind);

    if (rc == 0)
        rc = request_number(request, "since", 0, REQUEST_MAX_NUMBER, 0, &since);
    if (rc == 0)
        rc = request_number(request, "from", 0, REQUEST_MAX_NUMBER, 0, &from);
    if (rc == 0)
        rc = request_number(request, "to", 0, REQUEST_MAX_NUMBER, REQUEST_MAX_NUMBER, &to);
    if (rc == 0)
        rc = request_number(request, "most", 1, MAX_POINTS, TYPICAL_POINTS, &most);
    live_state_lock(live);
    wanted->n_regions = live->n_regions;
    for (uint32_t i = 0; i < live->n_ranks; i++)
        if (live->rank[i].rank >= wanted->n_ranks && live->rank[i].rank < MAX_RANK)
            wanted->n_ranks = live->rank[i].rank + 1;
    live_state_unlock(live);
    if (rc == 0)
        rc = read_flags(request, "fois", wanted->n_regions, &wanted->is_region);
    if (rc == 0)
        rc = read_flags(request, "ranks", wanted->n_ranks, &wanted->is_rank);
    wanted->since = (uint64_t)since;
    wanted->from_ns = (uint64_t)from;
    wanted->to_ns = (uint64_t)to;
    wanted->most = (uint64_t)most;
    return rc;
}

static inline bool is_wanted(const struct points_wanted *wanted, const struct live_point *p)
{
    return p->id >= wanted->since && p->enter_ns >= wanted->from_ns &&
           p->enter_ns <= wanted->to_ns &&
           (wanted->is_region == NULL ||
            (p->region < wanted->n_regions && wanted->is_region[p->region])) &&
           (wanted->is_rank == NULL || (p->rank < wanted->n_ranks && wanted->is_rank[p->rank]));
}

/* ------------------------------------------------------------------------------- choosing */

/* Even over all ids, whatever pattern regions and ranks have in them (splitmix64). */
static inline uint64_t scramble(uint64_t id)
{
    id = (id ^ id >> 30) * 0xbf58476d1ce4e5b9u;
    id = (id ^ id >> 27) * 0x94d049bb133111ebu;
    return id ^ id >> 31;
}

/* The part of the cut that may have points since. */
static uint32_t first_part(const struct live_cut *cut, uint64_t since)
{
    uint32_t i = 0;

    while (i < cut->n && cut->part[i].block->point[cut->part[i].n - 1].id < since)
        i++;
    return i;
}

static void count_wanted(const struct live_cut *cut, const struct points_wanted *wanted,
                         uint64_t *n_anomalies, uint64_t *n_normal)
{
    uint64_t n[2] = {0, 0};

    for (uint32_t i = first_part(cut, wanted->since); i < cut->n; i++)
        for (uint32_t k = 0; k < cut->part[i].n; k++) {
            const struct live_point *p = &cut->part[i].block->point[k];

            n[p->verdict == LIVE_ANOMALY] += is_wanted(wanted, p);
        }
    *n_normal = n[0];
    *n_anomalies = n[1];
}

/* Anomalies that lost more, and so many of those that lost as much. */
struct least_lost {
    double ns;
    uint64_t n_equal;
};

/* The `most` of the wanted anomalies that lost most. */
static struct least_lost find_least(const struct live_cut *cut,
                                    const struct points_wanted *wanted, uint64_t n_anomalies)
{
    struct least_lost least = {.n_equal = wanted->most};
    double *severity;
    size_t n = 0;

    if (n_anomalies <= wanted->most)
        return least;
    severity = mem_alloc(n_anomalies, sizeof *severity);
    for (uint32_t i = first_part(cut, wanted->since); i < cut->n; i++)
        for (uint32_t k = 0; k < cut->part[i].n; k++) {
            const struct live_point *p = &cut->part[i].block->point[k];

            if (p->verdict == LIVE_ANOMALY && is_wanted(wanted, p))
                severity[n++] = (double)p->severity_ns;
        }
    qsort(severity, n, sizeof *severity, order_f64_down);
    least.ns = severity[wanted->most - 1];
    for (n = 0; severity[n] > least.ns; n++)
        least.n_equal--;
    free(severity);
    return least;
}

static bool is_among(struct least_lost *least, double lost_ns)
{
    return lost_ns > least->ns || (lost_ns == least->ns && least->n_equal-- > 0);
}

/*
 * All anomalies, or those that lost most and the oldest of equal ones, and of the normal points
 * every 2^k-th at random.
 *   chosen  out: (n_chosen) copies, to be freed
 * Returns how many are wanted.
 */
static uint64_t choose(const struct live_cut *cut, const struct points_wanted *wanted,
                       struct live_point **chosen, size_t *n_chosen)
{
    uint64_t n_anomalies, n_normal, n_total, room, mask = 0;
    struct least_lost least;

    count_wanted(cut, wanted, &n_anomalies, &n_normal);
    n_total = n_anomalies + n_normal;
    least = find_least(cut, wanted, n_anomalies);
    room = n_anomalies < wanted->most ? wanted->most - n_anomalies : 0;
    /* Chance may give a few more than expected. */
    while (n_normal > room && n_normal / (mask + 1) > room - room / 16)
        mask = 2 * mask + 1;
    *chosen =
        mem_resize(NULL, n_total < wanted->most ? n_total : wanted->most, sizeof **chosen);
    *n_chosen = 0;
    for (uint32_t i = first_part(cut, wanted->since); i < cut->n; i++)
        for (uint32_t k = 0; k < cut->part[i].n; k++) {
            const struct live_point *p = &cut->part[i].block->point[k];

            if (!is_wanted(wanted, p))
                continue;
            if (p->verdict == LIVE_ANOMALY) {
                if (is_among(&least, (double)p->severity_ns))
                    (*chosen)[(*n_chosen)++] = *p;
            } else if (room > 0 && (scramble(p->id) & mask) == 0) {
                (*chosen)[(*n_chosen)++] = *p;
                room--;
            }
        }
    return n_total;
}

static void say(struct bundle *bundle, const char *name, uint64_t value)
{
    bundle_say(bundle, name, json_integer((json_int_t)value));
}

static void add_columns(struct bundle *bundle, const struct live_point *point, size_t n)
{
#define POINT(name, type, member) BUNDLE_FIELD(name, type, struct live_point, member)
    static const struct bundle_field field[] = {
        POINT("id", BUNDLE_F64, id),
        POINT("enter_ns", BUNDLE_F64, enter_ns),
        POINT("duration_ns", BUNDLE_F64, inclusive_ns),
        POINT("exclusive_ns", BUNDLE_F64, exclusive_ns),
        POINT("rank", BUNDLE_U32, rank),
        POINT("program", BUNDLE_U32, program),
        POINT("thread", BUNDLE_U32, thread),
        POINT("region", BUNDLE_U32, region),
        POINT("index", BUNDLE_U32, index),
        POINT("messages", BUNDLE_U32, messages),
        POINT("vertices", BUNDLE_U32, vertices),
        POINT("score", BUNDLE_F32, score),
        POINT("verdict", BUNDLE_U8, verdict),
        POINT("kind", BUNDLE_U8, kind),
    };

    bundle_gather(bundle, field, sizeof field / sizeof *field, point, n, sizeof *point);
}

int api_live_points(struct live_state *live, const struct request *request,
                    struct response *response)
{
    struct points_wanted wanted = {0};
    struct live_point *chosen;
    size_t n_chosen;
    struct bundle bundle = {0};
    struct live_cut *cut;
    uint64_t n_total, version, n_taken_back;
    int rc = read_wanted(request, live, &wanted);

    if (rc == 0) {
        cut = mem_alloc(1, sizeof *cut);
        live_state_lock(live);
        live_points_take(&live->points[wanted.kind], cut);
        version = live_state_version(live);
        n_taken_back = live->points[wanted.kind].n_taken_back;
        live_state_unlock(live);
        n_total = choose(cut, &wanted, &chosen, &n_chosen);
        add_columns(&bundle, chosen, n_chosen);
        say(&bundle, "version", version);
        bundle_say(&bundle, "kind", json_string(live_kind_names[wanted.kind]));
        say(&bundle, "next", cut->next);
        say(&bundle, "oldest", cut->oldest);
        say(&bundle, "taken_back", n_taken_back);
        say(&bundle, "shown", n_chosen);
        say(&bundle, "hidden", n_total - n_chosen);
        say(&bundle, "missed",
            cut->oldest_whole > wanted.since ? cut->oldest_whole - wanted.since : 0);
        rc = response_bundle(response, &bundle);
        live_state_lock(live);
        live_points_give_back(cut);
        live_state_unlock(live);
        free(cut);
        free(chosen);
    }
    free(wanted.is_region);
    free(wanted.is_rank);
    return rc;
}
