/* What is drawn from an answer, and how large it may be, is in web/src/report/. */
#include "cmd/report_answers.h"

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "serve/arrows.h"
#include "serve/routes.h"
#include "view/html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_SIZE 96
#define TIMELINE_WIDTH 900u
#define TIMELINE_DEPTH 24u
#define TIMELINE_RECTANGLES 1200u
#define TIMELINE_MESSAGES 250u
#define MAX_DRAWN_LOCATIONS 6u /* of a timeline: itself, those of its cause, its partners */
#define MARGIN 0.08            /* of an execution, before and after it */
#define NARROWEST 0.002        /* of an execution: what takes less is not drawn */
#define SLIGHTEST 0.005        /* of an execution: a loss that is worth drawing */
#define PARTNER_MESSAGES 2000u
#define MAX_NAME 200u          /* bytes of a name that are kept */
#define MAX_NAMES (300u << 10) /* of all; the drawings say "region 12" for those beyond */

/* --------------------------------------------------------------------------------- asking */

int answers_open(struct answers *a, const char *path)
{
    struct served_opts opts = {.path = path, .snag = SNAG_VERSION, .is_brief = true};
    int rc;

    if (a->json == NULL)
        a->json = json_object();
    rc = served_open(&a->served, &opts);
    if (rc == 0)
        rc = worker_open(&a->worker, &a->served, false);
    if (rc == 0) {
        a->has_region = mem_alloc(a->served.run.defs.names.n + 1, sizeof *a->has_region);
        a->has_location = mem_alloc(a->served.run.defs.n_locations + 1, sizeof(bool));
    }
    return rc;
}

void answers_close(struct answers *a)
{
    if (a->served.has_opened) {
        worker_close(&a->worker);
        served_close(&a->served);
    }
    json_decref(a->json);
    free(a->has_region);
    free(a->has_location);
    *a = (struct answers){0};
}

/* What a handler answers; release the response in any case. */
static int ask(struct answers *a, const char *address, const struct request_parameter *said,
               size_t n_said, struct response *response)
{
    char path[ADDRESS_SIZE + 8];
    struct request request = {.path = path, .parameter = said, .n_parameters = n_said};

    *response = (struct response){0};
    snprintf(path, sizeof path, "/api/v1%s", address);
    return route_answer(route_find(&request), &a->worker, &request, response);
}

static int ask_json(struct answers *a, const char *address, json_t **out)
{
    struct response response;
    int rc = ask(a, address, NULL, 0, &response);

    *out = rc == 0 ? json_loadb(response.body, response.size, JSON_ALLOW_NUL, NULL) : NULL;
    response_release(&response);
    return rc == 0 && *out == NULL ? err_set(ERR_FORMAT, "no answer from %s", address) : rc;
}

void answers_add(struct answers *a, const char *address, json_t *json, bool *is_in)
{
    size_t size =
        json_dumpb(json, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));

    if (a->json == NULL)
        a->json = json_object();
    *is_in = a->bytes + size <= ANSWERS_MAX_BYTES;
    if (*is_in) {
        json_object_set_new(a->json, address, json);
        a->bytes += size;
    } else {
        json_decref(json);
    }
}

/* ----------------------------------------------------------------------------------- trees */

static double number(const json_t *object, const char *field)
{
    return json_number_value(json_object_get(object, field));
}

/* Which nodes are wide enough to be seen, or are worth it, with all above them. */
static bool *choose_nodes(const json_t *nodes)
{
    size_t n = json_array_size(nodes);
    double whole = n > 0 ? number(json_array_get(nodes, 0), "inclusive_ns") : 0;
    bool *is_kept = mem_alloc(n + 1, sizeof *is_kept);

    for (size_t i = n; i-- > 0;) {
        const json_t *node = json_array_get(nodes, i);
        json_int_t parent = json_integer_value(json_object_get(node, "parent"));

        is_kept[i] |= i == 0 || number(node, "inclusive_ns") >= NARROWEST * whole ||
                      number(node, "excess_ns") >= SLIGHTEST * whole;
        if (is_kept[i] && parent >= 0 && (size_t)parent < i)
            is_kept[parent] = true;
    }
    return is_kept;
}

/* Callers stand first, so numbers go down in one pass. */
static void prune(struct answers *a, json_t *tree)
{
    json_t *nodes = json_object_get(tree, "nodes"), *kept = json_array();
    size_t n = json_array_size(nodes), n_kept = 0;
    size_t *at = mem_alloc(n + 1, sizeof *at);
    bool *is_kept = choose_nodes(nodes);

    for (size_t i = 0; i < n; i++) {
        json_t *node = json_array_get(nodes, i);
        json_int_t parent = json_integer_value(json_object_get(node, "parent"));
        size_t region = (size_t)json_integer_value(json_object_get(node, "region"));

        if (!is_kept[i])
            continue;
        at[i] = n_kept++;
        if (parent >= 0)
            json_object_set_new(node, "parent", json_count(at[parent]));
        if (region < a->served.run.defs.names.n)
            a->has_region[region] = true;
        json_array_append(kept, node);
    }
    json_object_set_new(tree, "nodes", kept);
    free(is_kept);
    free(at);
}

static int add_tree(struct answers *a, const char *address, bool *is_in)
{
    json_t *tree;
    int rc;

    *is_in = json_object_get(a->json, address) != NULL;
    if (*is_in)
        return 0;
    rc = ask_json(a, address, &tree);
    if (rc < 0)
        return rc;
    prune(a, tree);
    answers_add(a, address, tree, is_in);
    return 0;
}

/* -------------------------------------------------------------------------------- timeline */

/* Places of a timeline, each once. */
struct drawn_locations {
    uint32_t location[MAX_DRAWN_LOCATIONS];
    uint32_t n;
};

static void add_location(struct drawn_locations *p, uint32_t location)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->location[i] == location)
            return;
    if (p->n < MAX_DRAWN_LOCATIONS && location != NO_LOCATION)
        p->location[p->n++] = location;
}

static uint32_t find_location(const struct definitions *defs, uint32_t rank, uint32_t thread)
{
    for (uint32_t l = 0; l < defs->n_locations; l++)
        if (defs->location[l].rank == rank && defs->location[l].thread == thread)
            return l;
    return NO_LOCATION;
}

static void add_causes(const struct answers *a, const json_t *shown,
                       struct drawn_locations *places)
{
    const json_t *link;
    size_t i;

    json_array_foreach(json_object_get(shown, "cause"), i, link)
        add_location(places, find_location(&a->served.run.defs, (uint32_t)number(link, "rank"),
                                           (uint32_t)number(link, "thread")));
}

/* Those with which it exchanged most messages. */
static void add_partners(struct answers *a, const json_t *shown, struct drawn_locations *places)
{
    uint32_t n = a->served.run.defs.n_locations, own = places->location[0];
    uint32_t *all = mem_alloc(n, sizeof *all), *count = mem_alloc(n, sizeof *count);
    struct arrows_window window = {.begin_ns = (uint64_t)number(shown, "enter_ns"),
                                   .end_ns = (uint64_t)number(shown, "exit_ns") + 1,
                                   .location = all,
                                   .n_locations = n};
    struct arrows arrows = {.n = 0};

    for (uint32_t l = 0; l < n; l++)
        all[l] = l;
    arrows_of(&arrows, &a->served.scattered, NULL, &window, PARTNER_MESSAGES);
    for (size_t i = 0; i < arrows.n; i++)
        if (arrows.arrow[i].from == own || arrows.arrow[i].to == own)
            count[arrows.arrow[i].from == own ? arrows.arrow[i].to : arrows.arrow[i].from]++;
    for (uint32_t k = 0; k < MAX_DRAWN_LOCATIONS; k++) {
        uint32_t most = 0;

        for (uint32_t l = 1; l < n; l++)
            most = count[l] > count[most] ? l : most;
        if (n == 0 || count[most] == 0)
            break;
        add_location(places, most);
        count[most] = 0;
    }
    arrows_release(&arrows);
    free(count);
    free(all);
}

/* The regions of a bundle of the timeline: what its header says lies where. */
static void note_regions(struct answers *a, const char *bytes, size_t size)
{
    uint32_t length, region;
    size_t i;
    json_t *header, *column;

    memcpy(&length, bytes + 4, sizeof length);
    header = json_loadb(bytes + 8, length, JSON_DISABLE_EOF_CHECK, NULL);
    json_array_foreach(json_object_get(header, "columns"), i, column)
    {
        const char *at = bytes + 8 + length + (size_t)number(column, "offset");

        if (strcmp(json_string_value(json_object_get(column, "name")), "region") != 0)
            continue;
        for (size_t k = 0; k < (size_t)number(column, "n"); k++) {
            memcpy(&region, at + k * sizeof region, sizeof region);
            if (region < a->served.run.defs.names.n)
                a->has_region[region] = true;
        }
    }
    (void)size;
    json_decref(header);
}

static int add_bundle(struct answers *a, const char *route, const char *address,
                      const struct request_parameter *said, size_t n_said, bool *is_in)
{
    struct response response;
    int rc = ask(a, route, said, n_said, &response);

    *is_in = false;
    if (rc == 0 && strcmp(route, "/timeline") == 0)
        note_regions(a, response.body, response.size);
    if (rc == 0)
        answers_add(a, address, html_base64(response.body, response.size), is_in);
    response_release(&response);
    return rc;
}

/* The window around it on its places: calls, and messages. */
static int add_window(struct answers *a, const char *execution, const json_t *shown,
                      const struct drawn_locations *places, bool *is_in)
{
    char begin[24], end[24], locations[MAX_DRAWN_LOCATIONS * 12] = "", address[ADDRESS_SIZE];
    char width[12], depth[12], most[12], limit[12];
    double enter = number(shown, "enter_ns"), exit = number(shown, "exit_ns");
    double margin = fmax(10, MARGIN * (exit - enter));
    const struct request_parameter said[] = {
        {"begin", begin}, {"end", end},   {"locations", locations}, {"width", width},
        {"depth", depth}, {"most", most}, {"limit", limit},
    };
    size_t n = 0;
    int rc;

    snprintf(begin, sizeof begin, "%.0f", fmax(0, floor(enter - margin)));
    snprintf(end, sizeof end, "%.0f", ceil(exit + margin));
    snprintf(width, sizeof width, "%u", TIMELINE_WIDTH);
    snprintf(depth, sizeof depth, "%u", TIMELINE_DEPTH);
    snprintf(most, sizeof most, "%u", TIMELINE_RECTANGLES);
    snprintf(limit, sizeof limit, "%u", TIMELINE_MESSAGES);
    for (uint32_t i = 0; i < places->n; i++)
        n += (size_t)snprintf(locations + n, sizeof locations - n, "%s%u", i ? "," : "",
                              places->location[i]);
    snprintf(address, sizeof address, "%s/timeline", execution);
    rc = add_bundle(a, "/timeline", address, said, 6, is_in);
    snprintf(address, sizeof address, "%s/messages", execution);
    if (rc == 0 && *is_in)
        rc = add_bundle(a, "/messages", address, said, 7, is_in);
    return rc;
}

/* Some fields of an object. */
static json_t *part_of(const json_t *object, const char *const *field, size_t n)
{
    json_t *part = json_object();

    for (size_t f = 0; f < n; f++)
        json_object_set(part, field[f], json_object_get(object, field[f]));
    return part;
}

/* Of an execution what its drawings need, and who is to blame for it: not its lists, which may be
 * long. */
static json_t *facts_of(const json_t *shown, const struct drawn_locations *places)
{
    static const char *const field[] = {"id",      "verdict",  "location",
                                        "rank",    "enter_ns", "exit_ns",
                                        "lost_ns", "open_ns",  "cause_end"};
    static const char *const of_link[] = {"rank", "thread",    "call",     "function",
                                          "peer", "waits_for", "begin_ns", "end_ns"};
    static const char *const of_incident[] = {"verdict"};
    const json_t *incident = json_object_get(shown, "incident");
    json_t *facts = part_of(shown, field, sizeof field / sizeof *field);
    json_t *cause = json_array(), *list = json_array(), *link;
    size_t i;

    json_array_foreach(json_object_get(shown, "cause"), i, link)
        json_array_append_new(cause, part_of(link, of_link, sizeof of_link / sizeof *of_link));
    for (uint32_t p = 0; p < places->n; p++)
        json_array_append_new(list, json_count(places->location[p]));
    json_object_set_new(facts, "cause", cause);
    json_object_set_new(facts, "incident",
                        json_is_object(incident) ? part_of(incident, of_incident, 1)
                                                 : json_null());
    json_object_set_new(facts, "places", list);
    return facts;
}

/* All of an execution, or nothing. */
static void take_back(struct answers *a, const char *execution, size_t bytes)
{
    static const char *const parts[] = {"", "/timeline", "/messages", "/tree"};
    char address[ADDRESS_SIZE];

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(address, sizeof address, "%s%s", execution, parts[i]);
        json_object_del(a->json, address);
    }
    a->bytes = bytes;
}

int answers_add_execution(struct answers *a, int64_t foi, int64_t tree, bool *is_in)
{
    char execution[ADDRESS_SIZE - 16], address[ADDRESS_SIZE];
    struct drawn_locations places = {.n = 0};
    json_t *shown = NULL;
    size_t before;
    int rc;

    snprintf(execution, sizeof execution, "/fois/%lld/executions/%lld", (long long)foi,
             (long long)tree);
    rc = ask_json(a, execution, &shown);
    *is_in = rc == 0;
    snprintf(address, sizeof address, "/fois/%lld/typical", (long long)foi);
    if (rc == 0)
        rc = add_tree(a, address, is_in);
    before = a->bytes;
    if (rc == 0 && *is_in) {
        add_location(&places, (uint32_t)number(shown, "location"));
        add_causes(a, shown, &places);
        add_partners(a, shown, &places);
        for (uint32_t i = 0; i < places.n; i++)
            a->has_location[places.location[i]] = true;
        rc = add_window(a, execution, shown, &places, is_in);
    }
    snprintf(address, sizeof address, "%s/tree", execution);
    if (rc == 0 && *is_in)
        rc = add_tree(a, address, is_in);
    if (rc == 0 && *is_in)
        answers_add(a, execution, facts_of(shown, &places), is_in);
    if (!*is_in)
        take_back(a, execution, before);
    json_decref(shown);
    return rc;
}

/* ---------------------------------------------------------------------------------- points */

/* Anomalies and labelled ones first, the strangest first; then some of the others, evenly. */
static uint32_t choose_points(const struct execution_table *t, uint32_t most, uint32_t *tree)
{
    uint32_t n = 0, n_left, step;

    for (uint32_t i = 0; i < t->n && n < most / 2; i++) {
        uint32_t at = t->scores->order[i];

        if (t->scores->is_anomaly[at] || t->label[at] != 0)
            tree[n++] = at;
    }
    n_left = t->n - n;
    step = n_left / (most - n) + 1;
    for (uint32_t i = 0; i < t->n && n < most; i += step)
        if (!t->scores->is_anomaly[i] && t->label[i] == 0)
            tree[n++] = i;
    return n;
}

static void gather_points(const struct execution_table *t, const uint32_t *tree, uint32_t n,
                          struct bundle *bundle, void *memory)
{
    double *enter = memory, *duration = enter + n;
    float *score = (float *)(duration + n);
    unsigned char *verdict = (unsigned char *)(score + n);
    signed char *label = (signed char *)(verdict + n);

    for (uint32_t i = 0; i < n; i++) {
        enter[i] = t->facts->enter_ns[tree[i]];
        duration[i] = t->facts->duration_ns[tree[i]];
        score[i] = t->scores->score[tree[i]];
        verdict[i] = t->scores->is_anomaly[tree[i]];
        label[i] = t->label[tree[i]];
    }
    bundle_add(bundle, "enter_ns", BUNDLE_F64, enter, n);
    bundle_add(bundle, "duration_ns", BUNDLE_F64, duration, n);
    bundle_add(bundle, "score", BUNDLE_F32, score, n);
    bundle_add(bundle, "verdict", BUNDLE_U8, verdict, n);
    bundle_add(bundle, "label", BUNDLE_I8, label, n);
}

static uint32_t count_anomalies(const struct execution_table *t, const uint32_t *tree,
                                uint32_t n)
{
    uint32_t n_anomalies = 0;

    for (uint32_t i = 0; i < n; i++)
        n_anomalies += t->scores->is_anomaly[tree[i]];
    return n_anomalies;
}

int answers_add_points(struct answers *a, int64_t foi, uint32_t most,
                       struct answers_points *points)
{
    uint32_t *tree = mem_alloc(most, sizeof *tree);
    struct bundle bundle = {.n_columns = 0};
    struct foi_state *state;
    char address[ADDRESS_SIZE];
    void *memory, *bytes;
    size_t size;
    uint32_t n;
    bool is_in = false;
    int rc = worker_foi(&a->worker, foi, &state);

    if (rc == 0) {
        n = choose_points(state->table, most, tree);
        memory = mem_alloc(n + 1, 2 * sizeof(double) + sizeof(float) + 2);
        gather_points(state->table, tree, n, &bundle, memory);
        bytes = bundle_bytes(&bundle, &size);
        snprintf(address, sizeof address, "/fois/%lld/columns", (long long)foi);
        answers_add(a, address, html_base64(bytes, size), &is_in);
        *points = (struct answers_points){
            .n = is_in ? n : 0,
            .n_anomalies = is_in ? count_anomalies(state->table, tree, n) : 0,
            .of = state->n,
        };
        free(bytes);
        free(memory);
    }
    free(tree);
    return rc;
}

/* ----------------------------------------------------------------------------------- names */

/* What a name takes at most, as html_data writes it. */
static size_t bytes_of_name(const char *name)
{
    size_t n = strlen(name);

    for (const char *at = name; (at = strpbrk(at, "<>&\"\\")); at++)
        n += 5;
    return n;
}

static json_t *names_of_regions(const struct answers *a, const json_t *regions)
{
    json_t *some = json_array(), *row;
    size_t i, bytes = 0;

    json_array_foreach(regions, i, row)
    {
        json_int_t id = json_integer_value(json_object_get(row, "id"));
        const char *name = json_string_value(json_object_get(row, "short_name"));
        char part[MAX_NAME + 1];

        if (id < 0 || id >= (json_int_t)a->served.run.defs.names.n || !a->has_region[id] ||
            name == NULL)
            continue;
        snprintf(part, html_whole(name, MAX_NAME) + 1, "%s", name);
        bytes += bytes_of_name(part);
        if (bytes <= MAX_NAMES)
            json_array_append_new(
                some, json_pack("{s:I, s:o}", "id", id, "short_name", json_text(part)));
    }
    return some;
}

static json_t *places_of_locations(const struct answers *a, const json_t *locations)
{
    static const char *const field[] = {"id", "rank", "thread"};
    json_t *some = json_array(), *row;
    size_t i;

    json_array_foreach(locations, i, row)
    {
        json_int_t id = json_integer_value(json_object_get(row, "id"));

        if (id >= 0 && id < a->served.run.defs.n_locations && a->has_location[id])
            json_array_append_new(some, part_of(row, field, sizeof field / sizeof *field));
    }
    return some;
}

int answers_finish(struct answers *a)
{
    static const char *const field[] = {"begin_ns", "end_ns"};
    json_t *run = NULL, *regions = NULL, *small;
    int rc = ask_json(a, "/run", &run);

    if (rc == 0)
        rc = ask_json(a, "/regions", &regions);
    if (rc == 0) {
        small = part_of(run, field, sizeof field / sizeof *field);
        json_object_set_new(small, "locations",
                            places_of_locations(a, json_object_get(run, "locations")));
        json_object_set_new(a->json, "/run", small);
        json_object_set_new(a->json, "/regions", names_of_regions(a, regions));
    }
    json_decref(regions);
    json_decref(run);
    return rc;
}
