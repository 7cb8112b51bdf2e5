#include "replay/run_view.h"

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

static bool is_sound(const struct trace_view *view, uint32_t location)
{
    if (columns_check(view->ctx, location, view->defs) == 0)
        return true;
    log_warn("run", "%s", err_message());
    return false;
}

static void drop(const struct trace_view *view)
{
    columns_drop(view->ctx);
}

void run_view_init(struct trace_view *view, const struct columns *columns,
                   const struct definitions *defs)
{
    struct call_view *calls = mem_alloc(columns->n_locations, sizeof *calls);

    for (uint32_t l = 0; l < columns->n_locations; l++)
        calls[l] = columns_view(columns, l);
    trace_view_init(view, defs, calls, columns->message);
    view->dependency = columns->dependency;
    view->n_dependencies = columns->n_dependencies;
    view->is_sound = is_sound;
    view->on_passed = drop;
    view->ctx = columns;
}
