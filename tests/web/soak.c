/*
 * soak PORT N TREES PID [SEED] -- sends N requests of every kind, right ones and some that are
 * not, to a server on 127.0.0.1 that serves a run with TREES executions, over a connection that
 * is closed and made anew now and then, and listens to its events meanwhile.
 *
 * Each request says which statuses it may be answered by. Prints how many there were of each,
 * and the resident memory of process PID after a third of the requests and at the end.
 */
#include "base/rng.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_STATUS 600
#define TIME_NS 250000000u /* the run is longer */

/* %T stands for an execution, %N for a small number, %W for a time, %L for a label. */
static const struct kind {
    unsigned weight;
    const char *path, *body; /* body: a POST */
    const char *statuses;
} kinds[] = {
    {20, "/run", NULL, "200"},
    {5, "/regions", NULL, "200"},
    {20, "/fois/1/columns?names=score,label,verdict", NULL, "200"},
    {20, "/fois/1/columns?names=enter_ns,duration_ns,part,rank,pca.x", NULL, "200 404"},
    {60, "/fois/1/candidates?offset=%T&limit=9", NULL, "200"},
    {20, "/fois/1/candidates?verdict=anomaly&label=none&limit=%N", NULL, "200"},
    {3, "/fois/1/candidates?order=next&limit=3", NULL, "200"},
    {60, "/fois/1/executions/%T", NULL, "200"},
    {60, "/fois/1/executions/%T/tree", NULL, "200"},
    {10, "/fois/1/executions/%T/subtrees", NULL, "200"},
    {5, "/fois/1/typical", NULL, "200"},
    {3, "/fois/1/next?n=2", NULL, "200"},
    {2, "/fois/1/retrains", NULL, "200"},
    {2, "/fois/1/incidents?limit=5", NULL, "200"},
    {10, "/fois/1/projection", NULL, "200 404"},
    {200, "/timeline?begin=%W&width=300", NULL, "200"},
    {60, "/timeline?end=%W&width=64&most=50", NULL, "200"},
    {60, "/messages?begin=%W&limit=20", NULL, "200"},
    {60, "/calls/0/%T", NULL, "200"},
    {10, "/search?q=s", NULL, "200"},
    {30, "/search/next?region=%N&after=%W", NULL, "200 404"},
    {20, "/measure?begin=%W", NULL, "200"},
    {5, "/labels", NULL, "200"},
    {5, "/labels.csv", NULL, "200"},
    {2, "/executions.csv?foi=1", NULL, "200"},
    {5, "/window.json?begin=1000&end=%W", NULL, "200 400"},
    {3, "/openapi.json", NULL, "200"},
    {60, "/fois/1/labels", "{\"labels\":[{\"tree\":%T,\"label\":\"%L\"}]}", "200"},
    {10, "/fois/1/retrain", "{}", "200"},
    {4, "/fois/1/retrain/undo", "{}", "200 404"},
    {4, "/fois/1/projection", "{\"method\":\"pca\"}", "202 409"},
    {4, "/fois/1/projection", "{\"method\":\"tsne\",\"iterations\":20}", "202 409"},
    {2, "/fois/1/projection/cancel", "{}", "200"},
    /* wrong ones */
    {10, "/fois/9/columns", NULL, "404"},
    {10, "/fois/1/executions/99999999", NULL, "404"},
    {10, "/fois/1/executions/99999999/subtrees", NULL, "404"},
    {10, "/timeline?begin=9&end=3", NULL, "400"},
    {10, "/calls/0/4000000000", NULL, "404"},
    {10, "/nothing/%N", NULL, "404"},
    {10, "/fois/1/candidates?limit=many", NULL, "400"},
    {10, "/fois/1/labels", "{\"labels\":[{\"tree\":%T}]}", "400"},
    {10, "/fois/1/labels", "{\"labels\":", "400"},
    {10, "/fois/1/retrain", "{\"learner\":\"none\"}", "400"},
    {10, "/run", "{}", "405"},
};
#define N_KINDS (sizeof kinds / sizeof *kinds)

struct soak {
    unsigned port, trees;
    long pid;
    struct rng rng;
    int fd, events; /* -1: not connected */
    unsigned long count[MAX_STATUS];
    char etag[64]; /* of an answer before */
};

static int open_connection(unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        perror("soak: cannot connect");
        exit(1);
    }
    return fd;
}

static void fill(struct soak *s, const char *pattern, char *out, size_t size)
{
    static const char *const labels[] = {"abnormal", "normal", "clear"};
    size_t n = 0;

    for (; *pattern && n + 32 < size; pattern++) {
        if (*pattern != '%') {
            out[n++] = *pattern;
            continue;
        }
        pattern++;
        if (*pattern == 'L')
            n += (size_t)sprintf(out + n, "%s", labels[rng_below(&s->rng, 3)]);
        else if (*pattern == 'W')
            n += (size_t)sprintf(out + n, "%lu",
                                 2000 + (unsigned long)rng_below(&s->rng, TIME_NS));
        else
            n += (size_t)sprintf(
                out + n, "%lu",
                (unsigned long)rng_below(&s->rng, *pattern == 'T' ? s->trees : 9));
    }
    out[n] = '\0';
}

/* Reads an answer to its end. Returns its status, 0 when the connection ended before. */
static int receive(struct soak *s, int fd)
{
    static char text[1 << 16];
    size_t n = 0, length;
    char *end = NULL, *field;
    int status = 0;

    while (end == NULL && n + 1 < sizeof text) {
        ssize_t got = recv(fd, text + n, sizeof text - 1 - n, 0);

        if (got <= 0)
            return 0;
        n += (size_t)got;
        text[n] = '\0';
        end = strstr(text, "\r\n\r\n");
    }
    if (end == NULL || sscanf(text, "HTTP/1.%*d %d", &status) != 1)
        return 0;
    *end = '\0';
    field = strcasestr(text, "\ncontent-length:");
    length = field && status != 304 ? strtoul(field + 16, NULL, 10) : 0;
    field = strcasestr(text, "\netag:");
    if (field)
        sscanf(field + 6, " %63s", s->etag);
    for (n -= (size_t)(end + 4 - text); n < length;) {
        ssize_t got = recv(fd, text, sizeof text, 0);

        if (got <= 0)
            return 0;
        n += (size_t)got;
    }
    return status;
}

static void put_request(struct soak *s, const struct kind *kind, char *out, size_t size)
{
    char path[256], body[256] = "";

    fill(s, kind->path, path, sizeof path);
    if (kind->body)
        fill(s, kind->body, body, sizeof body);
    if (kind->body)
        snprintf(out, size,
                 "POST /api/v1%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nContent-Type: "
                 "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                 path, s->port, strlen(body), body);
    else
        snprintf(out, size, "GET /api/v1%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n%s%s%s\r\n", path,
                 s->port, *s->etag ? "If-None-Match: " : "", s->etag, *s->etag ? "\r\n" : "");
}

static const struct kind *any_kind(struct soak *s)
{
    unsigned sum = 0, at;

    for (size_t k = 0; k < N_KINDS; k++)
        sum += kinds[k].weight;
    at = (unsigned)rng_below(&s->rng, sum);
    for (size_t k = 0;; k++) {
        if (at < kinds[k].weight)
            return &kinds[k];
        at -= kinds[k].weight;
    }
}

/* Returns 0 when the answer is one of those that were to be expected. */
static int ask(struct soak *s)
{
    const struct kind *kind = any_kind(s);
    char text[1024], number[8];
    int status;

    if (rng_below(&s->rng, 3))
        strcpy(s->etag, rng_below(&s->rng, 8) ? "" : "*"); /* else what it was before */
    put_request(s, kind, text, sizeof text);
    if (s->fd < 0)
        s->fd = open_connection(s->port);
    if (send(s->fd, text, strlen(text), MSG_NOSIGNAL) < 0)
        return 1;
    status = receive(s, s->fd);
    s->count[status > 0 && status < MAX_STATUS ? status : 0]++;
    snprintf(number, sizeof number, "%d", status);
    if (strstr(kind->statuses, number) == NULL && (status != 304 || kind->body)) {
        fprintf(stderr, "soak: status %d for\n%s\n", status, text);
        return 1;
    }
    if (rng_below(&s->rng, 100) == 0 || status == 405 || status == 400) {
        close(s->fd);
        s->fd = -1;
    }
    return 0;
}

/* Somebody who listens for a while, goes away, and comes back. */
static void listen_on(struct soak *s)
{
    char text[256];

    if (s->events >= 0)
        close(s->events);
    s->events = open_connection(s->port);
    snprintf(text, sizeof text, "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
             s->port);
    if (send(s->events, text, strlen(text), MSG_NOSIGNAL) < 0)
        perror("soak: cannot listen to events");
}

static long resident_kib(long pid)
{
    char path[64], line[256];
    long kib = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/status", pid);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "VmRSS: %ld", &kib);
    if (file)
        fclose(file);
    return kib;
}

int main(int argc, char **argv)
{
    struct soak s = {.fd = -1, .events = -1};
    unsigned long n = argc > 4 ? strtoul(argv[2], NULL, 10) : 0, i;
    int rc = 0;

    if (n == 0) {
        fprintf(stderr, "usage: soak PORT N TREES PID [SEED]\n");
        return 2;
    }
    s.port = (unsigned)strtoul(argv[1], NULL, 10);
    s.trees = (unsigned)strtoul(argv[3], NULL, 10);
    s.pid = strtol(argv[4], NULL, 10);
    s.rng.state = argc > 5 ? strtoull(argv[5], NULL, 10) : 1;
    for (i = 0; i < n && rc == 0; i++) {
        if (i % 200 == 0)
            listen_on(&s);
        if (i == n / 3)
            printf("resident_kib_third=%ld ", resident_kib(s.pid));
        rc = ask(&s);
    }
    printf("resident_kib_end=%ld\nrequests=%lu", resident_kib(s.pid), i);
    for (int status = 0; status < MAX_STATUS; status++)
        if (s.count[status] > 0)
            printf(" status_%d=%lu", status, s.count[status]);
    putchar('\n');
    return rc;
}
