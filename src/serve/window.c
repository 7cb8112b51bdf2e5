#include "serve/window.h"

#include "base/err.h"
#include "base/mem.h"
#include "trace/monotone.h"

#include <stdlib.h>

int window_read(struct window *window, const struct served *served,
                const struct request *request)
{
    uint32_t n = served->run.columns.n_locations;
    double begin = 0, end = 0;
    int rc = request_number(request, "begin", 0, (double)TIME_MAX_SPAN_NS,
                            (double)served->begin_ns, &begin);

    *window = (struct window){.location = mem_alloc(n, sizeof *window->location)};
    if (rc == 0)
        rc = request_number(request, "end", 0, (double)TIME_MAX_SPAN_NS, (double)served->end_ns,
                            &end);
    if (rc == 0)
        rc = request_list(request, "locations", n, window->location, &window->n_locations);
    window->begin_ns = (uint64_t)begin;
    window->end_ns = (uint64_t)end;
    if (rc == 0 && end <= begin && request_text(request, "begin", NULL) == NULL &&
        request_text(request, "end", NULL) == NULL)
        window->end_ns = window->begin_ns + 1; /* a trace without length */
    else if (rc == 0 && end <= begin)
        rc = err_set(ERR_USAGE, "the window ends before it begins");
    return rc;
}

void window_release(struct window *window)
{
    free(window->location);
    *window = (struct window){0};
}
