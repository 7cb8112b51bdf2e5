/* Single calls of the trace: what one is, and where the next of a region is. */
#include "base/err.h"
#include "base/search.h"
#include "explain/trace_view.h"
#include "base/json.h"
#include "serve/api.h"

/* The first of a depth, counted from its beginning, whose row is `row` or after it. */
static uint64_t at_depth_from(const struct call_view *calls, uint32_t depth, uint32_t row)
{
    const uint32_t *by_depth = calls->by_depth + calls->depth_start[depth];
    uint64_t n = calls->depth_start[depth + 1] - calls->depth_start[depth];

    return lower_bound_u32(by_depth, n, row);
}

/* The direct children of a call are neighbours in the order of the depth below it. */
static void find_children(const struct call_view *calls, uint32_t row, uint64_t *begin,
                          uint64_t *end)
{
    uint32_t depth = calls->depth[row] + 1u;

    *begin = *end = 0;
    if (depth >= calls->n_depths)
        return;
    *begin = at_depth_from(calls, depth, row);
    *end = at_depth_from(calls, depth, row + calls->subtree_len[row]);
}

/* Without levels, the children are added up one by one. */
static uint64_t own_ns(const struct served *s, uint32_t location, const struct call_view *calls,
                       uint32_t row)
{
    const struct levels *levels = served_levels(s);
    uint64_t begin, end, children = 0;
    uint32_t depth = calls->depth[row] + 1u;

    find_children(calls, row, &begin, &end);
    if (begin < end && levels)
        children = levels_spent(levels, location, depth, begin, end);
    for (uint64_t i = begin; i < end && levels == NULL; i++) {
        uint32_t child = calls->by_depth[calls->depth_start[depth] + i];

        children += child < calls->n ? calls->inclusive_ns[child] : 0;
    }
    return children < calls->inclusive_ns[row] ? calls->inclusive_ns[row] - children : 0;
}

/* What is used to find the way from a row: checksums that nobody compared do not say it. */
static int check_row(const struct call_view *calls, uint32_t row, uint32_t n_regions)
{
    uint32_t depth = calls->depth[row];
    bool is_good = calls->region[row] < n_regions && depth < calls->n_depths &&
                   calls->subtree_len[row] >= 1 && calls->subtree_len[row] <= calls->n - row;

    for (uint32_t d = 0; is_good && d <= depth + 1 && d < calls->n_depths; d++)
        is_good = calls->depth_start[d] <= calls->depth_start[d + 1] &&
                  calls->depth_start[d + 1] <= calls->n;
    for (uint32_t d = 0; is_good && d < depth; d++)
        is_good = calls->depth_start[d] < calls->depth_start[d + 1] &&
                  calls->region[calls_ancestor(calls, row, (uint16_t)d)] < n_regions;
    return is_good ? 0 : err_set(ERR_FORMAT, "damaged run: calls/ has calls that make no tree");
}

static json_t *path_of(const struct call_view *calls, uint32_t row)
{
    json_t *path = json_array();

    for (uint32_t d = 0; d < calls->depth[row]; d++)
        json_array_append_new(
            path, json_count(calls->region[calls_ancestor(calls, row, (uint16_t)d)]));
    json_array_append_new(path, json_count(calls->region[row]));
    return path;
}

int api_call(struct worker *worker, const struct request *request, struct response *response)
{
    const struct served *s = worker->served;
    const struct columns *columns = &s->scattered;
    int64_t location = request->id[0], row = request->id[1];
    struct call_view calls;
    uint64_t first_child, end_child;
    uint32_t parent;
    json_t *json;
    int rc;

    if (location >= columns->n_locations)
        return err_set(ERR_NOT_FOUND, "the run has no location %lld", (long long)location);
    calls = columns_view(columns, (uint32_t)location);
    if (row >= calls.n)
        return err_set(ERR_NOT_FOUND, "location %lld has %u calls", (long long)location,
                       calls.n);
    rc = check_row(&calls, (uint32_t)row, s->run.defs.names.n);
    if (rc < 0)
        return rc;
    find_children(&calls, (uint32_t)row, &first_child, &end_child);
    parent = calls_caller(&calls, (uint32_t)row);
    json = json_object();
    json_object_set_new(json, "region", json_count(calls.region[row]));
    json_object_set_new(json, "enter_ns", json_count(calls.enter_ns[row]));
    json_object_set_new(json, "leave_ns", json_count(calls_leave(&calls, (uint32_t)row)));
    json_object_set_new(json, "exclusive_ns",
                        json_count(own_ns(s, (uint32_t)location, &calls, (uint32_t)row)));
    json_object_set_new(json, "depth", json_count(calls.depth[row]));
    json_object_set_new(json, "parent", parent == NO_CALL ? json_null() : json_count(parent));
    json_object_set_new(json, "n_children", json_count(end_child - first_child));
    json_object_set_new(json, "path", path_of(&calls, (uint32_t)row));
    return response_json(response, json);
}

/* The first call of a region that is entered after a time, or NO_CALL. */
static uint32_t next_call(const struct call_view *calls, uint32_t region, uint64_t after_ns)
{
    for (uint32_t i = calls_until(calls, after_ns); i < calls->n; i++)
        if (calls->region[i] == region)
            return i;
    return NO_CALL;
}

int api_search_next(struct worker *worker, const struct request *request,
                    struct response *response)
{
    const struct served *s = worker->served;
    uint32_t n = s->run.columns.n_locations, best = NO_LOCATION, best_row = NO_CALL;
    double region, after, location;
    struct call_view calls = {0};
    int rc = request_number(request, "region", 0, UINT32_MAX, -1, &region);

    if (rc == 0)
        rc = request_number(request, "after", 0, REQUEST_LARGEST, 0, &after);
    if (rc == 0)
        rc = request_number(request, "location", 0, UINT32_MAX, -1, &location);
    if (rc == 0 && (region < 0 || region >= s->run.defs.names.n || location >= n))
        rc = err_set(ERR_NOT_FOUND, "the run has no such region or location");
    if (rc < 0)
        return rc;
    for (uint32_t l = 0; l < n; l++) {
        struct call_view here = columns_view(&s->run.columns, l);
        uint32_t row = location >= 0 && location != l
                           ? NO_CALL
                           : next_call(&here, (uint32_t)region, (uint64_t)after);

        if (row != NO_CALL &&
            (best == NO_LOCATION || here.enter_ns[row] < calls.enter_ns[best_row])) {
            best = l;
            best_row = row;
            calls = here;
        }
    }
    if (best == NO_LOCATION)
        return err_set(ERR_NOT_FOUND, "no such call behind that time");
    return response_json(response,
                         json_pack("{s:I, s:I, s:I, s:I, s:I}", "location", (json_int_t)best,
                                   "call", (json_int_t)best_row, "enter_ns",
                                   (json_int_t)calls.enter_ns[best_row], "leave_ns",
                                   (json_int_t)calls_leave(&calls, best_row), "depth",
                                   (json_int_t)calls.depth[best_row]));
}
