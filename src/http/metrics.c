/*
 * Who asks for OpenMetrics gets that, as Prometheus does, else its own text format. A process
 * that serves nothing else by HTTP has one thread for it beside the others.
 */
#include "http/metrics.h"

#include "base/mem.h"
#include "base/progress.h"
#include "base/text.h"
#include "http/server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define TYPE_OPEN "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TYPE_TEXT "text/plain; version=0.0.4; charset=utf-8"

/* --------------------------------------------------------------------- what is asked for */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* at is the beginning of a parameter of this name; its value, up to length. */
static const char *value_of(const char *at, const char *name, size_t *length)
{
    size_t n = strlen(name);

    if (strncasecmp(at, name, n) != 0 || at[n] != '=')
        return NULL;
    at += n + 1;
    at += *at == '"';
    *length = strcspn(at, "\" \t;,");
    return at;
}

/*
 * How much a range of media is liked, from 0 to 1; -1 when its version is not ours. *at is
 * behind the type, and then at the comma or the end.
 */
static double weight_of(const char **at, const char *version)
{
    double weight = 1;
    const char *value;
    size_t n;

    *at += strcspn(*at, ",;");
    while (**at == ';') {
        *at = skip_blanks(*at + 1);
        if ((value = value_of(*at, "q", &n)) != NULL && weight >= 0)
            weight = fmin(fmax(strtod(value, NULL), 0), 1);
        if ((value = value_of(*at, "version", &n)) != NULL &&
            (n != strlen(version) || strncmp(value, version, n) != 0))
            weight = -1;
        *at += strcspn(*at, ",;");
    }
    return weight;
}

bool metrics_wants_open(const char *accept)
{
    static const struct {
        const char *type, *version;
    } known[] = {{"application/openmetrics-text", "1.0.0"}, {"text/plain", "0.0.4"}};
    double liked[2] = {0};

    for (const char *at = accept ? accept : ""; *at; at += *at == ',') {
        size_t length;
        int k;

        at = skip_blanks(at);
        length = strcspn(at, " \t,;");
        for (k = 0; k < 2; k++)
            if (length == strlen(known[k].type) && strncasecmp(at, known[k].type, length) == 0)
                break;
        at += length;
        if (k < 2)
            liked[k] = fmax(liked[k], weight_of(&at, known[k].version));
        else
            at += strcspn(at, ",");
    }
    return liked[0] > 0 && liked[0] >= liked[1];
}

/* ------------------------------------------------------------------------------- writing */

/* Help and values of labels: one line each, whatever is in them. */
static void put_escaped(FILE *out, const char *text, bool has_quotes)
{
    for (const char *at = text; *at; at++) {
        if (*at == '\\' || (has_quotes && *at == '"'))
            fputc('\\', out);
        fputc(*at, out);
    }
}

static void put_labels(FILE *out, const struct metric *metric)
{
    char separator = '{';

    for (size_t i = 0; i < metric->n_labels; i++) {
        const struct metric_label *label = &metric->label[i];
        char *value;

        if (label->value == NULL || *label->value == '\0')
            continue;
        value = text_printable(mem_copy_string(label->value));
        fprintf(out, "%c%s=\"", separator, label->name);
        put_escaped(out, value, true);
        fputc('"', out);
        separator = ',';
        free(value);
    }
    if (separator == ',')
        fputc('}', out);
}

static void put_value(FILE *out, double value)
{
    if (isnan(value))
        fputs("NaN", out);
    else if (value == floor(value) && fabs(value) < 0x1p64)
        fprintf(out, "%.0f", value);
    else
        fprintf(out, "%.9g", value);
}

static void put_exemplar(FILE *out, const struct metric_exemplar *exemplar)
{
    fputs(" # {execution=\"", out);
    put_escaped(out, exemplar->execution, true);
    fprintf(out, "\"} 1 %.3f", exemplar->at_s);
}

/* In OpenMetrics a family has a name of its own, in the text format that of its series. */
static void put(const struct metrics *m, const struct metric *metric,
                const struct metric_exemplar *exemplar)
{
    static const struct {
        const char *open, *text, *suffix;
    } types[] = {
        [METRIC_COUNTER] = {"counter", "counter", "_total"},
        [METRIC_GAUGE] = {"gauge", "gauge", ""},
        [METRIC_INFO] = {"info", "gauge", "_info"},
    };
    const char *suffix = types[metric->type].suffix;
    const char *family = m->is_open ? "" : suffix;

    fprintf(m->out, "# HELP %s%s ", metric->name, family);
    put_escaped(m->out, metric->help, m->is_open);
    fprintf(m->out, "\n# TYPE %s%s %s\n%s%s", metric->name, family,
            m->is_open ? types[metric->type].open : types[metric->type].text, metric->name,
            suffix);
    put_labels(m->out, metric);
    fputc(' ', m->out);
    put_value(m->out, metric->value);
    if (m->is_open && exemplar && *exemplar->execution)
        put_exemplar(m->out, exemplar);
    fputc('\n', m->out);
}

void metrics_init(struct metrics *m, const char *accept)
{
    *m = (struct metrics){.is_open = metrics_wants_open(accept)};
    m->out = text_open(&m->text, &m->size);
}

void metrics_add(struct metrics *m, const struct metric *metric, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put(m, &metric[i], NULL);
}

void metrics_add_counter(struct metrics *m, const struct metric *metric,
                         const struct metric_exemplar *exemplar)
{
    put(m, metric, exemplar);
}

/* Resident memory, 0 where /proc is not there. */
static double resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file && fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

void metrics_job(struct metrics *m, const struct metrics_job *job)
{
    const struct metric_label labels[] = {{"version", job->version},
                                          {"command", job->command},
                                          {"program", job->program},
                                          {"job", job->id},
                                          {"run_id", job->run_id}};
    const struct metric rows[] = {
        {"snag_job", METRIC_INFO, "What this process is", 1, labels,
         sizeof labels / sizeof *labels},
        {"snag_up_seconds", METRIC_GAUGE, "Time since the start",
         floor(1e-9 * (double)(clock_ns() - job->started_ns)), NULL, 0},
        {"snag_resident_bytes", METRIC_GAUGE, "Memory in use", resident_bytes(), NULL, 0},
    };

    metrics_add(m, rows, sizeof rows / sizeof *rows);
}

void metrics_answer(struct metrics *m, struct response *response)
{
    if (m->is_open)
        fputs("# EOF\n", m->out);
    fclose(m->out);
    response_bytes(response, m->is_open ? TYPE_OPEN : TYPE_TEXT, m->text, m->size);
    *m = (struct metrics){0};
}

/* ------------------------------------------------------------------------- a server of them */

#define SECOND_NS UINT64_C(1000000000)

struct metrics_server {
    struct metrics_server_opts opts;
    struct access access;
    struct server *server;
};

/* A request, from its head to the end of its answer. */
struct scrape {
    struct metrics_server *server;
    struct connection *connection;
    const struct request_head *head;
    bool is_answered;
};

static void send(struct scrape *s, struct response *response)
{
    struct answer answer = answer_of(response, "");

    connection_answer(s->connection, answer.full, "");
    answer_release(&answer);
    s->is_answered = true;
}

static void fail(struct scrape *s, unsigned status, const char *detail)
{
    struct response response = {0};

    response_problem(&response, status, detail, s->head ? s->head->path : "");
    response.allow = status == 405 ? "GET, HEAD" : NULL;
    send(s, &response);
}

static bool has_token(const struct scrape *s)
{
    const struct access *access = &s->server->access;

    for (size_t i = 0; i < s->head->n_parameters; i++)
        if (strcmp(s->head->parameter[i].name, "token") == 0 &&
            access_token(access, s->head->parameter[i].value))
            return true;
    return access_bearer(access, s->head);
}

/* What can be said of the head. */
static void check(struct scrape *s)
{
    const struct access *access = &s->server->access;
    const struct request_head *head = s->head;
    struct http_refusal refusal = access_refusal(access, head);

    if (refusal.status > 0)
        fail(s, refusal.status, refusal.why);
    else if (*access->token && strcmp(head->path, "/healthz") != 0 && !has_token(s))
        fail(s, 401, "the token is missing: it is in the URL that snag printed");
    else if (!head->is_head && strcmp(head->method, "GET") != 0)
        fail(s, 405, "this address takes GET and HEAD");
}

static void *begin(void *ctx, struct connection *connection, const struct request_head *head,
                   uint64_t *most_body)
{
    struct scrape *s = mem_alloc(1, sizeof *s);

    (void)most_body; /* none */
    *s = (struct scrape){.server = ctx, .connection = connection, .head = head};
    check(s);
    return s;
}

static void answer_metrics(struct scrape *s)
{
    const struct metrics_server_opts *opts = &s->server->opts;
    struct response response = {0};
    struct metrics metrics;

    metrics_init(&metrics, s->head->field[FIELD_ACCEPT]);
    metrics_job(&metrics, &opts->job);
    opts->add(opts->ctx, &metrics);
    metrics_answer(&metrics, &response);
    send(s, &response);
}

static void answer_health(struct scrape *s)
{
    static const char ok[] = "ok\n";
    struct response response = {.status = 200,
                                .type = "text/plain; charset=utf-8",
                                .body = (void *)(uintptr_t)ok,
                                .size = sizeof ok - 1,
                                .is_constant = true};
    char why[METRICS_WHY_SIZE] = "";

    if (s->server->opts.is_well(s->server->opts.ctx, why))
        send(s, &response);
    else
        fail(s, 503, why);
}

static void respond(void *request)
{
    struct scrape *s = request;

    if (s->is_answered)
        return;
    if (strcmp(s->head->path, "/metrics") == 0)
        answer_metrics(s);
    else if (strcmp(s->head->path, "/healthz") == 0)
        answer_health(s);
    else
        fail(s, 404, "there is nothing here but /metrics and /healthz");
}

static void end(void *request)
{
    free(request);
}

static void refuse(void *ctx, struct connection *connection, struct http_refusal refusal)
{
    struct scrape s = {.server = ctx, .connection = connection};

    fail(&s, refusal.status, refusal.why);
}

/* A few scrapers, who have nothing to say but a head. */
static struct server_limits limits(void)
{
    return (struct server_limits){.connections = 64,
                                  .address_connections = 32,
                                  .streams = 1,
                                  .idle_ns = 120 * SECOND_NS,
                                  .head_ns = 10 * SECOND_NS,
                                  .grace_ns = 10 * SECOND_NS,
                                  .least_bytes_per_s = 4096,
                                  .linger_ns = SECOND_NS,
                                  .unfinished_bytes = 1 << 20,
                                  .unsent_bytes = 1 << 20};
}

int metrics_server_open(struct metrics_server **out, const struct metrics_server_opts *opts)
{
    struct metrics_server *s = *out = mem_alloc(1, sizeof *s);
    struct server_opts server = {.address = opts->address,
                                 .port = opts->port,
                                 .n_threads = 1,
                                 .limits = limits(),
                                 .handler = {s, begin, respond, end, refuse}};
    int rc;

    s->opts = *opts;
    s->opts.job.started_ns = clock_ns();
    s->opts.address = s->access.address;
    rc = access_init(&s->access, opts->address);
    return rc < 0 ? rc : server_open(&s->server, &server);
}

void metrics_server_close(struct metrics_server *s)
{
    if (s == NULL)
        return;
    server_quiesce(s->server);
    server_close(s->server);
    free(s);
}

uint16_t metrics_server_port(const struct metrics_server *s)
{
    return server_port(s->server);
}

const struct access *metrics_server_access(const struct metrics_server *s)
{
    return &s->access;
}
