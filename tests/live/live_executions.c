/*
 * The executions of a function as CSV, for tests and measurements: judged step by step, or,
 * with --whole, as they are found in the finished trace, without verdicts.
 *
 *     live_executions [--whole] [--step S] [--model FILE] [--features NAMES] [--window S]
 *                [--sigmas K] [--plain] TRACE FUNCTION
 *
 * The hash is of all calls of an execution, their times, and its messages.
 */
#include "base/err.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "forest/foi.h"
#include "live/live_trees.h"
#include "stack/callstack.h"
#include "trace/source.h"

#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    bool is_whole;
    double step_s;
    struct live_trees_opts trees;
    const char *trace, *function;
};

/* What an execution is hashed as. */
struct call_facts {
    uint64_t enter_ns, exclusive_ns;
    uint32_t region, parent; /* parent: counted from the root */
};

struct message_facts {
    uint64_t begin_ns, bytes;
    uint32_t call, peer, tag, kind;
};

static void add_message(XXH3_state_t *hash, const struct message *m, uint32_t call)
{
    struct message_facts facts = {m->begin_ns, m->bytes, call, m->peer, m->tag, m->kind};

    XXH3_64bits_update(hash, &facts, sizeof facts);
}

static XXH3_state_t *hash_calls(const struct forest *f, uint32_t t, const uint64_t *enter_ns)
{
    XXH3_state_t *hash = XXH3_createState();

    XXH3_64bits_reset(hash);
    for (uint32_t v = f->first[t]; v < f->first[t + 1]; v++) {
        struct call_facts facts = {enter_ns[v - f->first[t]], f->exclusive_ns[v], f->region[v],
                                   v == f->first[t] ? 0 : f->parent[v] - f->first[t]};

        XXH3_64bits_update(hash, &facts, sizeof facts);
    }
    return hash;
}

static void print_tree(const struct forest *f, uint32_t t, const struct location *location,
                       XXH3_state_t *hash)
{
    printf("#%u", location->rank);
    if (location->thread > 0)
        printf(".%u", location->thread);
    printf("-%u,%u,%llu,%llu,%u,%u,%016llx", f->index[t], f->call[t],
           (unsigned long long)f->enter_ns[t], (unsigned long long)f->root_ns[t],
           forest_n_rows(f, t), f->n_messages[t], (unsigned long long)XXH3_64bits_digest(hash));
    XXH3_freeState(hash);
}

/* -------------------------------------------------------------------------- step by step */

static void print_step(void *ctx, const struct live_tree_step *step)
{
    (void)ctx;
    for (uint32_t i = 0; i < step->n_foi; i++) {
        const struct live_foi *foi = &step->foi[i];
        const struct live_forest *lf = &foi->trees;
        const struct forest *f = &lf->forest;

        for (uint32_t t = 0; t < f->n_trees; t++) {
            const struct tree_verdict *v = &foi->verdict[t];
            XXH3_state_t *hash = hash_calls(f, t, lf->vertex_enter_ns + f->first[t]);

            for (size_t m = lf->first_message[t]; m < lf->first_message[t + 1]; m++)
                add_message(hash, &lf->message[m], lf->message[m].call - f->first[t]);
            print_tree(f, t, &step->step->defs->location[f->location[t]], hash);
            printf(",%.17g,%s,%s,%.17g,%s\n", v->score,
                   v->algorithm == NULL ? "none"
                   : v->is_anomaly      ? "anomaly"
                                        : "normal",
                   score_part_name(v->part), v->sigmas,
                   v->own_unknown ? v->own_unknown : "known");
        }
    }
}

static int read_steps(const struct options *o)
{
    struct stream_opts stream_opts = {.step_ns = (uint64_t)llround(1e9 * o->step_s)};
    struct ad_opts ad_opts = ad_default();
    struct live_trees *trees = NULL;
    struct ad_sink sink = {live_trees_step, NULL};
    struct stream stream = {0};
    struct ad *ad;
    int rc = live_trees_new(&o->trees, &trees);

    if (rc == 0)
        rc = stream_open(&stream, o->trace, &stream_opts);
    if (rc == 0) {
        live_trees_add(trees, print_step, NULL);
        sink.ctx = trees;
        ad_opts.sink = &sink;
        ad_opts.n_sinks = 1;
        ad_opts.loop = live_trees_loop(trees);
        ad = ad_new(&stream, &ad_opts);
        while ((rc = ad_next(ad, 0)) > 0)
            ;
        if (rc == 0)
            rc = live_trees_check(trees, stream.defs);
        ad_free(ad);
    }
    stream_close(&stream);
    live_trees_free(trees);
    return rc;
}

/* -------------------------------------------------------------------------- all at once */

/* Which vertex a row is; UINT32_MAX: it is none. */
static uint32_t vertex_of(const uint32_t *row, uint32_t n, uint32_t call)
{
    for (uint32_t v = 0; v < n; v++)
        if (row[v] == call)
            return v;
    return UINT32_MAX;
}

static void print_location(const struct forest *f, const struct calls *calls,
                           const struct location *location)
{
    for (uint32_t t = 0; t < f->n_trees; t++) {
        uint32_t n = f->first[t + 1] - f->first[t], end = f->call[t] + forest_n_rows(f, t);
        uint32_t *row = mem_alloc(n, sizeof *row);
        uint64_t *enter_ns = mem_alloc(n, sizeof *enter_ns);
        XXH3_state_t *hash;

        for (uint32_t v = 0; v < n; v++) {
            row[v] = forest_row(f, t, f->first[t] + v);
            enter_ns[v] = calls->enter_ns[row[v]];
        }
        hash = hash_calls(f, t, enter_ns);
        for (size_t m = 0; m < calls->n_messages; m++) {
            const struct message *message = &calls->message[m];
            uint32_t v = UINT32_MAX;

            if (message->call != NO_CALL && message->call >= f->call[t] && message->call < end)
                v = vertex_of(row, n, message->call);
            if (v != UINT32_MAX)
                add_message(hash, message, v);
        }
        print_tree(f, t, location, hash);
        printf(",0,none,,nan,known\n");
        free(enter_ns);
        free(row);
    }
}

static int read_location(struct source_reader *reader, struct source *source, uint32_t l,
                         uint32_t region)
{
    const struct event_batch *batch;
    struct callstack *stack = callstack_new();
    struct quality quality = {0};
    struct forest forest = {0};
    struct calls calls = {0};
    struct call_view view;
    int rc = source_reader_begin(reader, l, UINT64_MAX);

    if (rc == 0) {
        callstack_begin(stack, &calls, &quality);
        while (source_reader_next(reader, &batch) > 0)
            callstack_push(stack, batch, 0, batch->n);
        callstack_end(stack);
        source_reader_end(reader, &quality);
        view = calls_view(&calls);
        rc = forest_add(&forest, l, &view, region, &source->defs);
    }
    if (rc == 0)
        print_location(&forest, &calls, &source->defs.location[l]);
    forest_release(&forest);
    calls_release(&calls);
    callstack_free(stack);
    return rc;
}

static int find_function(const struct definitions *defs, const char *name, uint32_t *region)
{
    struct profile all = {.row = calloc(defs->names.n, sizeof *all.row),
                          .n_regions = defs->names.n};
    uint32_t found[MAX_FOIS];
    size_t n;
    int rc;

    for (uint32_t r = 0; r < all.n_regions; r++)
        all.row[r].n_calls = 1;
    rc = foi_match(name, defs, &all, found, &n);
    if (rc == 0)
        *region = found[0];
    profile_release(&all);
    return rc;
}

static int read_whole(const struct options *o)
{
    struct source source = {0};
    struct source_reader *reader = NULL;
    uint32_t region = NAMES_NONE;
    int rc = source_open(&source, o->trace);

    if (rc == 0)
        rc = find_function(&source.defs, o->function, &region);
    if (rc == 0 && (reader = source_reader_new(&source)) == NULL)
        rc = ERR_IO;
    for (uint32_t l = 0; rc == 0 && l < source.defs.n_locations; l++)
        rc = read_location(reader, &source, l, region);
    if (reader)
        source_reader_free(reader);
    source_close(&source);
    return rc;
}

/* ------------------------------------------------------------------------------- options */

static bool parse(int argc, char **argv, struct options *o)
{
    static const struct option options[] = {
        {"whole", no_argument, NULL, 'w'},        {"step", required_argument, NULL, 's'},
        {"model", required_argument, NULL, 'm'},  {"features", required_argument, NULL, 'f'},
        {"window", required_argument, NULL, 't'}, {"sigmas", required_argument, NULL, 'k'},
        {"plain", no_argument, NULL, 'p'},        {NULL, 0, NULL, 0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'w')
            o->is_whole = true;
        else if (c == 's')
            o->step_s = atof(optarg);
        else if (c == 'm')
            o->trees.model_path = optarg;
        else if (c == 'f')
            o->trees.features = optarg;
        else if (c == 't')
            o->trees.window_s = atof(optarg);
        else if (c == 'k')
            o->trees.sigmas = atof(optarg);
        else if (c == 'p')
            o->trees.is_plain = true;
        else
            return false;
    }
    if (optind + 2 != argc)
        return false;
    o->trace = argv[optind];
    o->function = argv[optind + 1];
    o->trees.pattern = &o->function;
    o->trees.n_patterns = 1;
    return true;
}

int main(int argc, char **argv)
{
    struct options o = {.step_s = 1, .trees = live_trees_default()};
    int rc;

    if (!parse(argc, argv, &o)) {
        fprintf(stderr, "live_executions [options] TRACE FUNCTION\n");
        return 2;
    }
    printf(
        "id,call,enter_ns,duration_ns,vertices,messages,hash,score,verdict,part,sigmas,own\n");
    rc = o.is_whole ? read_whole(&o) : read_steps(&o);
    if (rc < 0)
        fprintf(stderr, "live_executions: %s\n", err_message());
    return rc < 0;
}
