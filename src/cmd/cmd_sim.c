/* snag sim -- the ranks of a job, played to a parameter server. */
#include "base/err.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/print.h"
#include "ps/ranks_sim.h"
#include "cmd/status.h"

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

static void print_result_json(const struct sim_opts *o, const struct sim_result *r)
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
    print_json(line, false);
}

static int options_of(const struct settings *s, struct sim_opts *o)
{
    *o = (struct sim_opts){.address = s->args[0],
                           .key_file = s->curve_key,
                           .n_ranks = s->sim.ranks,
                           .n_functions = s->sim.functions,
                           .rate_per_s = s->sim.rate,
                           .seconds = s->sim.seconds,
                           .seed = s->seed};
    if (!(o->rate_per_s >= 0 && o->rate_per_s <= 1e6))
        return err_set(ERR_USAGE, "--rate takes 0 to 1000000 steps per second");
    if (!(o->seconds > 0 && o->seconds <= 86400))
        return err_set(ERR_USAGE, "--seconds takes more than 0, up to 86400");
    return 0;
}

int cmd_sim(const struct settings *settings)
{
    struct sim_result result = {0};
    struct sim_opts opts;
    int rc = options_of(settings, &opts);

    if (rc < 0)
        return rc;
    rc = sim_run(&opts, &result);
    if (rc == 0 && settings->is_json)
        print_result_json(&opts, &result);
    else if (rc == 0)
        print_text(&opts, &result);
    sketch_release(&result.latency_ns);
    return rc < 0 ? rc : STATUS_DONE;
}
