/* snag sim -- the ranks of a job, played to a parameter server. */
#include "base/err.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "cmd/status.h"
#include "ps/ranks_sim.h"
#include "ps/tree_sim.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

static double peak_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

static void print_text(const struct sim_opts *o, const struct sim_result *r)
{
    char p50[TEXT_SIZE], p99[TEXT_SIZE], worst[TEXT_SIZE], memory[TEXT_SIZE];

    print("%u ranks, %u functions: %.0f requests/s answered in %.1f s\n", o->n_ranks,
          o->n_functions, (double)r->n_answered / r->wall_s, r->wall_s);
    print("latency: median %s, 99 %% %s, worst %s\n",
          text_duration(sketch_quantile(&r->latency_ns, 0.5), p50),
          text_duration(sketch_quantile(&r->latency_ns, 0.99), p99),
          text_duration((double)r->latency_ns.max, worst));
    print("%llu steps late, %llu sent again, %llu refused; %.1f MB/s out, %.1f MB/s in; %s "
          "here\n",
          (unsigned long long)r->n_late, (unsigned long long)r->n_resent,
          (unsigned long long)r->n_refused, 1e-6 * (double)r->sent_bytes / r->wall_s,
          1e-6 * (double)r->received_bytes / r->wall_s, text_bytes(peak_bytes(), memory));
}

/* What there was while ranks were played, without what came before. */
struct levels {
    struct tree_level before[TREE_MAX_LEVELS], after[TREE_MAX_LEVELS];
};

static void note_levels(const struct tree_sim *tree, struct tree_level *level)
{
    for (uint32_t l = 0; l < tree->n_levels; l++)
        level[l] = tree_sim_level(tree, l);
}

static void print_levels(const struct tree_sim *tree, const struct levels *n, double wall_s)
{
    for (uint32_t l = 0; l < tree->n_levels; l++) {
        const struct tree_level *a = &n->before[l], *b = &n->after[l];

        print("level %u: %u server%s, together %.0f requests/s, %.2f MB/s in, %.2f MB/s out\n",
              l, b->n_servers, b->n_servers == 1 ? "" : "s",
              (double)(b->n_requests - a->n_requests) / wall_s,
              1e-6 * (double)(b->received_bytes - a->received_bytes) / wall_s,
              1e-6 * (double)(b->sent_bytes - a->sent_bytes) / wall_s);
    }
}

static json_t *levels_to_json(const struct tree_sim *tree, const struct levels *n)
{
    json_t *list = json_array();

    for (uint32_t l = 0; l < tree->n_levels; l++) {
        const struct tree_level *a = &n->before[l], *b = &n->after[l];
        json_t *level = json_object();

        json_object_set_new(level, "servers", json_count(b->n_servers));
        json_object_set_new(level, "requests", json_count(b->n_requests - a->n_requests));
        json_object_set_new(level, "received_bytes",
                            json_count(b->received_bytes - a->received_bytes));
        json_object_set_new(level, "sent_bytes", json_count(b->sent_bytes - a->sent_bytes));
        json_array_append_new(list, level);
    }
    return list;
}

static void print_result_json(const struct sim_opts *o, const struct sim_result *r,
                              json_t *levels)
{
    json_t *line = json_object();

    json_object_set_new(line, "ranks", json_count(o->n_ranks));
    json_object_set_new(line, "functions", json_count(o->n_functions));
    json_object_set_new(line, "wall_s", json_number(r->wall_s));
    json_object_set_new(line, "answered", json_count(r->n_answered));
    json_object_set_new(line, "requests_per_s", json_number((double)r->n_answered / r->wall_s));
    json_object_set_new(line, "latency_median_ns",
                        json_number(sketch_quantile(&r->latency_ns, 0.5)));
    json_object_set_new(line, "latency_p99_ns",
                        json_number(sketch_quantile(&r->latency_ns, 0.99)));
    json_object_set_new(line, "latency_worst_ns", json_count(r->latency_ns.max));
    json_object_set_new(line, "late", json_count(r->n_late));
    json_object_set_new(line, "resent", json_count(r->n_resent));
    json_object_set_new(line, "refused", json_count(r->n_refused));
    json_object_set_new(line, "models", json_count(r->n_models));
    json_object_set_new(line, "sent_bytes", json_count(r->sent_bytes));
    json_object_set_new(line, "received_bytes", json_count(r->received_bytes));
    json_object_set_new(line, "peak_bytes", json_count((uint64_t)peak_bytes()));
    if (levels)
        json_object_set_new(line, "levels", levels);
    print_json(line, false);
}

static int options_of(const struct settings *s, struct sim_opts *o)
{
    *o = (struct sim_opts){.address = s->args,
                           .n_addresses = 1,
                           .key_file = s->curve_key,
                           .n_ranks = s->sim.ranks,
                           .n_functions = s->sim.functions,
                           .rate_per_s = s->sim.rate,
                           .seconds = s->sim.seconds,
                           .seed = s->seed};
    if ((s->n_args > 0) == (s->sim.tree != NULL))
        return err_set(ERR_USAGE, "the address of a server, or --tree");
    if (!(o->rate_per_s >= 0 && o->rate_per_s <= 1e6))
        return err_set(ERR_USAGE, "--rate takes 0 to 1000000 steps per second");
    if (!(o->seconds > 0 && o->seconds <= 86400))
        return err_set(ERR_USAGE, "--seconds takes more than 0, up to 86400");
    return 0;
}

/* "3x32" */
static int open_tree(struct tree_sim *tree, const char *text)
{
    unsigned depth = 0, fan = 0;
    char rest;

    if (sscanf(text, "%3ux%5u%c", &depth, &fan, &rest) != 2)
        return err_set(ERR_USAGE, "--tree takes levels and how many below each, as 3x32");
    return tree_sim_open(tree, depth, fan);
}

int cmd_sim(const struct settings *settings)
{
    struct sim_result result = {0};
    struct tree_sim tree = {.n_levels = 0};
    struct levels levels;
    struct sim_opts opts;
    int rc = options_of(settings, &opts);

    if (rc == 0 && settings->sim.tree) {
        rc = open_tree(&tree, settings->sim.tree);
        opts.address = tree.address;
        opts.n_addresses = tree.n_lowest;
    }
    if (rc == 0) {
        note_levels(&tree, levels.before);
        rc = sim_run(&opts, &result);
        note_levels(&tree, levels.after);
    }
    if (rc == 0 && settings->is_json) {
        print_result_json(&opts, &result,
                          tree.n_levels > 0 ? levels_to_json(&tree, &levels) : NULL);
    } else if (rc == 0) {
        print_text(&opts, &result);
        print_levels(&tree, &levels, result.wall_s);
    }
    tree_sim_close(&tree);
    sketch_release(&result.latency_ns);
    return rc < 0 ? rc : STATUS_DONE;
}
