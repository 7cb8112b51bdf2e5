#include "live/node_state.h"

#include "base/err.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static int add_row(struct node_state *s, const char *path, json_t *row)
{
    const char *counter = json_string_value(json_array_get(row, 0));
    const char *field = json_string_value(json_array_get(row, 1));
    uint32_t i;

    if (counter == NULL || field == NULL || json_array_size(row) != 2)
        return err_set(ERR_FORMAT, "'%s' is not a list of [counter, field]", path);
    i = names_add(&s->counter, counter);
    mem_grow(&s->list_field, &s->list_cap, i + 1, sizeof *s->list_field);
    s->list_field[i] = names_add(&s->field, field);
    return 0;
}

static int read_list(struct node_state *s, const char *path)
{
    json_error_t error;
    json_t *list = json_load_file(path, 0, &error), *row;
    size_t i;
    int rc = 0;

    if (list == NULL && json_error_code(&error) == json_error_cannot_open_file)
        return err_set(ERR_IO, "cannot read '%s'", path);
    if (list == NULL)
        return err_set(ERR_FORMAT, "cannot read '%s': %s in line %d", path, error.text,
                       error.line);
    if (!json_is_array(list))
        rc = err_set(ERR_FORMAT, "'%s' is not a list of [counter, field]", path);
    json_array_foreach(list, i, row)
    {
        rc = add_row(s, path, row);
        if (rc < 0)
            break;
    }
    json_decref(list);
    return rc;
}

int node_state_open(struct node_state *s, const char *watchlist, const char *prefix)
{
    *s = (struct node_state){0};
    if (watchlist)
        return read_list(s, watchlist);
    s->prefix = mem_copy_string(prefix ? prefix : "");
    return 0;
}

void node_state_release(struct node_state *s)
{
    for (uint32_t i = 0; i < s->n_nodes; i++)
        free(s->node[i].field);
    free(s->node);
    free(s->prefix);
    free(s->list_field);
    free(s->watched);
    names_release(&s->counter);
    names_release(&s->field);
    *s = (struct node_state){0};
}

/* The field that a counter fills; NULL when it is not watched. */
static const char *field_of(struct node_state *s, const char *counter)
{
    size_t length = s->prefix ? strlen(s->prefix) : 0;
    uint32_t i;

    if (s->prefix)
        return length > 0 && strncmp(counter, s->prefix, length) == 0 ? counter + length : NULL;
    i = names_find(&s->counter, counter);
    return i == NAMES_NONE ? NULL : s->field.name[s->list_field[i]];
}

static const char *watched(struct node_state *s, const struct definitions *defs, uint32_t i)
{
    mem_grow(&s->watched, &s->known_cap, defs->counters.n, sizeof *s->watched);
    for (; s->n_known < defs->counters.n; s->n_known++)
        s->watched[s->n_known] = field_of(s, defs->counters.name[s->n_known]);
    return s->watched[i];
}

int64_t counter_whole(const struct counter_value *value)
{
    if (!value->is_real)
        return value->whole;
    if (!(fabs(value->real) < 0x1p63))
        return value->real > 0 ? INT64_MAX : value->real < 0 ? INT64_MIN : 0;
    return llround(value->real);
}

static void set_field(struct node *node, const char *name,
                      const struct counter_reading *counter)
{
    size_t i = 0;

    while (i < node->n_fields && node->field[i].name != name)
        i++;
    if (i == NODE_STATE_MAX_FIELDS)
        return;
    mem_grow(&node->field, &node->cap, i + 1, sizeof *node->field);
    node->field[i] =
        (struct prov_counter){.name = name, .value = counter_whole(&counter->value)};
    node->n_fields += i == node->n_fields;
    node->time_ns = counter->time_ns;
}

bool node_state_add(struct node_state *s, const struct definitions *defs, uint32_t node,
                    const struct counter_reading *counter)
{
    const char *field = watched(s, defs, counter->value.counter);

    if (field == NULL)
        return false;
    mem_grow(&s->node, &s->node_cap, node + 1, sizeof *s->node);
    while (s->n_nodes <= node)
        s->node[s->n_nodes++] = (struct node){0};
    set_field(&s->node[node], field, counter);
    return true;
}

bool node_state_copy(const struct node_state *s, uint32_t node, struct arena *arena,
                     struct prov_node *out)
{
    const struct node *from = node < s->n_nodes ? &s->node[node] : NULL;

    if (from == NULL || from->n_fields == 0)
        return false;
    *out = (struct prov_node){.time_ns = from->time_ns, .n_fields = from->n_fields};
    out->field = arena_array(arena, struct prov_counter, from->n_fields);
    memcpy(out->field, from->field, from->n_fields * sizeof *from->field);
    return true;
}
