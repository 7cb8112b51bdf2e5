/* snag info -- reads the trace without writing anything and prints what it found. */
#include "base/err.h"
#include "base/order.h"
#include "base/text.h"
#include "cmd/commands.h"
#include "cmd/headline.h"
#include "cmd/print.h"
#include "cmd/reading.h"
#include "cmd/settings.h"
#include "forest/foi.h"
#include "forest/traffic.h"
#include "run/run_summary.h"
#include "trace/error_bounds.h"
#include "trace/recorder_names.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SUGGESTIONS 5
#define NAME_WIDTH 60 /* characters of a name in a table */

/* ------------------------------------------------------------------------------- as JSON */

/* Those that have locations: of a job some may be missing. */
static uint32_t count_ranks(const struct definitions *defs)
{
    uint32_t n = 0;

    for (uint32_t l = 0; l < defs->n_locations; l++)
        n += l == 0 || defs->location[l].rank != defs->location[l - 1].rank;
    return n;
}

static json_t *json_locations(const struct reading *r)
{
    json_t *list = json_array();

    for (uint32_t l = 0; l < r->ingested.n_locations; l++) {
        const struct location *def = &r->source.defs.location[l];
        const struct ingested_location *at = &r->ingested.location[l];
        const struct clock_fix *fix = &r->ingested.fix[def->rank];
        json_t *row = json_object();
        char id[24];

        snprintf(id, sizeof id, "%llu", (unsigned long long)def->id);
        json_object_set_new(row, "rank", json_count(def->rank));
        json_object_set_new(row, "thread", json_count(def->thread));
        json_object_set_new(row, "name", json_text(def->name));
        json_object_set_new(row, "id", json_text(id));
        json_object_set_new(row, "records", json_count(at->n_records));
        json_object_set_new(row, "calls", json_count(at->n_calls));
        json_object_set_new(row, "sends", json_count(at->n_sends));
        json_object_set_new(row, "recvs", json_count(at->n_recvs));
        json_object_set_new(row, "collectives", json_count(at->n_collectives));
        json_object_set_new(row, "roots_ns", json_count(at->root_ns));
        if (at->first_ns <= at->last_ns) {
            json_object_set_new(row, "first_ns", json_count(at->first_ns));
            json_object_set_new(row, "last_ns", json_count(at->last_ns));
        }
        json_object_set_new(row, "clock_offset_ns", json_integer(fix->offset_ns));
        json_object_set_new(row, "clock_drift", json_number(fix->drift));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *json_regions(const struct reading *r)
{
    const struct profile *profile = &r->ingested.profile;
    json_t *list = json_array();

    for (uint32_t i = 0; i < profile->n_regions; i++) {
        const struct region *region = &r->source.defs.region[i];
        const struct profile_row *row = &profile->row[i];
        json_t *item = json_object();

        if (row->n_calls == 0 || region->kind == REGION_LOOP) {
            json_decref(item);
            continue;
        }
        json_object_set_new(item, "name", json_text(region->name));
        json_object_set_new(item, "short_name", json_text(region->short_name));
        json_object_set_new(item, "plain", json_text(region->plain));
        json_object_set_new(item, "kind", json_text(region_kind_said(region, row)));
        json_object_set_new(item, "file",
                            region->line > 0 ? json_text(region->file) : json_null());
        json_object_set_new(item, "line",
                            region->line > 0 ? json_count(region->line) : json_null());
        json_object_set_new(item, "calls", json_count(row->n_calls));
        json_object_set_new(item, "inclusive_ns", json_count(row->inclusive_ns));
        json_object_set_new(item, "exclusive_ns", json_count(row->exclusive_ns));
        json_object_set_new(item, "outermost", json_count(row->n_outermost));
        json_object_set_new(item, "min_ns", json_count(row->min_ns));
        json_object_set_new(item, "max_ns", json_count(row->max_ns));
        json_object_set_new(item, "variation", json_number(profile_variation(row)));
        json_object_set_new(item, "locations", json_count(row->n_locations));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *json_clock(const struct clock_report *clock)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:i, s:b}", "checked",
                     (json_int_t)clock->n_checked, "wrong_before",
                     (json_int_t)clock->n_wrong_before, "worst_before_ns",
                     (json_int_t)clock->worst_before_ns, "wrong",
                     (json_int_t)(clock->n_wrong_messages + clock->n_wrong_collectives),
                     "worst_ns", (json_int_t)clock->worst_ns, "corrected_ranks",
                     (int)clock->n_shifted, "has_drift", (int)clock->has_drift);
}

static json_t *json_suggestions(const struct reading *r, const struct foi_suggestion *s,
                                size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *item = json_object();

        json_object_set_new(item, "foi", json_text(r->source.defs.region[s[i].region].name));
        json_object_set_new(
            item, "kind", json_text(region_kind_name(r->source.defs.region[s[i].region].kind)));
        json_object_set_new(item, "merit", json_number(s[i].merit));
        json_object_set_new(item, "why", json_text(s[i].why));
        json_array_append_new(list, item);
    }
    return list;
}

/* Begins and ends of calls. */
static json_t *json_estimated(const struct error_bounds *b)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "n", json_count(error_bounds_count(b)),
                     "median_ns", json_number(error_bounds_quantile(b, 0.5)), "p99_ns",
                     json_number(error_bounds_quantile(b, 0.99)), "joined",
                     json_count(b->n_joined), "joined_most", json_count(b->most_joined));
}

static json_t *json_counters(const struct definitions *defs)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < defs->counters.n; i++) {
        struct counter counter = definitions_counter_of(defs, i);
        json_t *item = json_object();

        json_object_set_new(item, "name", json_text(defs->counters.name[i]));
        json_object_set_new(item, "unit", json_text(counter.unit));
        json_object_set_new(item, "mode", json_text(counter_mode_name(counter.mode)));
        json_object_set_new(item, "span", json_text(counter_span_name(counter.span)));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *json_arguments(const struct definitions *defs)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < defs->arguments.n; i++)
        json_array_append_new(list, json_text(defs->arguments.name[i]));
    return list;
}

static json_t *json_links(const struct definitions *defs)
{
    json_t *list = json_array();

    for (size_t i = 0; i < defs->n_linkings; i++) {
        json_t *item = json_object();

        json_object_set_new(item, "from", json_text(defs->linking[i].from));
        json_object_set_new(item, "sends", json_count(defs->linking[i].n_sends));
        json_object_set_new(item, "recvs", json_count(defs->linking[i].n_receives));
        json_object_set_new(item, "collectives", json_count(defs->linking[i].n_collectives));
        json_object_set_new(item, "dependencies", json_count(defs->linking[i].n_dependencies));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *json_teams(const struct traffic *traffic)
{
    struct team_counts n = teams_count(traffic);
    json_t *teams = json_object();

    json_object_set_new(teams, "forks", json_count(n.n_forks));
    json_object_set_new(teams, "members", json_count(n.n_members));
    json_object_set_new(teams, "lost", json_count(n.n_lost));
    json_object_set_new(teams, "largest", json_count(n.largest));
    json_object_set_new(teams, "barriers", json_count(n.n_barriers));
    json_object_set_new(teams, "created", json_count(n.n_created));
    return teams;
}

static json_t *json_notes(const struct definitions *defs)
{
    json_t *list = json_array();

    for (size_t i = 0; i < defs->n_notes; i++)
        json_array_append_new(list, json_text(defs->note[i]));
    return list;
}

/* A key with several values has a list. */
static json_t *json_metadata(const struct definitions *defs)
{
    struct run_metadata metadata;
    json_t *object = json_object();

    run_metadata_of(&metadata, defs);
    for (size_t i = 0, next; i < metadata.n; i = next) {
        json_t *list = json_array(), *key = json_text(metadata.at[i].key);

        for (next = i;
             next < metadata.n && strcmp(metadata.at[next].key, metadata.at[i].key) == 0;
             next++)
            json_array_append_new(list, json_text(metadata.at[next].value));
        json_object_set(object, json_string_value(key),
                        next == i + 1 ? json_array_get(list, 0) : list);
        json_decref(key);
        json_decref(list);
    }
    run_metadata_release(&metadata);
    return object;
}

static void print_as_json(const struct reading *r, const struct foi_suggestion *s, size_t n)
{
    const struct ingested *in = &r->ingested;
    json_t *info = json_object();

    json_object_set_new(info, "trace", json_text(r->source.path));
    json_object_set_new(info, "source", json_text(r->source.ops->name));
    json_object_set_new(info, "locations", json_count(in->n_locations));
    json_object_set_new(info, "ranks", json_count(count_ranks(&r->source.defs)));
    json_object_set_new(info, "records", json_count(in->n_records));
    json_object_set_new(info, "calls", json_count(in->n_calls));
    json_object_set_new(info, "messages", json_count(in->n_sends + in->n_recvs));
    json_object_set_new(info, "sends", json_count(in->n_sends));
    json_object_set_new(info, "recvs", json_count(in->n_recvs));
    json_object_set_new(info, "collectives", json_count(in->traffic.n_collectives));
    json_object_set_new(info, "collectives_matched",
                        json_count(traffic_complete(&in->traffic, &r->source.defs)));
    json_object_set_new(info, "collectives_in_all", json_count(in->traffic.n_instances));
    reading_set_accesses(info, &in->accesses);
    json_object_set_new(info, "counters", json_counters(&r->source.defs));
    json_object_set_new(info, "counter_readings", json_count(in->n_readings));
    json_object_set_new(info, "arguments", json_arguments(&r->source.defs));
    json_object_set_new(info, "call_arguments", json_count(in->n_arguments));
    json_object_set_new(info, "estimated", json_estimated(&in->error_bounds));
    json_object_set_new(info, "teams", json_teams(&in->traffic));
    json_object_set_new(info, "links", json_links(&r->source.defs));
    json_object_set_new(info, "notes", json_notes(&r->source.defs));
    json_object_set_new(info, "metadata", json_metadata(&r->source.defs));
    json_object_set_new(info, "begin_ns", json_count(in->begin_ns));
    json_object_set_new(info, "end_ns", json_count(in->end_ns));
    json_object_set_new(info, "is_damaged", json_boolean(quality_is_damaged(&in->quality)));
    json_object_set_new(info, "quality", reading_quality_json(&in->quality));
    json_object_set_new(info, "clocks", json_clock(&in->clock));
    json_object_set_new(info, "suggestions", json_suggestions(r, s, n));
    json_object_set_new(info, "location_table", json_locations(r));
    json_object_set_new(info, "regions", json_regions(r));
    json_object_set_new(info, "left_out", left_out_json(&r->source.defs));
    print_json(info, true);
}

/* ------------------------------------------------------------------------------- as text */

static void print_summary(const struct reading *r)
{
    const struct ingested *in = &r->ingested;
    uint32_t n_ranks = count_ranks(&r->source.defs);
    char calls[TEXT_SIZE], records[TEXT_SIZE], sends[TEXT_SIZE], recvs[TEXT_SIZE];
    char collectives[TEXT_SIZE], length[TEXT_SIZE];

    print("%s: %s\n", r->source.ops->name, r->source.path);
    print("%u location%s of %u rank%s, %s, %s records: %s calls, %s sends, %s receives, "
          "%s collectives\n",
          in->n_locations, in->n_locations == 1 ? "" : "s", n_ranks, n_ranks == 1 ? "" : "s",
          text_duration((double)(in->end_ns - in->begin_ns), length),
          text_count(in->n_records, records), text_count(in->n_calls, calls),
          text_count(in->n_sends, sends), text_count(in->n_recvs, recvs),
          text_count(in->traffic.n_collectives, collectives));
}

static void print_details(const struct ingested *in, const struct definitions *defs)
{
    char n[TEXT_SIZE], names[TEXT_SIZE];

    if (in->n_readings > 0)
        print("%s counter%s, read %s times\n", text_count(defs->counters.n, names),
              text_plural(defs->counters.n), text_count(in->n_readings, n));
    if (in->n_arguments > 0)
        print("%s argument%s of calls, by %s name%s\n", text_count(in->n_arguments, n),
              text_plural(in->n_arguments), text_count(defs->arguments.n, names),
              text_plural(defs->arguments.n));
}

static void print_estimated(const struct error_bounds *b)
{
    char n[TEXT_SIZE], median[TEXT_SIZE], most[TEXT_SIZE];

    if (error_bounds_count(b) > 0)
        print(
            "%s begins and ends of calls are estimates, off by up to %s (median), %s (99 %%)\n",
            text_count(error_bounds_count(b), n),
            text_duration(error_bounds_quantile(b, 0.5), median),
            text_duration(error_bounds_quantile(b, 0.99), most));
    if (b->n_joined > 0)
        print("%s recorded call%s of inlined functions may stand for up to %s real calls in "
              "all: samples do not tell how many\n",
              text_count(b->n_joined, n), text_plural(b->n_joined),
              text_count(b->most_joined, most));
}

static void print_teams(const struct traffic *traffic)
{
    struct team_counts n = teams_count(traffic);
    char forks[TEXT_SIZE], barriers[TEXT_SIZE], lost[TEXT_SIZE];

    if (n.n_forks > 0)
        print("%s team%s of up to %u threads, which called barriers %s times\n",
              text_count(n.n_forks, forks), text_plural(n.n_forks), n.largest,
              text_count(n.n_barriers, barriers));
    if (n.n_lost > 0)
        print("%s time%s a thread was in a team whose fork is not in the trace\n",
              text_count(n.n_lost, lost), text_plural(n.n_lost));
    if (n.n_created > 0)
        print("%s thread%s created\n", text_count(n.n_created, forks),
              n.n_created == 1 ? " was" : "s were");
}

/* What belongs together, and how that is known. */
static void print_links(const struct reading *r)
{
    const struct definitions *defs = &r->source.defs;
    const struct traffic *traffic = &r->ingested.traffic;
    char complete[TEXT_SIZE], all[TEXT_SIZE], sends[TEXT_SIZE], recvs[TEXT_SIZE];
    char order[TEXT_SIZE];

    if (traffic->n_instances > 0)
        print("%s of %s collectives have the records of all their members\n",
              text_count(traffic_complete(traffic, defs), complete),
              text_count(traffic->n_instances, all));
    print_teams(traffic);
    for (size_t i = 0; i < defs->n_linkings; i++) {
        const struct linking *linking = &defs->linking[i];

        print("by the rules in '%s': %s sends, %s receives, %s members of collectives",
              linking->from, text_count(linking->n_sends, sends),
              text_count(linking->n_receives, recvs), text_count(linking->n_collectives, all));
        if (linking->n_dependencies > 0)
            print(", %s calls that begin after another call of the same rank has ended",
                  text_count(linking->n_dependencies, order));
        print("\n");
    }
    for (size_t i = 0; i < defs->n_notes; i++)
        print("%s\n", defs->note[i]);
}

/* What tells this run from others; with --all whatever the trace says. */
static void print_metadata(const struct definitions *defs, bool is_all)
{
    static const struct {
        const char *key, *as;
    } typical[] = {{"Recorded By", "Recorded By"},
                   {"Command Line", "Command Line"},
                   {"Compiler", "Compiler"},
                   {"MPI Library", "MPI Library"},
                   {PROPERTY_TROUBLE, "Not all was recorded"},
                   {PROPERTY_ENDING, "A process ended by"}};
    struct run_metadata metadata;

    run_metadata_of(&metadata, defs);
    for (size_t i = 0; i < (is_all ? metadata.n : 0); i++)
        print("%s: %s\n", metadata.at[i].key, metadata.at[i].value);
    for (size_t i = 0; i < (is_all ? 0 : sizeof typical / sizeof *typical); i++) {
        const char *value = run_metadata_get(&metadata, typical[i].key);

        if (value)
            print("%s: %.200s\n", typical[i].as, value);
    }
    run_metadata_release(&metadata);
}

static void print_locations(const struct reading *r, bool is_all)
{
    const struct ingested *in = &r->ingested;
    struct table *t = table_new("rlrrrrr", "rank", "thread", "calls", "sends", "receives",
                                "collectives", "clock moved by");
    uint32_t n_empty = 0;

    for (uint32_t l = 0; l < in->n_locations; l++) {
        const struct location *def = &r->source.defs.location[l];
        const struct ingested_location *at = &in->location[l];
        char n[TEXT_SIZE];

        if (at->n_records == 0 && !is_all) {
            n_empty++;
            continue;
        }
        table_cell(t, "%u", def->rank);
        table_cell(t, "%u %s", def->thread, def->name);
        table_cell(t, "%s", text_count(at->n_calls, n));
        table_cell(t, "%s", text_count(at->n_sends, n));
        table_cell(t, "%s", text_count(at->n_recvs, n));
        table_cell(t, "%s", text_count(at->n_collectives, n));
        table_cell(t, "%s",
                   in->fix[def->rank].offset_ns
                       ? text_duration((double)in->fix[def->rank].offset_ns, n)
                       : "-");
    }
    fputc('\n', stdout);
    table_print(t, stdout);
    if (n_empty > 0)
        print("and %u location%s without events\n", n_empty, n_empty == 1 ? "" : "s");
}

struct by_exclusive {
    uint32_t region;
    uint64_t exclusive_ns;
};

static int compare_exclusive(const void *a, const void *b)
{
    const struct by_exclusive *p = a, *q = b;

    return ORDER(q->exclusive_ns, p->exclusive_ns) ?: ORDER(p->region, q->region);
}

static void print_region(struct table *t, const struct region *region, int width,
                         const struct profile_row *row)
{
    char text[TEXT_SIZE];

    table_cell(t, "%.*s", width, region->short_name);
    table_cell(t, "%s", text_count(row->n_calls, text));
    table_cell(t, "%s", text_duration((double)row->inclusive_ns, text));
    table_cell(t, "%s", text_duration((double)row->exclusive_ns, text));
    table_cell(t, "%s",
               text_duration((double)row->inclusive_ns / (double)row->n_outermost, text));
    table_cell(t, "%s", text_duration((double)row->max_ns, text));
    table_cell(t, "%.2f", profile_variation(row));
}

/* How much of a name is shown: all of one that another in the table begins like. */
static int name_width(const struct definitions *defs, const struct by_exclusive *order,
                      size_t i, size_t n)
{
    const char *name = defs->region[order[i].region].short_name;

    for (size_t k = strlen(name) > NAME_WIDTH ? 0 : n; k < n; k++)
        if (k != i && strncmp(name, defs->region[order[k].region].short_name, NAME_WIDTH) == 0)
            return INT_MAX;
    return NAME_WIDTH;
}

static void print_regions(const struct reading *r, size_t most)
{
    const struct profile *profile = &r->ingested.profile;
    struct by_exclusive *order = calloc(profile->n_regions + 1, sizeof *order);
    struct table *t = table_new("lrrrrrr", "region", "calls", "inclusive", "exclusive", "mean",
                                "longest", "variation");
    size_t n = 0;

    for (uint32_t i = 0; order && i < profile->n_regions; i++)
        if (profile->row[i].n_calls > 0 && r->source.defs.region[i].kind != REGION_LOOP)
            order[n++] = (struct by_exclusive){i, profile->row[i].exclusive_ns};
    qsort(order, n, sizeof *order, compare_exclusive);
    for (size_t i = 0; i < n && i < most; i++)
        print_region(t, &r->source.defs.region[order[i].region],
                     name_width(&r->source.defs, order, i, n < most ? n : most),
                     &profile->row[order[i].region]);
    fputc('\n', stdout);
    table_print(t, stdout);
    if (n > most)
        print("and %zu more (--all)\n", n - most);
    free(order);
}

static int print_info(struct reading *r)
{
    const struct settings *settings = r->settings;
    struct foi_suggestion s[MAX_SUGGESTIONS];
    size_t n = foi_suggest(&r->source.defs, &r->ingested.profile,
                           ingested_time_ns(&r->ingested), s, MAX_SUGGESTIONS);

    if (settings->is_json) {
        print_as_json(r, s, n);
    } else {
        print_summary(r);
        reading_print_accesses(&r->ingested.accesses);
        print_estimated(&r->ingested.error_bounds);
        print_links(r);
        print_details(&r->ingested, &r->source.defs);
        print_metadata(&r->source.defs, settings->is_all);
        print_locations(r, settings->is_all);
        print_regions(r, settings->is_all ? SIZE_MAX : settings->top);
        left_out_print(&r->source.defs);
        reading_print_quality(&r->ingested.quality, &r->ingested.clock);
        if (n > 0) {
            print("\nsuggested functions and loops of interest:\n");
            for (size_t i = 0; i < n; i++) {
                char *name = command_line_word(r->source.defs.region[s[i].region].short_name);

                print("  --foi %s\n      %s\n", name, s[i].why);
                free(name);
            }
        }
    }
    return quality_is_damaged(&r->ingested.quality) ? STATUS_DAMAGED : STATUS_DONE;
}

int cmd_info(const struct settings *settings)
{
    const struct reading_task task = {.then = print_info};

    return reading_run(settings, &task);
}
