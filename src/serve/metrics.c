#include "serve/metrics.h"

#include "base/progress.h"

#include <stdio.h>
#include <unistd.h>

/* Resident memory, 0 where /proc is not there. */
static unsigned long long resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file && fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

/* Zeroes where a run is served. */
static struct live_totals live_totals(struct live_state *live)
{
    struct live_totals totals = {0};

    if (live) {
        live_state_lock(live);
        totals = live->totals;
        live_state_unlock(live);
    }
    return totals;
}

void metrics(struct served *served, unsigned n_connections, struct response *response)
{
    const struct live_totals live = live_totals(served->live);
    const struct {
        const char *name, *type, *help;
        unsigned long long value;
    } rows[] = {
        {"snag_requests_total", "counter", "Requests answered",
         atomic_load(&served->n_requests)},
        {"snag_requests_failed_total", "counter", "Requests answered by an error",
         atomic_load(&served->n_failed)},
        {"snag_labels_total", "counter", "Labels taken", atomic_load(&served->n_labels)},
        {"snag_retrains_total", "counter", "Rankings made anew or undone",
         atomic_load(&served->n_retrains)},
        {"snag_connections", "gauge", "Open connections", n_connections},
        {"snag_projection_running", "gauge", "A projection is running",
         atomic_load(&served->is_projecting)},
        {"snag_calls", "gauge", "Calls in the run", live.n_calls + served->run.columns.n_calls},
        {"snag_live_events_total", "counter", "Events judged", live.n_events},
        {"snag_live_anomalies_total", "counter",
         "Anomalies found, also those taken back in the end",
         live.n_anomalies + live.n_taken_back},
        {"snag_live_lost_events_total", "counter", "Events lost", live.n_lost},
        {"snag_up_seconds", "gauge", "Time since the start",
         (clock_ns() - served->started_ns) / 1000000000u},
        {"snag_resident_bytes", "gauge", "Memory in use", resident_bytes()},
    };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", rows[i].name, rows[i].help,
                rows[i].name, rows[i].type, rows[i].name, rows[i].value);
    fclose(out);
    response_bytes(response, "text/plain; version=0.0.4; charset=utf-8", text, size);
}
