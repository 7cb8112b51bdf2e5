/*
 * A model has a function of the client from the step on in which it has calls. Statistics are
 * gathered per rank and region in arrays, and said by name once a step.
 */
#include "live/live_exchange.h"

#include "base/idmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "ps/ps_wire.h"

#include <stdio.h>
#include <stdlib.h>

#define FIRST_MS 1000 /* in the first step, for the server to say whether it is frozen */
#define TALK_MS 10    /* of a step, when the server answers */
#define ROUND_MS 200  /* between looks whether we are told to end */

/* What a rank (kept at its first location) or a region did in a step. */
struct step_tally {
    uint64_t n_calls, n_anomalies;
};

struct tallies {
    struct step_tally *tally; /* [n] */
    uint32_t n;
    size_t cap;
};

struct live_exchange {
    struct live_exchange_opts opts;
    char *program;
    struct tallies rank, region;
    uint32_t *home; /* [n_homes] of a location: the first one of its rank */
    uint32_t n_homes;
    size_t home_cap;
    struct ps_stat *counter; /* [n_counters][2] whole, real */
    size_t counter_cap;
    uint32_t *number; /* [n_numbers] by model, see live_exchange_number; or PS_NO_INDEX */
    uint32_t n_numbers;
    size_t number_cap;
    struct idmap given;             /* of these */
    uint64_t n_replies, n_restarts; /* that we have seen */
    bool has_talked;
    bool has_shared;   /* a model had calls of others */
    bool is_answered;  /* in the step before */
    bool has_given_up; /* rounds: told to end while waiting */
};

struct live_exchange *live_exchange_new(const struct live_exchange_opts *opts)
{
    struct live_exchange *x = mem_alloc(1, sizeof *x);

    x->opts = *opts;
    x->program = mem_copy_string(opts->program);
    return x;
}

void live_exchange_free(struct live_exchange *x)
{
    if (x == NULL)
        return;
    free(x->rank.tally);
    free(x->region.tally);
    free(x->home);
    free(x->counter);
    free(x->number);
    idmap_release(&x->given);
    free(x->program);
    free(x);
}

/* --------------------------------------------------------------------------------- models */

static void name_function(struct live_exchange *x, struct live_models *m, uint32_t i,
                          const struct definitions *defs)
{
    char *name = live_models_name(m, i, defs);

    m->model[i].function = ps_client_function(x->opts.client, x->program, name);
    free(name);
}

static void send_step(struct live_exchange *x, struct live_models *m,
                      const struct definitions *defs)
{
    for (uint32_t i = 0; i < m->n; i++) {
        struct live_model *model = &m->model[i];

        if (model->step.n == 0)
            continue;
        if (model->function == PS_NO_INDEX)
            name_function(x, m, i, defs);
        if (model->function != PS_NO_INDEX) /* it has so many functions already */
            ps_client_add(x->opts.client, model->function, &model->step);
        model->is_touched = true;
        sketch_merge(&model->sketch, &model->step);
        sketch_clear(&model->step);
    }
}

/* Who answers. Returns true if somebody has since we looked last. */
static bool note_server(struct live_exchange *x)
{
    struct ps_client_counts counts;
    bool has_answered;

    ps_client_counts(x->opts.client, &counts);
    has_answered = counts.n_replies > x->n_replies;
    if (has_answered && x->n_replies == 0)
        log_info("ad", "the parameter server has answered");
    if (counts.n_restarts > x->n_restarts)
        log_info("ad", "the parameter server was restarted");
    x->n_replies = counts.n_replies;
    x->n_restarts = counts.n_restarts;
    return has_answered;
}

/* Returns true if models have come. */
static bool talk(struct live_exchange *x)
{
    bool has_models = true;
    int most_ms = x->has_talked ? 0 : FIRST_MS;

    if (x->opts.has_rounds) {
        while (!x->has_given_up && !ps_client_round(x->opts.client, ROUND_MS))
            x->has_given_up = x->opts.is_told && x->opts.is_told();
    } else {
        ps_client_push(x->opts.client);
        has_models = ps_client_exchange(x->opts.client, x->is_answered ? TALK_MS : most_ms);
        x->has_talked = true;
    }
    x->is_answered = note_server(x);
    return has_models;
}

/* What the server says is all that there is to know, whatever was read here. */
static bool is_whole(const struct live_exchange *x)
{
    return ps_client_is_frozen(x->opts.client) || (x->opts.has_rounds && !x->has_given_up);
}

/* A server that was started anew says its models once more: until then those it said before are
 * what it knows, if it knows all. */
static void copy(struct sketch *to, const struct sketch *from, bool is_whole)
{
    if (from == NULL && is_whole)
        return;
    sketch_clear(to);
    if (from)
        sketch_merge(to, from);
}

static void take(struct live_exchange *x, struct live_model *model)
{
    const struct ps_client *client = x->opts.client;
    bool was_shared = model->is_shared;

    model->is_touched = false;
    copy(&model->shared, ps_client_model(client, model->function), is_whole(x));
    model->is_shared = true;
    if (!is_whole(x)) {
        ps_client_unsent(client, model->function, &model->shared);
        model->is_shared = model->shared.n >= model->sketch.n;
    }
    x->has_shared |= model->is_shared && model->shared.n > model->sketch.n;
    if (model->is_shared != was_shared || live_models_known(model)->n == 0)
        model->n_fitted = 0;
}

void live_exchange_models(struct live_exchange *x, struct live_models *m,
                          const struct definitions *defs)
{
    bool has_news;

    send_step(x, m, defs);
    has_news = talk(x);
    for (uint32_t i = 0; i < m->n; i++)
        if (m->model[i].function != PS_NO_INDEX && (has_news || m->model[i].is_touched))
            take(x, &m->model[i]);
}

/* ----------------------------------------------------------------------------- statistics */

static struct step_tally *tally_of(struct tallies *t, uint32_t i)
{
    mem_grow(&t->tally, &t->cap, (size_t)i + 1);
    while (t->n <= i)
        t->tally[t->n++] = (struct step_tally){0};
    return &t->tally[i];
}

/* The program of a location, as a server knows it: by its number. */
static const char *program_of(const struct location *location, char text[16])
{
    snprintf(text, 16, "%u", location->program);
    return text;
}

static void say(struct live_exchange *x, const char *program, uint32_t rank, const char *region,
                const char *name, uint64_t value)
{
    struct ps_stat_key key = {program, rank, region, name};
    struct ps_stat stat = {0};

    ps_stat_add(&stat, (int64_t)value);
    ps_client_count(x->opts.client, &key, &stat);
}

/* Where nothing happened, there is nothing to say. */
static void say_tally(struct live_exchange *x, const char *program, uint32_t rank,
                      const char *region, const struct step_tally *tally, bool is_judged)
{
    if (is_judged && (tally->n_calls > 0 || tally->n_anomalies > 0))
        say(x, program, rank, region, "anomalies", tally->n_anomalies);
    else if (tally->n_calls > 0)
        say(x, program, rank, region, "calls", tally->n_calls);
}

static void say_tallies(struct live_exchange *x, const struct definitions *defs, bool is_judged)
{
    char program[16];

    for (uint32_t l = 0; l < x->rank.n; l++)
        say_tally(x, program_of(&defs->location[l], program), defs->location[l].rank, "",
                  &x->rank.tally[l], is_judged);
    for (uint32_t r = 0; r < x->region.n; r++)
        say_tally(x, x->program, PS_ALL_RANKS, defs->names.name[r], &x->region.tally[r],
                  is_judged);
}

static void find_homes(struct live_exchange *x, const struct definitions *defs)
{
    mem_grow(&x->home, &x->home_cap, defs->n_locations);
    for (; x->n_homes < defs->n_locations; x->n_homes++) {
        uint32_t home = x->n_homes;

        for (uint32_t l = x->n_homes; l-- > 0;)
            if (defs->location[l].rank == defs->location[x->n_homes].rank &&
                defs->location[l].program == defs->location[x->n_homes].program) {
                home = x->home[l];
                break;
            }
        x->home[x->n_homes] = home;
    }
}

static void count_calls(struct live_exchange *x, uint32_t location, const struct calls *c)
{
    uint64_t n = 0;

    for (uint32_t row = 0; row < c->n; row++) {
        if (c->inclusive_ns[row] == CALL_OPEN)
            continue;
        tally_of(&x->region, c->region[row])->n_calls++;
        n++;
    }
    tally_of(&x->rank, x->home[location])->n_calls += n;
}

static void say_counters(struct live_exchange *x, const struct definitions *defs,
                         const struct location *location, const struct calls *c)
{
    uint32_t n = 2 * defs->counters.n;
    char program[16];

    if (c->n_counters == 0)
        return;
    mem_grow(&x->counter, &x->counter_cap, n);
    for (uint32_t i = 0; i < n; i++)
        x->counter[i] = (struct ps_stat){.is_real = i % 2};
    for (size_t i = 0; i < c->n_counters; i++) {
        const struct counter_value *v = &c->counter[i].value;

        if (v->counter >= defs->counters.n)
            continue;
        if (v->is_real)
            ps_stat_add_real(&x->counter[2 * v->counter + 1], v->real);
        else
            ps_stat_add(&x->counter[2 * v->counter], v->whole);
    }
    for (uint32_t i = 0; i < n; i++)
        ps_client_count(x->opts.client,
                        &(struct ps_stat_key){program_of(location, program), location->rank, "",
                                              defs->counters.name[i / 2]},
                        &x->counter[i]);
}

void live_exchange_calls(struct live_exchange *x, const struct definitions *defs,
                         const struct calls *calls, uint32_t n_locations)
{
    for (uint32_t r = 0; r < x->rank.n; r++)
        x->rank.tally[r] = (struct step_tally){0};
    for (uint32_t r = 0; r < x->region.n; r++)
        x->region.tally[r] = (struct step_tally){0};
    find_homes(x, defs);
    for (uint32_t l = 0; l < n_locations; l++) {
        count_calls(x, l, &calls[l]);
        say_counters(x, defs, &defs->location[l], &calls[l]);
    }
    say_tallies(x, defs, false);
}

void live_exchange_anomalies(struct live_exchange *x, const struct ad_step *step)
{
    for (size_t i = 0; i < step->n_verdicts; i++) {
        const struct verdict *v = &step->verdict[i];

        tally_of(&x->rank, x->home[v->location])->n_anomalies++;
        tally_of(&x->region, v->region)->n_anomalies++;
    }
    say_tallies(x, step->defs, true);
}

uint32_t live_exchange_number(struct live_exchange *x, uint32_t model, uint32_t function)
{
    uint32_t number;

    mem_grow(&x->number, &x->number_cap, (size_t)model + 1);
    while (x->n_numbers <= model)
        x->number[x->n_numbers++] = PS_NO_INDEX;
    if (x->number[model] != PS_NO_INDEX)
        return x->number[model];
    number = function == PS_NO_INDEX ? PS_NO_INDEX : ps_client_index(x->opts.client, function);
    if (number >= LIVE_OWN_NUMBER || idmap_find(&x->given, key_pair(number, 0)) != IDMAP_NONE)
        number = LIVE_OWN_NUMBER | model;
    idmap_add(&x->given, key_pair(number, 0));
    return x->number[model] = number;
}

bool live_exchange_finish(struct live_exchange *x, int timeout_ms)
{
    bool is_saved = ps_client_flush(x->opts.client, timeout_ms);

    note_server(x);
    return is_saved;
}

bool live_exchange_has_shared(const struct live_exchange *x)
{
    return x->has_shared;
}
