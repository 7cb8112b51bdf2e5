/*
 * Marks are set condition by condition: each is a loop over one array, and what is not asked
 * for is none.
 */
#include "serve/foi_filter.h"

#include "analysis/label_store.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ANY_LABEL 2

/* --------------------------------------------------------------------------------- reading */

const char *reason_kind_name(enum reason_kind kind)
{
    static const char *const names[N_REASON_KINDS] = {
        [REASON_WORK] = "work", [REASON_MPI] = "mpi",   [REASON_BARRIER] = "barrier",
        [REASON_ALL] = "all",   [REASON_LESS] = "less", [REASON_CALLS] = "calls",
        [REASON_OPEN] = "open",
    };

    return names[kind];
}

static int read_time(const struct request *request, struct foi_filter *filter)
{
    int rc = request_number(request, "begin", 0, REQUEST_MAX_NUMBER, 0, &filter->begin_ns);

    if (rc == 0)
        rc = request_number(request, "end", 0, REQUEST_MAX_NUMBER, 0, &filter->end_ns);
    if (rc == 0 && filter->end_ns <= filter->begin_ns &&
        (request_text(request, "begin", NULL) || request_text(request, "end", NULL)))
        rc = err_set(ERR_USAGE, "the time ends before it begins: 'end' is above 'begin'");
    return rc;
}

/* The first location of that node. */
static void read_node(const struct request *request, const struct definitions *defs,
                      struct foi_filter *filter)
{
    const char *node = request_text(request, "node", NULL);

    if (node == NULL)
        return;
    filter->node = FILTER_NOWHERE;
    for (uint32_t l = 0; l < defs->n_locations && filter->node == FILTER_NOWHERE; l++)
        if (strcmp(defs->location[l].node, node) == 0)
            filter->node = l;
}

static int read_reason(const struct request *request, const struct execution_facts *facts,
                       struct foi_filter *filter)
{
    const char *function = request_text(request, "function", NULL);
    const char *kind = request_text(request, "kind", NULL);

    if (function) {
        uint32_t found = names_find(&facts->function, function);

        filter->function = found == NAMES_NONE ? FILTER_NOWHERE : (int64_t)found;
    }
    if (kind == NULL)
        return 0;
    for (enum reason_kind k = 0; k < N_REASON_KINDS; k++)
        if (strcmp(kind, reason_kind_name(k)) == 0) {
            filter->kind = (int)k;
            return 0;
        }
    return err_set(ERR_USAGE,
                   "'kind' takes work, mpi, barrier, all, less, calls or open, not '%.40s'",
                   kind);
}

static int read_verdict(const struct request *request, bool may_be_changed,
                        struct foi_filter *filter)
{
    const char *verdict = request_text(request, "verdict", NULL);

    if (verdict == NULL)
        return 0;
    filter->is_anomaly = strcmp(verdict, "anomaly") == 0;
    if (may_be_changed && strcmp(verdict, "changed") == 0)
        filter->is_anomaly = VERDICT_CHANGED;
    else if (!filter->is_anomaly && strcmp(verdict, "normal") != 0)
        return err_set(ERR_USAGE, "'verdict' takes anomaly%s or normal, not '%.40s'",
                       may_be_changed ? ", changed" : "", verdict);
    return 0;
}

static int read_label(const struct request *request, struct foi_filter *filter)
{
    const char *label = request_text(request, "label", NULL);

    if (label == NULL)
        return 0;
    for (filter->label = LABEL_NORMAL; filter->label <= LABEL_ABNORMAL; filter->label++)
        if (strcmp(label, label_name((enum label)filter->label)) == 0)
            return 0;
    return err_set(ERR_USAGE, "'label' takes abnormal, normal or none, not '%.40s'", label);
}

int foi_filter_read(const struct request *request, const struct definitions *defs,
                    const struct execution_facts *facts, bool may_be_changed,
                    struct foi_filter *filter)
{
    int rc;

    *filter = (struct foi_filter){.rank = -1, /* everything passes */
                                  .node = FILTER_ANY,
                                  .function = FILTER_ANY,
                                  .kind = FILTER_ANY,
                                  .is_anomaly = FILTER_ANY,
                                  .label = ANY_LABEL};
    rc = request_number(request, "rank", 0, UINT32_MAX, -1, &filter->rank);
    if (rc == 0)
        rc = read_time(request, filter);
    if (rc == 0)
        rc = read_reason(request, facts, filter);
    if (rc == 0)
        rc = read_verdict(request, may_be_changed, filter);
    if (rc == 0)
        rc = read_label(request, filter);
    read_node(request, defs, filter);
    return rc;
}

/* -------------------------------------------------------------------------------- applying */

static bool has_reason(const struct foi_filter *filter)
{
    return filter->function != FILTER_ANY || filter->kind != FILTER_ANY;
}

static bool is_of_lanes(const struct foi_filter *filter)
{
    return filter->rank >= 0 || filter->node != FILTER_ANY;
}

bool foi_filter_chooses(const struct foi_filter *filter)
{
    return has_reason(filter) || filter->is_anomaly != FILTER_ANY || filter->label != ANY_LABEL;
}

static bool is_all(const struct foi_filter *filter)
{
    return !is_of_lanes(filter) && filter->end_ns == 0 && !foi_filter_chooses(filter);
}

bool foi_filter_is_same(const struct foi_filter *a, const struct foi_filter *b)
{
    return a->rank == b->rank && a->node == b->node && a->function == b->function &&
           a->kind == b->kind && a->is_anomaly == b->is_anomaly && a->label == b->label &&
           a->begin_ns == b->begin_ns && a->end_ns == b->end_ns;
}

void foi_filter_lanes(const struct foi_filter *filter, const struct definitions *defs,
                      bool *there)
{
    const char *node = filter->node >= 0 ? defs->location[filter->node].node : NULL;

    for (uint32_t l = 0; l < defs->n_locations; l++)
        there[l] =
            (filter->rank < 0 || defs->location[l].rank == filter->rank) &&
            (filter->node == FILTER_ANY || (node && strcmp(defs->location[l].node, node) == 0));
}

static void leave_lanes(const struct foi_filter *filter, const struct definitions *defs,
                        const struct foi_list *list)
{
    uint32_t n_locations = defs->n_locations;
    const uint32_t *location = list->table->facts->location;
    bool *there = mem_alloc(n_locations, sizeof *there);

    foi_filter_lanes(filter, defs, there);
    for (uint32_t t = 0; t < list->table->n; t++)
        if (location[t] >= n_locations || !there[location[t]])
            list->marks[t] &= (unsigned char)~RUNDB_IS_PLACED;
    free(there);
}

/* With a part in it: what takes no time is where it begins. */
static void leave_time(const struct foi_filter *filter, const struct foi_list *list)
{
    const struct execution_facts *f = list->table->facts;
    double begin = filter->begin_ns, end = filter->end_ns;

    for (uint32_t t = 0; t < list->table->n; t++)
        if (!(f->enter_ns[t] < end && (f->enter_ns[t] >= begin || f->exit_ns[t] > begin)))
            list->marks[t] &= (unsigned char)~RUNDB_IS_PLACED;
}

static void leave_reasons(const struct foi_filter *filter, const struct foi_list *list)
{
    const struct execution_facts *f = list->table->facts;
    bool *passes = mem_alloc(f->n_ways + 1, sizeof *passes); /* the first: in no way */

    for (uint32_t w = 1; w <= f->n_ways; w++)
        passes[w] =
            (filter->function == FILTER_ANY || f->reason[w].function == filter->function) &&
            (filter->kind == FILTER_ANY || f->reason[w].kind == filter->kind);
    for (uint32_t t = 0; t < list->table->n; t++)
        if (!passes[f->way[t]])
            list->marks[t] &= (unsigned char)~RUNDB_HAS_REASON;
    free(passes);
}

static void leave_labels(const struct foi_filter *filter, const struct foi_list *list)
{
    for (uint32_t t = 0; t < list->table->n; t++)
        if (list->table->label[t] != filter->label)
            list->marks[t] &= (unsigned char)~FOI_HAS_LABEL;
}

static void leave_verdicts(const struct foi_filter *filter, const struct foi_list *list)
{
    const unsigned char *now = list->table->scores->is_anomaly;
    const unsigned char *before = list->table->facts->was_anomaly;

    for (uint32_t t = 0; t < list->table->n; t++)
        if (filter->is_anomaly == VERDICT_CHANGED ? now[t] == before[t]
                                                  : now[t] != filter->is_anomaly)
            list->marks[t] &= (unsigned char)~FOI_HAS_VERDICT;
}

const struct foi_list *foi_filter_select(struct foi_state *state,
                                         const struct definitions *defs,
                                         const struct foi_filter *filter)
{
    struct foi_list *list = &state->list;
    const struct execution_table *table = state->table;

    if (list->table == table && foi_filter_is_same(&list->filter, filter))
        return list;
    free(list->marks);
    free(list->tree);
    *list = (struct foi_list){.filter = *filter, .table = table, .n = state->n};
    if (is_all(filter))
        return list;
    list->marks = mem_alloc(state->n, 1);
    list->tree = mem_alloc(state->n, sizeof *list->tree);
    list->n = 0;
    memset(list->marks, (int)FOI_PASSES, state->n);
    if (is_of_lanes(filter))
        leave_lanes(filter, defs, list);
    if (filter->end_ns > 0)
        leave_time(filter, list);
    if (has_reason(filter))
        leave_reasons(filter, list);
    if (filter->label != ANY_LABEL)
        leave_labels(filter, list);
    if (filter->is_anomaly != FILTER_ANY)
        leave_verdicts(filter, list);
    for (uint32_t i = 0; i < state->n; i++)
        if (foi_list_has(list, table->scores->order[i]))
            list->tree[list->n++] = table->scores->order[i];
    return list;
}
