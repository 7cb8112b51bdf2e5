/*
 * metrics -- counters and gauges as Prometheus reads them: its own text format 0.0.4, or
 * OpenMetrics 1.0.0 for who asks for that, as Prometheus does.
 *
 *     metrics_init(&metrics, head->field[FIELD_ACCEPT]);
 *     metrics_job(&metrics, &job);
 *     metrics_add(&metrics, rows, n);         again and again
 *     metrics_answer(&metrics, &response);
 *
 * How many series there are never depends on the job that is looked at: nothing has a rank, a
 * function or a client for a label. What the process is stands once, in snag_job_info, with
 * which the others can be joined.
 *
 * And /metrics and /healthz of a process that serves nothing else by HTTP (metrics_server_*).
 * Who may ask: as access.h says. Beyond loopback /metrics wants the token, as a bearer or in
 * the URL; /healthz does not, as whoever restarts the process should not have to know it.
 */
#ifndef SNAG_HTTP_METRICS_H
#define SNAG_HTTP_METRICS_H

#include "http/access.h"
#include "http/response.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_INFO };

struct metric_label {
    const char *name, *value; /* value "" or NULL: there is none */
};

struct metric {
    const char *name; /* of the family: without the _total of a counter, the _info of an info */
    enum metric_type type;
    const char *help;
    double value;                     /* of an info 1; NAN: not known */
    const struct metric_label *label; /* [n_labels] */
    size_t n_labels;
};

/* One of what a counter has counted, to look for elsewhere. Of OpenMetrics alone. */
struct metric_exemplar {
    const char *execution; /* its id; "": there was none yet */
    double at_s;           /* when it was counted, since 1970 */
};

/* What the process is. */
struct metrics_job {
    const char *version;      /* of snag */
    const char *command;      /* "ps" */
    const char *program, *id; /* of the job; NULL: not known */
    const char *run_id;       /* what this run is called in all that is written of it */
    uint64_t started_ns;      /* by clock_ns */
};

struct metrics {
    FILE *out;
    char *text;
    size_t size;
    bool is_open; /* OpenMetrics */
};

/* metrics_init -- accept  the field Accept of the request, or NULL */
void metrics_init(struct metrics *metrics, const char *accept);

/* metrics_job -- snag_job_info, how long it is up, and the memory it uses. */
void metrics_job(struct metrics *metrics, const struct metrics_job *job);

/* metrics_add -- n rows, of families that were not there yet. */
void metrics_add(struct metrics *metrics, const struct metric *metric, size_t n);

/* metrics_add_counter -- one row, a counter, with the last that it has counted. */
void metrics_add_counter(struct metrics *metrics, const struct metric *metric,
                         const struct metric_exemplar *exemplar);

/* metrics_answer -- status 200 and all of it. Releases the metrics. */
void metrics_answer(struct metrics *metrics, struct response *response);

/*
 * metrics_wants_open -- a field Accept prefers OpenMetrics 1.0.0 to the text format, or likes
 * them alike and names it. Where nothing but wildcards stand, the text format is meant.
 */
bool metrics_wants_open(const char *accept);

#define METRICS_WHY_SIZE 256

struct metrics_server;

struct metrics_server_opts {
    const char *address;    /* numeric */
    uint16_t port;          /* 0: one that is free */
    struct metrics_job job; /* its texts stay; started_ns is now */
    void *ctx;              /* of both of these, which are called by the thread */
    void (*add)(void *ctx, struct metrics *metrics);
    bool (*is_well)(void *ctx, char why[METRICS_WHY_SIZE]); /* else says why not */
};

/*
 * metrics_server_open -- listen and answer.
 *   server  out: close it in any case
 * Returns 0, or what access_init and server_open do.
 */
int metrics_server_open(struct metrics_server **server, const struct metrics_server_opts *opts);

/* metrics_server_close -- nothing is called any more when it returns. NULL is harmless. */
void metrics_server_close(struct metrics_server *server);

/* metrics_server_port, metrics_server_access -- where it listens, and who may ask. */
uint16_t metrics_server_port(const struct metrics_server *server);
const struct access *metrics_server_access(const struct metrics_server *server);

#endif
