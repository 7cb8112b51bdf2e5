/* snag what-if -- by how much a run would have been shorter without some of its excess. */
#include "analysis/chosen.h"
#include "analysis/costs.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/settings.h"
#include "ranks/late_senders.h"
#include "run/rundb.h"
#include "view/executions.h"
#include "view/incident_list.h"

#include <stdlib.h>
#include <string.h>

/* What a rank waited, in nanoseconds. */
struct rank_waits {
    uint32_t rank;
    int64_t before, after;
};

struct what_if_asked {
    const struct settings *settings;
    struct run run;
    struct what_if what_if;
    struct chosen chosen;
    bool has_chosen;
    bool has_others;       /* something else than incidents is chosen */
    int64_t *incident;     /* [n_incidents] that are chosen, in order */
    int64_t one_by_one_ns; /* what their lines say, summed; COST_UNKNOWN */
    size_t n_incidents, incident_cap;

    uint64_t run_ns;
    int64_t replay_ns, without_ns;
    int64_t off_ns;     /* by which without_ns may be off, as begins and ends are estimates */
    uint64_t played_ns; /* of our time */
    struct rank_waits *waits; /* [n_ranks] */
    uint32_t n_ranks;
};

/* -------------------------------------------------------------------------- what is said */

static int choose_execution(struct what_if_asked *q, const char *id)
{
    char foi[EXECUTION_ID_SIZE];
    uint32_t rank, thread, index;
    int64_t of = q->chosen.foi;
    int rc = execution_parse(id, foi, sizeof foi, &rank, &thread, &index);

    if (rc == 0 && foi[0])
        rc = executions_foi(q->run.db, foi, &of);
    if (rc == 0 && of != q->chosen.foi)
        rc = err_set(
            ERR_USAGE,
            "--without: '%s' belongs to another function of interest than the other executions",
            id);
    return rc < 0 ? rc : chosen_execution(&q->chosen, rank, thread, index);
}

static int choose_rank(struct what_if_asked *q, const char *number)
{
    char *end;
    unsigned long rank = strtoul(number, &end, 10);

    if (*number < '0' || *number > '9' || *end || rank >= NO_RANK)
        return err_set(ERR_USAGE, "--without rank=N takes the number of a rank, not '%s'",
                       number);
    return chosen_rank(&q->chosen, (uint32_t)rank);
}

static int choose_incident(struct what_if_asked *q, int64_t number)
{
    int rc = chosen_incident(&q->chosen, number);
    size_t i = q->n_incidents;

    if (rc < 0)
        return rc;
    while (i > 0 && q->incident[i - 1] > number)
        i--;
    if (i > 0 && q->incident[i - 1] == number)
        return 0;
    mem_grow(&q->incident, &q->incident_cap, q->n_incidents + 1);
    memmove(q->incident + i + 1, q->incident + i, (q->n_incidents - i) * sizeof *q->incident);
    q->incident[i] = number;
    q->n_incidents++;
    return 0;
}

/* Their numbers, and ranges of these: "3", "3,5", "1-31,40". */
static int choose_incidents(struct what_if_asked *q, const char *numbers)
{
    const char *next = numbers;
    int rc = 0;

    while (rc == 0) {
        char *end;
        long long first = strtoll(next, &end, 10), last = first;

        if (*next < '0' || *next > '9')
            return err_set(
                ERR_USAGE,
                "--without incident=N takes numbers and ranges, such as 3,5 or 1-31, not '%s'",
                numbers);
        if (*end == '-' && end[1] >= '0' && end[1] <= '9')
            last = strtoll(end + 1, &end, 10);
        if ((*end && *end != ',') || last < first)
            return err_set(
                ERR_USAGE,
                "--without incident=N takes numbers and ranges, such as 3,5 or 1-31, not '%s'",
                numbers);
        for (long long i = first; rc == 0 && i <= last; i++)
            rc = choose_incident(q, i);
        if (*end == '\0')
            break;
        next = end + 1;
    }
    return rc;
}

struct repeating {
    struct what_if_asked *q;
    size_t n;
    int rc;
};

/* What comes back by the program's plan is one incident with many turns. */
static void choose_turns(const struct incident_row *x, void *ctx)
{
    struct repeating *r = ctx;

    if (r->rc == 0 && x->n_turns > 1) {
        r->rc = choose_incident(r->q, x->id);
        r->n++;
    }
}

#define REPEATS_MIN_INCIDENTS 4 /* incidents that are alike: fewer are each by themselves */

/* What is strange in the same way, again and again. */
static int choose_groups(struct what_if_asked *q, const struct execution_filter *filter,
                         size_t *n)
{
    struct groups all;
    int rc = groups_find(q->run.db, filter, &all);

    for (size_t i = 0; rc == 0 && i < all.n; i++) {
        const struct group *g = &all.group[i];

        if (g->n_incidents < REPEATS_MIN_INCIDENTS)
            continue;
        ++*n;
        for (size_t k = 0; rc == 0 && k < g->n_incidents; k++)
            rc = choose_incident(q, g->incident[k]);
    }
    groups_release(&all);
    return rc;
}

static int choose_repeats(struct what_if_asked *q)
{
    const struct execution_filter filter = {
        .foi_id = q->chosen.foi, .rank = NO_RANK, .verdict = "anomaly"};
    struct repeating turns = {.q = q};
    int rc = choose_groups(q, &filter, &turns.n);

    if (rc == 0)
        rc = incident_list_each(q->run.db, &filter, choose_turns, &turns);
    rc = rc == 0 ? turns.rc : rc;
    if (rc == 0 && turns.n == 0)
        return err_set(ERR_NOT_FOUND,
                       "no repeats: no group has %d incidents or more, and no incident comes "
                       "back periodically (snag list --groups)",
                       REPEATS_MIN_INCIDENTS);
    return rc;
}

/* An id of an execution; names of functions of C++ may have a '#', too. */
static bool is_execution(const char *what)
{
    return strchr(what, '#') && strncmp(what, "path=", 5) != 0 &&
           strncmp(what, "region=", 7) != 0;
}

static int choose(struct what_if_asked *q, const char *what)
{
    if (strncmp(what, "incident=", 9) == 0)
        return choose_incidents(q, what + 9);
    if (strcmp(what, "repeats") == 0)
        return choose_repeats(q);
    q->has_others = true;
    if (is_execution(what))
        return choose_execution(q, what);
    if (strcmp(what, "anomalies") == 0) {
        chosen_anomalies(&q->chosen);
        return 0;
    }
    if (strncmp(what, "rank=", 5) == 0)
        return choose_rank(q, what + 5);
    if (strncmp(what, "path=", 5) == 0)
        return chosen_path(&q->chosen, what + 5);
    if (strncmp(what, "region=", 7) == 0)
        return chosen_path(&q->chosen, what + 7);
    return err_set(ERR_USAGE,
                   "--without takes '#RANK-INDEX', incident=N, repeats, anomalies, rank=N, "
                   "region=NAME or path='A > B', not '%s'",
                   what);
}

/* The function of interest that --foi, or the executions that were named, are of. */
static int find_foi(struct what_if_asked *q, int64_t *foi)
{
    const struct settings *s = q->settings;
    const char *name = settings_foi(s), *said = NULL;
    char of_id[EXECUTION_ID_SIZE];
    uint32_t rank, thread, index;

    for (uint32_t i = 0; name == NULL && said == NULL && i < s->without.n; i++)
        if (is_execution(s->without.text[i]) && s->without.text[i][0] != '#')
            said = s->without.text[i];
    if (said && execution_parse(said, of_id, sizeof of_id, &rank, &thread, &index) == 0)
        name = of_id;
    return executions_foi(q->run.db, name, foi);
}

static void add_cost(const struct incident_row *x, void *ctx)
{
    struct what_if_asked *q = ctx;

    for (size_t i = 0; i < q->n_incidents; i++)
        if (q->incident[i] == x->id && q->one_by_one_ns != COST_UNKNOWN)
            q->one_by_one_ns =
                x->has_cost ? q->one_by_one_ns + (int64_t)x->cost_ns : COST_UNKNOWN;
}

static int choose_all(struct what_if_asked *q)
{
    const struct settings *s = q->settings;
    int64_t foi = 0;
    int rc = find_foi(q, &foi);

    if (rc < 0)
        return rc;
    q->has_chosen = true;
    rc = chosen_open(&q->chosen, q->run.db, foi, &q->run.columns, &q->run.defs);
    for (uint32_t i = 0; rc == 0 && i < s->without.n; i++)
        rc = choose(q, s->without.text[i]);
    if (rc == 0 && q->n_incidents > 0)
        rc = incident_list_each(
            q->run.db, &(struct execution_filter){.foi_id = foi, .rank = NO_RANK}, add_cost, q);
    return rc;
}

/* --------------------------------------------------------------------------- what is asked */

static void play(struct what_if_asked *q, struct replay_result *result)
{
    uint64_t begin_ns = clock_ns();

    replay_whole(&q->what_if.replay, result);
    q->played_ns = clock_ns() - begin_ns;
}

/* Unchanged it takes as long as it took, to the nanosecond (replay.h): that is only played
 * where nothing else is asked. */
static void play_unchanged(struct what_if_asked *q)
{
    const struct syncs *s = &q->what_if.syncs;
    struct replay_result result = {.saved_ns = 0};

    if (q->settings->without.n == 0)
        play(q, &result);
    q->replay_ns = (int64_t)(s->end_ns - s->begin_ns) - result.saved_ns;
    q->without_ns = q->replay_ns;
}

/* What is shorter without what is chosen, if it is as much as it may be, or as little. */
static int saved(struct what_if_asked *q, int way, int64_t *saved_ns)
{
    struct replay_result result;
    int rc;

    replay_clear(&q->what_if.replay);
    rc = chosen_cut(&q->chosen, &q->what_if, way);
    if (rc < 0)
        return rc;
    play(q, &result);
    *saved_ns = result.saved_ns;
    return 0;
}

/* Played last as it is: who waits how long is that of the last one. */
static int play_without(struct what_if_asked *q)
{
    int64_t saved_ns = 0, most_ns = 0, least_ns = 0;
    int rc = saved(q, 0, &saved_ns);

    if (rc == 0 && q->chosen.off_ns > 0) {
        rc = saved(q, 1, &most_ns);
        if (rc == 0)
            rc = saved(q, -1, &least_ns);
        if (rc == 0)
            rc = saved(q, 0, &saved_ns);
        q->off_ns =
            most_ns - saved_ns > saved_ns - least_ns ? most_ns - saved_ns : saved_ns - least_ns;
    }
    q->without_ns = q->replay_ns - saved_ns;
    return rc;
}

/* A thread that waits for its GPU and the stream that waits for others are one wait: that of
 * the thread. */
static void sum_waits(struct what_if_asked *q)
{
    const struct syncs *s = &q->what_if.syncs;

    q->n_ranks = q->run.defs.n_ranks;
    q->waits = mem_alloc(q->n_ranks, sizeof *q->waits);
    for (uint32_t r = 0; r < q->n_ranks; r++)
        q->waits[r].rank = r;
    for (uint32_t l = 0; l < s->n_locations; l++) {
        struct rank_waits *w = &q->waits[q->run.defs.location[l].rank];
        int64_t before = 0;

        if (s->is_stream[l])
            continue;
        for (uint32_t k = syncs_begin(s, l); k < syncs_end(s, l); k++)
            before += s->sync[k].is_idle ? 0 : (int64_t)sync_wait_ns(&s->sync[k]);
        w->before += before;
        w->after += before - q->what_if.replay.waits_less[l];
    }
}

static int answer(struct what_if_asked *q)
{
    long long begin = rundb_get(q->run.db, "begin_ns"), end = rundb_get(q->run.db, "end_ns");
    uint64_t asked_at = clock_ns(), found_at;
    int rc = what_if_init(&q->what_if, &q->run.columns, &q->run.defs);

    if (rc < 0)
        return rc;
    found_at = clock_ns();
    q->run_ns = end > begin ? (uint64_t)(end - begin) : 0;
    play_unchanged(q);
    if (q->settings->without.n > 0) {
        rc = choose_all(q);
        if (rc == 0)
            rc = play_without(q);
        if (rc < 0)
            return rc;
    }
    log_info("what-if", "%u dependencies found in %.1f ms, replayed in %.1f ms",
             q->what_if.syncs.n, (double)(found_at - asked_at) * 1e-6,
             (double)q->played_ns * 1e-6);
    sum_waits(q);
    return 0;
}

/* -------------------------------------------------------------------------- what is printed */

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* Locations with calls that take no part. */
static uint32_t count_left_out(const struct what_if_asked *q)
{
    const struct syncs *s = &q->what_if.syncs;
    uint32_t n = 0;

    for (uint32_t l = 0; l < s->n_locations; l++)
        n += s->view->calls[l].n > 0 && !syncs_takes_part(s, l);
    return n;
}

static json_t *late_senders_json(const struct what_if_asked *q)
{
    json_t *worst = json_array();
    struct late_senders late;

    late_senders_find(&q->what_if.view, &late);
    for (uint32_t i = 0; i < late.n_worst; i++)
        json_array_append_new(worst, json_pack("{s:I, s:I, s:I, s:I}", "rank",
                                               (json_int_t)late.worst[i].rank, "sender",
                                               (json_int_t)late.worst[i].sender, "enter_ns",
                                               (json_int_t)late.worst[i].enter_ns, "wait_ns",
                                               (json_int_t)late.worst[i].wait_ns));
    return json_pack("{s:I, s:I, s:o}", "count", (json_int_t)late.n, "sum_ns",
                     (json_int_t)late.sum_ns, "worst", worst);
}

/* Nothing follows from an order of times that is known to be wrong. */
static json_t *known_json(const struct syncs *s, int64_t ns)
{
    return syncs_clocks_agree(s) ? json_integer((json_int_t)ns) : json_null();
}

static void print_as_json(const struct what_if_asked *q)
{
    const struct syncs *s = &q->what_if.syncs;
    json_t *waits = json_array(), *incidents = json_array(), *json;

    for (uint32_t r = 0; r < q->n_ranks; r++)
        json_array_append_new(waits, json_pack("{s:I, s:I, s:I}", "rank", (json_int_t)r,
                                               "before_ns", (json_int_t)q->waits[r].before,
                                               "after_ns", (json_int_t)q->waits[r].after));
    json = json_pack(
        "{s:I, s:I, s:o, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "run_ns",
        (json_int_t)q->run_ns, "replay_ns", (json_int_t)q->replay_ns, "without_ns",
        known_json(s, q->without_ns), "saved_ns", known_json(s, q->replay_ns - q->without_ns),
        "clocks_agree", syncs_clocks_agree(s), "executions", (json_int_t)q->chosen.n_chosen,
        "excess_ns", (json_int_t)q->chosen.excess_ns, "cut_ns", (json_int_t)q->chosen.cut_ns,
        "unknown_ns", (json_int_t)q->chosen.unknown_ns, "ends_of_messages",
        (json_int_t)s->n_messages, "matched", (json_int_t)s->n_matched, "eager_bytes",
        (json_int_t)s->eager_bytes, "left_out", (json_int_t)count_left_out(q), "late_senders",
        late_senders_json(q), "waits", waits);
    json_object_set_new(json, "collectives", json_integer((json_int_t)s->n_meetings));
    json_object_set_new(json, "with_all_members", json_integer((json_int_t)s->n_attended));
    json_object_set_new(json, "calls_elsewhere", json_count(q->chosen.n_elsewhere));
    json_object_set_new(json, "outside_ns", json_integer((json_int_t)q->chosen.outside_ns));
    json_set_off(json, (double)q->off_ns);
    if (q->n_incidents > 0) {
        for (size_t i = 0; i < q->n_incidents; i++)
            json_array_append_new(incidents, json_integer((json_int_t)q->incident[i]));
        json_object_set(json, "incidents", incidents);
        json_object_set_new(json, "one_by_one_ns",
                            q->one_by_one_ns == COST_UNKNOWN
                                ? json_null()
                                : json_integer((json_int_t)q->one_by_one_ns));
    }
    json_decref(incidents);
    print_json(json, false);
}

static void print_replay(const struct what_if_asked *q)
{
    const struct syncs *s = &q->what_if.syncs;
    char run[TEXT_SIZE], replay[TEXT_SIZE], part[TEXT_SIZE], ends[TEXT_SIZE];
    uint32_t n_out = count_left_out(q);
    double part_ns = (double)(s->end_ns - s->begin_ns);

    print("the run took %s", text_duration((double)q->run_ns, run));
    if (n_out > 0 && part_ns < (double)q->run_ns)
        print(", %s of that on the locations that are replayed", text_duration(part_ns, part));
    else
        part_ns = (double)q->run_ns;
    print("; the replay with nothing taken out takes %s (%+.3f %%, an exact replay 0 %%)\n",
          text_duration((double)q->replay_ns, replay),
          percent((double)q->replay_ns - part_ns, part_ns));
    if (s->n_matched < s->n_messages)
        print("for %.1f %% of %s sends and receives the matching receive or send is not in the "
              "trace: who waited for them is not known\n",
              percent((double)(s->n_messages - s->n_matched), (double)s->n_messages),
              text_count(s->n_messages, ends));
    if (s->lacks_launches)
        print("what launched the GPU operations that calls wait for is not in the trace: the "
              "run would be "
              "shorter by at most what is said here\n");
    if (syncs_lack_members(s))
        print("%.1f %% of %s collectives lack records of members, which may have come as late: "
              "the run would be shorter by at most what is said here\n",
              percent((double)(s->n_meetings - s->n_attended), (double)s->n_meetings),
              text_count(s->n_meetings, ends));
    if (!syncs_clocks_agree(s))
        print("%.1f %% of %s waits end before what they wait for: the clocks "
              "contradict each other, and above %g %% no result is given\n",
              percent((double)s->n_early, (double)s->n_needs), text_count(s->n_needs, ends),
              100 * SYNCS_MAX_EARLY);
    if (n_out > 0)
        print("not replayed: %u location%s without messages, teams of threads or GPU streams "
              "that others wait for; %s times do not change\n",
              n_out, text_plural(n_out), n_out == 1 ? "its" : "their");
}

static void print_saved(const struct what_if_asked *q)
{
    const struct chosen *c = &q->chosen;
    int64_t saved = q->replay_ns - q->without_ns;
    char excess[TEXT_SIZE], cut[TEXT_SIZE], without[TEXT_SIZE], less[TEXT_SIZE];
    char off[TEXT_SIZE], outside[TEXT_SIZE + 64] = "";

    if (!syncs_clocks_agree(&q->what_if.syncs)) {
        print("how long the run would be without the excess of %u execution%s (%s) is not "
              "known: too many waits end before what they wait for\n",
              c->n_chosen, text_plural(c->n_chosen),
              text_duration((double)c->excess_ns, excess));
        return;
    }
    text_duration((double)c->excess_ns, excess);
    text_duration((double)c->cut_ns, cut);
    if (c->outside_ns > 0)
        snprintf(outside, sizeof outside,
                 ", and without %s of what they waited for in no "
                 "execution,",
                 text_duration((double)c->outside_ns, less));
    print("%u execution%s took %s more than typical (%s%s). "
          "Without that own work%s the replayed run takes %s%s, %s %s (%.3g %%)%s%s\n",
          c->n_chosen, text_plural(c->n_chosen), excess, strcmp(cut, excess) == 0 ? "all" : cut,
          strcmp(cut, excess) == 0   ? " of it own work"
          : c->cut_ns > c->excess_ns ? " more of own work, and less waiting"
                                     : " of it own work, the rest waiting",
          outside, syncs_are_exact(&q->what_if.syncs) ? "" : "at least ",
          text_duration((double)q->without_ns, without),
          text_duration((double)llabs(saved), less), saved < 0 ? "longer" : "shorter",
          percent((double)llabs(saved), (double)q->replay_ns),
          q->off_ns > 0 ? ", known to within " : "",
          q->off_ns > 0 ? text_duration((double)q->off_ns, off) : "");
    if (q->n_incidents > 1 && !q->has_others && q->one_by_one_ns != COST_UNKNOWN)
        print("each removed alone, the %zu incidents cost the run %s in all\n", q->n_incidents,
              text_duration((double)q->one_by_one_ns, less));
    if (c->unknown_ns > 0)
        print("%s of the excess is in calls whose partner is not in the trace: it stays in the "
              "run, and its cost is not known\n",
              text_duration((double)c->unknown_ns, excess));
    if (c->n_outside > 0)
        print("%u of these executions %s on locations that are not replayed: the cost is not "
              "known\n",
              c->n_outside, c->n_outside == 1 ? "is" : "are");
    if (c->n_elsewhere > 0)
        print(
            "%s call%s of these functions %s on threads without executions, as those of teams: "
            "nothing is taken out of them\n",
            text_count(c->n_elsewhere, excess), c->n_elsewhere == 1 ? "" : "s",
            c->n_elsewhere == 1 ? "is" : "are");
}

static int by_gain(const void *a, const void *b)
{
    const struct rank_waits *p = a, *q = b;
    int64_t x = p->before - p->after, y = q->before - q->after;

    return ORDER(y, x) ?: ORDER(q->before, p->before) ?: ORDER(p->rank, q->rank);
}

static void print_waits(struct what_if_asked *q)
{
    const struct settings *s = q->settings;
    struct table *table = table_new("rrrr", "rank", "waited", "would wait", "less");
    char before[TEXT_SIZE], after[TEXT_SIZE], less[TEXT_SIZE];

    qsort(q->waits, q->n_ranks, sizeof *q->waits, by_gain);
    for (uint32_t i = 0; i < q->n_ranks && (s->is_all || i < s->top); i++) {
        const struct rank_waits *w = &q->waits[i];
        int64_t gain = w->before - w->after;

        table_cell(table, "%u", w->rank);
        table_cell(table, "%s", text_duration((double)w->before, before));
        table_cell(table, "%s", text_duration((double)w->after, after));
        table_cell(table, "%s%s", gain < 0 ? "-" : "",
                   gain ? text_duration((double)llabs(gain), less) : "");
    }
    fputc('\n', stdout);
    table_print(table, stdout);
}

int cmd_what_if(const struct settings *settings)
{
    struct what_if_asked q = {.settings = settings};
    int rc = selection_open(&q.run, settings);

    if (rc == 0)
        rc = answer(&q);
    if (rc == 0 && settings->is_json) {
        print_as_json(&q);
    } else if (rc == 0) {
        print_replay(&q);
        if (settings->without.n > 0)
            print_saved(&q);
        print_waits(&q);
    }
    if (q.has_chosen)
        chosen_close(&q.chosen);
    what_if_release(&q.what_if);
    run_close(&q.run);
    free(q.waits);
    free(q.incident);
    return rc < 0 ? rc : STATUS_DONE;
}
