/* Sums by cause and rank come from the database; the largest is looked for here. */
#include "view/outcome.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/run_sql.h"
#include "run/rundb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOW_MATERIAL 1000 /* of the run: who costs it less is not said */
#define SLOW_BESIDE 100    /* ... or so much, if that is less than what the anomalies cost */
#define HALF 0.5           /* of all: what is more is most of it */
#define MAX_LOST_RANKS 8   /* said by name */

/* -------------------------------------------------------------------------------- the database */

/* The texts of the first row of a statement about (foi), or (foi, id); NULL without a row. */
static int find_texts(sqlite3 *db, const char *sql, int64_t foi, int64_t id, char **first,
                      char **second)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_prepare(db, sql, &query);

    *first = NULL;
    if (rc == 0)
        rc = rundb_bind(db, query, sqlite3_bind_parameter_count(query) > 1 ? "ii" : "i", foi,
                        id);
    if (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        *first = mem_copy_string(rundb_text(query, 0));
        if (second)
            *second = mem_copy_string(rundb_text(query, 1));
    }
    sqlite3_finalize(query);
    return rc;
}

static int find_text(sqlite3 *db, const char *sql, int64_t foi, int64_t id, char **out)
{
    return find_texts(db, sql, foi, id, out, NULL);
}

/* ------------------------------------------------------------------------------------ the cost */

static int find_cost(sqlite3 *db, int64_t foi, struct outcome *a)
{
    static const char before[] = "its cost is not known: ";
    char *cost = NULL;
    int64_t changed = 0, more_ns = 0, has_bounds = 0;
    int rc = executions_cost(db, foi, &a->cost);

    if (rc == 0)
        rc = rundb_number(db, &changed, run_sql_verdict_changed, "i", foi);
    if (rc == 0 && changed) {
        /* Without those that only labels made anomalies, at most: what each took beyond what is typical. */
        rc = rundb_number(db, &more_ns, run_sql_labels_lost, "i", foi);
        a->is_bound = a->cost.is_known;
        a->cost.cost_ns += (uint64_t)more_ns;
        a->cost.n_carrying = 0;
        a->unknown =
            mem_copy_string("labels have changed since which executions are anomalies");
    }
    if (rc == 0 && a->cost.is_known && a->cost.is_bound && !a->unknown) {
        a->is_bound = true;
        a->unknown = mem_copy_string("not all of who waited for whom is in the trace");
    }
    if (rc < 0 || a->cost.is_known || a->unknown)
        return rc;
    rc = find_text(db, run_sql_unknown_cost, foi, 0, &cost);
    if (cost && strncmp(cost, before, strlen(before)) == 0)
        a->unknown = mem_copy_string(cost + strlen(before));
    else if (cost) /* there is a bound of it alone */
        a->unknown = mem_copy_string("who waited for whom is not in the trace");
    free(cost);
    if (rc == 0 && !a->unknown)
        rc = rundb_number(db, &has_bounds, run_sql_has_bounds, "i", foi);
    if (rc == 0 && has_bounds)
        a->unknown = mem_copy_string("of some it is known just what they cost at most");
    return rc;
}

/* What goes back to one rank in one way, elsewhere or not. */
struct cause_row {
    int64_t way;      /* 0: none */
    uint32_t rank;    /* NO_RANK: each was on several, */
    uint32_t n_ranks; /* on so many at most; else 1 */
    uint32_t n_incidents, n_unknown;
    bool is_elsewhere;
    uint64_t lost_ns, cost_ns; /* cost_ns: without those n_unknown of which it is not known */
    int64_t largest;           /* the incident that lost most */
    uint32_t place;            /* of the strangest of them by score; each has its own */
};

/* All rows of the statement. */
static int read_causes(sqlite3 *db, int64_t foi, struct cause_row **row, size_t *n)
{
    sqlite3_stmt *query = NULL;
    int rc = rundb_query(db, &query, run_sql_causes, "i", foi);
    size_t cap = 0;

    *row = NULL;
    *n = 0;
    while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
        mem_grow(row, &cap, *n + 1);
        (*row)[(*n)++] = (struct cause_row){
            .way = sqlite3_column_int64(query, 0),
            .rank = sqlite3_column_type(query, 1) == SQLITE_NULL
                        ? NO_RANK
                        : (uint32_t)sqlite3_column_int64(query, 1),
            .is_elsewhere = sqlite3_column_int(query, 2) != 0,
            .n_incidents = (uint32_t)sqlite3_column_int64(query, 3),
            .lost_ns = (uint64_t)sqlite3_column_int64(query, 4),
            .cost_ns = (uint64_t)sqlite3_column_int64(query, 5),
            .place = (uint32_t)sqlite3_column_int64(query, 6),
            .n_unknown = (uint32_t)sqlite3_column_int64(query, 7),
            .n_ranks = (uint32_t)sqlite3_column_int64(query, 8),
            .largest = sqlite3_column_int64(query, 9),
        };
    }
    return rundb_close_query(db, query, rc, "cannot read the incidents");
}

/* Of different ranks, but one cause. What is strange in no way that is known has its own. */
static bool is_one_cause(const struct cause_row *p, const struct cause_row *q)
{
    return p->way > 0 && p->way == q->way && p->is_elsewhere == q->is_elsewhere;
}

static uint64_t ns_of(const struct cause_row *row, bool is_cost)
{
    return is_cost ? row->cost_ns : row->lost_ns;
}

/* Of n rows that sum to ns that with most of it; or the strangest, where all lost nothing. NULL: there is none. */
static const struct cause_row *find_chief(const struct cause_row *row, size_t n, uint64_t ns,
                                          bool is_cost)
{
    const struct cause_row *strangest = row;

    for (size_t i = 0; i < n; i++) {
        if ((double)ns_of(&row[i], is_cost) > HALF * (double)ns)
            return &row[i];
        if (row[i].place < strangest->place)
            strangest = &row[i];
    }
    return ns == 0 ? strangest : NULL;
}

/* The cause of n rows that sum to ns; or what of it is of one rank, if that is most of it. */
static struct outcome_most sum_up(const struct cause_row *row, size_t n, uint64_t ns,
                                  bool is_cost)
{
    const struct cause_row *chief = find_chief(row, n, ns, is_cost);
    struct outcome_most most = {.n_ranks = chief ? chief->n_ranks : (uint32_t)n,
                                .rank = chief ? chief->rank : NO_RANK,
                                .is_cost = is_cost,
                                .n_incidents = chief ? chief->n_incidents : 0,
                                .ns = chief ? ns_of(chief, is_cost) : ns};

    for (size_t i = 0; chief == NULL && i < n; i++) {
        most.n_incidents += row[i].n_incidents;
        most.n_ranks = row[i].n_ranks > most.n_ranks ? row[i].n_ranks : most.n_ranks;
    }
    return most;
}

/* What says in words what most goes back to. */
struct chosen_cause {
    int64_t way;      /* 0: it is of executions elsewhere; then */
    int64_t incident; /* ... the one whose cause it is, or 0 */
};

/* By cost, if that of all incidents is known; else by what was lost; of equals the strangest. */
static struct chosen_cause choose_most(const struct cause_row *row, size_t n, struct outcome *a)
{
    uint64_t cost_ns = 0, of_ns = 0, largest_ns = 0;
    bool is_cost = a->cost.is_known && !a->is_bound;
    uint32_t first_place = UINT32_MAX;
    struct chosen_cause chosen = {0};

    for (size_t i = 0; i < n; i++) {
        cost_ns += row[i].cost_ns;
        is_cost &= row[i].n_unknown == 0;
    }
    is_cost &= cost_ns > 0;
    for (size_t begin = 0, end; begin < n; begin = end) {
        const struct cause_row *chief;
        uint64_t ns = 0;
        uint32_t place = UINT32_MAX;

        for (end = begin; end == begin || (end < n && is_one_cause(&row[begin], &row[end]));
             end++) {
            ns += ns_of(&row[end], is_cost);
            place = row[end].place < place ? row[end].place : place;
        }
        if (begin == 0 || ns > largest_ns || (ns == largest_ns && place < first_place)) {
            a->most = sum_up(row + begin, end - begin, ns, is_cost);
            largest_ns = ns;
            first_place = place;
            chosen.way = row[begin].is_elsewhere ? 0 : row[begin].way;
            chief = find_chief(row + begin, end - begin, ns, is_cost);
            chosen.incident =
                row[begin].is_elsewhere && chief && chief->rank != NO_RANK ? chief->largest : 0;
        }
        of_ns += ns;
    }
    a->most.of_ns = of_ns;
    return chosen;
}

/* "rank 1.1 gemm, 39.9 ms longer": what is elsewhere. */
static bool says_where(const char *cause)
{
    return strncmp(cause, "rank ", strlen("rank ")) == 0;
}

/* Up to how much: "rank 1.1 gemm" of "rank 1.1 gemm, 39.9 ms longer". */
static size_t length_of_call(const char *cause)
{
    const char *last = NULL;

    for (const char *at = cause; (at = strstr(at, ", ")) != NULL; at++)
        last = at;
    return last ? (size_t)(last - cause) : strlen(cause);
}

/* Of several incidents just the call is said, if it is the same of all; nothing of what comes back, which has the
 * cause of its head. */
static int keep_what_is_common(sqlite3 *db, int64_t foi, struct outcome *a)
{
    char *what = a->most.what;
    size_t length = length_of_call(what);
    sqlite3_stmt *query = NULL;
    bool is_common = says_where(what);
    int rc = 0;

    if (is_common && a->most.n_incidents > 1) {
        rc =
            rundb_query(db, &query, run_sql_causes_elsewhere, "ii", foi, (int64_t)a->most.rank);
        while (rc == 0 && sqlite3_step(query) == SQLITE_ROW) {
            const char *cause = rundb_text(query, 0);

            is_common &= length_of_call(cause) == length && strncmp(cause, what, length) == 0;
        }
        rc = rundb_close_query(db, query, rc, "cannot read the incidents");
        what[length] = '\0';
    }
    if (!is_common) {
        free(what);
        a->most.what = NULL;
    }
    return rc;
}

static int find_most(sqlite3 *db, int64_t foi, struct outcome *a)
{
    struct cause_row *row;
    size_t n;
    struct chosen_cause chosen = {0};
    int64_t n_unended = 0;
    int rc = read_causes(db, foi, &row, &n);

    if (rc == 0)
        rc = rundb_number(db, &n_unended, run_sql_n_unended, "i", foi);
    if (rc == 0)
        chosen = choose_most(row, n, a);
    a->most.is_loss_known = n_unended == 0 && !a->is_few;
    free(row);
    if (rc == 0 && chosen.way > 0)
        rc = find_text(db, run_sql_way, foi, chosen.way, &a->most.what);
    if (rc == 0 && chosen.way > 0)
        rc = find_texts(db, run_sql_way_function, foi, chosen.way, &a->most.function,
                        &a->most.place);
    if (rc == 0 && chosen.incident > 0)
        rc = find_text(db, run_sql_cause, foi, chosen.incident, &a->most.what);
    if (rc == 0 && chosen.incident > 0 && a->most.what)
        rc = keep_what_is_common(db, foi, a);
    return rc;
}

/* ---------------------------------------------------------------------------- who is slow always */

static void take_slow(const struct slow_place *x, void *ctx)
{
    struct outcome *a = ctx;
    struct outcome_slow *slow = &a->slow;
    bool is_alike = !a->is_bound || (x->has_range && x->cost_least_ns == 0); /* both at most */
    uint64_t other_ns = a->cost.is_known && is_alike ? a->cost.cost_ns : 0;
    bool is_less = x->has_cost && x->cost_ns < other_ns;

    if (x->has_cost && x->cost_ns < a->length_ns / (is_less ? SLOW_BESIDE : SLOW_MATERIAL))
        return;
    if (slow->place) {
        slow->n_more++;
        return;
    }
    *slow = (struct outcome_slow){.place = mem_copy_string(x->place),
                                  .verdict = mem_copy_string(x->verdict),
                                  .why = mem_copy_string(x->why),
                                  .has_cost = x->has_cost,
                                  .is_first = x->has_cost && !is_less,
                                  .has_range = x->has_range,
                                  .cost_ns = x->cost_ns,
                                  .cost_least_ns = x->cost_least_ns,
                                  .cost_most_ns = x->cost_most_ns};
}

int outcome_find(sqlite3 *db, int64_t foi, uint64_t n_anomalies, struct outcome *a)
{
    char key[RUNDB_KEY_SIZE];
    int rc;

    *a = (struct outcome){
        .n_anomalies = n_anomalies,
        .length_ns = (uint64_t)(rundb_get(db, "end_ns") - rundb_get(db, "begin_ns")),
    };
    rc = executions_are_few(db, foi, &a->is_few);
    if (rc == 0 && a->n_anomalies > 0)
        rc = find_cost(db, foi, a);
    if (rc == 0 && a->n_anomalies > 0)
        rc = find_most(db, foi, a);
    if (rc == 0)
        rc = executions_slow_places(db, foi, take_slow, a);
    if (rc == 0)
        a->growth = rundb_get_text(db, rundb_growth_key(foi, key));
    return rc;
}

void outcome_release(struct outcome *a)
{
    free(a->unknown);
    free(a->most.what);
    free(a->most.function);
    free(a->most.place);
    free(a->slow.place);
    free(a->slow.verdict);
    free(a->slow.why);
    free(a->growth);
    *a = (struct outcome){0};
}

/* ------------------------------------------------------------------------------------ words, JSON */

/*
 * "most of that goes back to rank 1: step > solve takes longer (solver.c:17)", "... to 16 ranks", or "the largest part
 * of that" where it is less than half; "most of what anomalies lost ..." where the cost is not known, "none lost time;
 * the strangest: ..." where nothing was lost. Where it is not known what some lost, "most of what anomalies are known
 * to have lost ...", or "what they lost is not known; the strangest: ...". "" where there is no incident. Returns out.
 */
static char *goes_back_text(const struct outcome_most *m, char out[OUTCOME_TEXT_SIZE])
{
    const char *much = m->ns == m->of_ns                         ? "all"
                       : (double)m->ns > HALF * (double)m->of_ns ? "most"
                                                                 : "the largest part";
    struct text_writer w = {.out = out, .size = OUTCOME_TEXT_SIZE};
    bool is_placed; /* it says where itself */

    *out = '\0';
    if (m->n_incidents == 0)
        return out;
    if (m->ns == 0)
        text_say(&w, "%s; the strangest: ",
                 m->is_loss_known ? "none lost time" : "what they lost is not known");
    else
        text_say(&w, "%s of %s goes back to ", much,
                 m->is_cost         ? "that"
                 : m->is_loss_known ? "what anomalies lost"
                                    : "what anomalies are known to have lost");
    is_placed = m->what && says_where(m->what);
    if (is_placed)
        text_say(&w, "%.400s", m->what);
    else if (m->rank != NO_RANK)
        text_say(&w, "rank %u", m->rank);
    else
        text_say(&w, "%u ranks", m->n_ranks);
    if (m->what && !is_placed)
        text_say(&w, "%s%.400s", m->ns == 0 ? ", " : ": ", m->what);
    if (m->what && m->place && *m->place)
        text_say(&w, " (%.100s)", m->place);
    return out;
}

/* What most of it goes back to, after what is before it. */
static char *most_text(const struct outcome *a, const char *before,
                       char out[OUTCOME_TEXT_SIZE + 2])
{
    char most[OUTCOME_TEXT_SIZE];

    snprintf(out, OUTCOME_TEXT_SIZE + 2, "%s%s", *goes_back_text(&a->most, most) ? before : "",
             most);
    return out;
}

char *outcome_anomalies_text(const struct outcome *a)
{
    char cost_text[TEXT_SIZE], of[TEXT_SIZE], shorter[4 * TEXT_SIZE],
        carrying[4 * TEXT_SIZE] = "";
    char most[OUTCOME_TEXT_SIZE + 2];
    const struct anomalies_cost *cost = &a->cost;
    double run_ns = (double)a->length_ns, cost_ns = (double)cost->cost_ns;

    if (a->n_anomalies == 0)
        return NULL;
    most_text(a, "; ", most);
    if (!cost->is_known)
        return text_new("what the anomalies cost the run is not known%s%s%s",
                        a->unknown ? ": " : "", a->unknown ? a->unknown : "", most);
    if (cost->cost_ns == 0)
        return text_new("without the anomalies the replayed run is not shorter%s", most);
    snprintf(shorter, sizeof shorter, "%s of %s shorter (%.3g %%)",
             text_duration(cost_ns, cost_text), text_duration(run_ns, of),
             run_ns > 0 ? 100 * cost_ns / run_ns : 0.0);
    if (a->is_bound)
        return text_new("without the anomalies the replayed run is at most %s: %s%s", shorter,
                        a->unknown, most);
    if (cost->n_carrying > 0 && cost->n_carrying < a->n_anomalies)
        snprintf(carrying, sizeof carrying,
                 "; %u of the %" PRIu64 " carr%s nine tenths of the %s", cost->n_carrying,
                 a->n_anomalies, cost->n_carrying == 1 ? "ies" : "y", cost_text);
    return text_new("without the anomalies the replayed run is %s%s%s", shorter, most,
                    carrying);
}

/* "rank 6 may be slow beside the others" */
static char *how_slow(const struct outcome_slow *slow)
{
    const char *how = strcmp(slow->verdict, "slow") == 0     ? "is slow beside the others"
                      : strcmp(slow->verdict, "unsure") == 0 ? "may be slow beside the others"
                                                             : "has more to do than the others";

    return text_new("%s %s", slow->place, how);
}

/* Who is always slow is no anomaly, and may cost the run more than all of these. */
char *outcome_slow_text(const struct outcome *a)
{
    const struct outcome_slow *slow = &a->slow;
    char *how, *text;
    char cost[TEXT_RANGE_SIZE], of[TEXT_SIZE], share[TEXT_RANGE_SIZE], more[3 * TEXT_SIZE] = "";
    double least_ns = (double)slow->cost_least_ns, most_ns = (double)slow->cost_most_ns;
    double percent = 100 / (double)a->length_ns;
    bool is_range = text_is_range(least_ns, most_ns);

    if (slow->place == NULL)
        return NULL;
    if (slow->n_more > 0)
        snprintf(more, sizeof more, "; %u more %s", slow->n_more,
                 strcmp(slow->verdict, "unsure") == 0 ? "may be"
                                                      : "are slow or have more to do");
    if (is_range && least_ns > 0)
        snprintf(share, sizeof share, "%.3g to %.3g", percent * least_ns, percent * most_ns);
    else
        snprintf(share, sizeof share, "%.3g",
                 percent * (is_range ? most_ns : (double)slow->cost_ns));
    how = how_slow(slow);
    text =
        slow->has_cost
            ? text_new("%s: if it were like them, the replayed run would be %s of %s shorter "
                       "(%s %%); %s%s",
                       how,
                       text_duration_or_range((double)slow->cost_ns, least_ns, most_ns, cost),
                       text_duration((double)a->length_ns, of), share, slow->why, more)
            : text_new("%s: what that costs the run is not known; %s%s", how, slow->why, more);
    free(how);
    return text;
}

/* The ranks that lost most, one after another in a line. */
struct ranks_text {
    struct text_writer w;
    uint32_t n_ranks;
};

static void append_rank(const struct lost *lost, void *ctx)
{
    struct ranks_text *r = ctx;
    char time[TEXT_SIZE];

    if (lost->lost_ns > 0 && r->n_ranks++ < MAX_LOST_RANKS)
        text_say(&r->w, "%srank %u %s", r->n_ranks > 1 ? ", " : "", lost->rank,
                 text_duration((double)lost->lost_ns, time));
}

int outcome_lost(sqlite3 *db, int64_t foi, struct outcome_lost *lost)
{
    char names[MAX_LOST_RANKS * 40] = "", time[TEXT_SIZE];
    struct ranks_text ranks = {.w = {.out = names, .size = sizeof names}};
    struct text_writer w = {.out = lost->text, .size = sizeof lost->text};
    struct lost all;
    int64_t n = 0; /* that do not end */
    bool are_few;
    int rc = executions_lost(db, foi, append_rank, &ranks, &all);

    *lost = (struct outcome_lost){.is_known = false};
    if (rc == 0)
        rc = executions_are_few(db, foi, &are_few);
    if (rc == 0)
        rc = rundb_number(db, &n, run_sql_n_unended, "i", foi);
    if (rc < 0)
        return rc;
    lost->is_known = !are_few;
    lost->lost_ns = all.lost_ns;
    lost->duration_ns = all.duration_ns;
    lost->n_unended = (uint64_t)n;
    text_say(&w, "lost in all: %s",
             are_few ? "not known" : text_duration((double)all.lost_ns, time));
    if (!are_few)
        text_say(&w, " of %s", text_duration((double)all.duration_ns, time));
    if (ranks.n_ranks > 0)
        text_say(&w, " (%s%s)", names, ranks.n_ranks > MAX_LOST_RANKS ? ", ..." : "");
    if (n > 0 && !are_few)
        text_say(&w, "; what %s execution%s lost is not known: %s not end",
                 text_count((uint64_t)n, time), text_plural((uint64_t)n),
                 n == 1 ? "it does" : "they do");
    if (all.tracer_ns > 0)
        text_say(&w, "; the tracer took %s", text_duration((double)all.tracer_ns, time));
    return 0;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_text(text) : json_null();
}

static json_t *most_to_json(const struct outcome_most *m)
{
    char text[OUTCOME_TEXT_SIZE];
    json_t *json = json_object();

    json_object_set_new(json, "rank", m->rank == NO_RANK ? json_null() : json_count(m->rank));
    json_object_set_new(json, "ranks", json_count(m->n_ranks));
    json_object_set_new(json, "incidents", json_count(m->n_incidents));
    json_object_set_new(json, "ns", json_count(m->ns));
    json_object_set_new(json, "of_ns", json_count(m->of_ns));
    json_object_set_new(json, "is_cost", json_boolean(m->is_cost));
    json_object_set_new(json, "what", text_or_null(m->what));
    json_object_set_new(json, "function", text_or_null(m->function));
    json_object_set_new(json, "place",
                        m->place && *m->place ? json_text(m->place) : json_null());
    json_object_set_new(json, "text", json_text(goes_back_text(m, text)));
    return json;
}

/* Takes the text. */
static json_t *new_text_or_null(char *text)
{
    json_t *json = text_or_null(text);

    free(text);
    return json;
}

static json_t *slow_to_json(const struct outcome *a)
{
    const struct outcome_slow *s = &a->slow;
    json_t *json = json_pack("{s:o, s:o, s:o, s:o}", "place", json_text(s->place), "verdict",
                             json_text(s->verdict), "why", json_text(s->why), "cost_ns",
                             s->has_cost ? json_count(s->cost_ns) : json_null());

    json_set_range(json, s->has_range, s->cost_least_ns, s->cost_most_ns);
    json_object_set_new(json, "more", json_count(s->n_more));
    json_object_set_new(json, "is_first", json_boolean(s->is_first));
    json_object_set_new(json, "says", new_text_or_null(how_slow(s)));
    json_object_set_new(json, "text", new_text_or_null(outcome_slow_text(a)));
    return json;
}

json_t *outcome_to_json(const struct outcome *a)
{
    bool has_cost = a->cost.is_known && a->n_anomalies > 0;
    json_t *json = json_object();

    json_object_set_new(json, "length_ns", json_count(a->length_ns));
    json_object_set_new(json, "is_few", json_boolean(a->is_few));
    json_object_set_new(json, "cost_ns", has_cost ? json_count(a->cost.cost_ns) : json_null());
    json_object_set_new(json, "cost_is_bound", json_boolean(a->is_bound));
    json_object_set_new(json, "carrying",
                        has_cost && !a->is_bound ? json_count(a->cost.n_carrying)
                                                 : json_null());
    json_object_set_new(json, "unknown", text_or_null(a->unknown));
    json_object_set_new(json, "most",
                        a->most.n_incidents > 0 ? most_to_json(&a->most) : json_null());
    json_object_set_new(json, "slow", a->slow.place ? slow_to_json(a) : json_null());
    json_object_set_new(json, "text", new_text_or_null(outcome_anomalies_text(a)));
    json_object_set_new(json, "growth", text_or_null(a->growth));
    return json;
}
