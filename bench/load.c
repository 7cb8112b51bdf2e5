/*
 * load HOST PORT CLIENTS SECONDS PATH... -- that many clients on connections of their own, each
 * asking for one path after another as soon as it has its answer. Prints requests per second
 * and how long answers took: median, 99 of 100, the longest, in ms.
 *
 * One thread around epoll: it takes a part of the machine that it measures, so the numbers are
 * what a client on the same machine sees.
 */
#include "base/progress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_HEAD 4096

struct client {
    int fd;
    size_t path; /* asked for next */
    uint64_t asked_ns;
    char head[MAX_HEAD]; /* what has come of the answer's headers */
    size_t n_head;
    size_t n_left; /* bytes of the body still to come; the head first */
    int is_in_body;
};

struct load {
    const char *host;
    char **path;
    size_t n_paths;
    double *took_ms; /* [n] */
    size_t n, cap, n_failed;
};

static void die(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void ask(const struct load *load, struct client *c)
{
    char text[2048];
    int n = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n",
                     load->path[c->path++ % load->n_paths], load->host);

    c->asked_ns = clock_ns();
    c->n_head = 0;
    c->is_in_body = 0;
    if (send(c->fd, text, (size_t)n, MSG_NOSIGNAL) != n)
        die("cannot send");
}

static void keep(struct load *load, const struct client *c)
{
    if (load->n == load->cap) {
        load->cap = load->cap ? 2 * load->cap : 65536;
        load->took_ms = realloc(load->took_ms, load->cap * sizeof *load->took_ms);
    }
    load->took_ms[load->n++] = 1e-6 * (double)(clock_ns() - c->asked_ns);
}

/* Finds the end of the headers and the length of the body. */
static void read_head(struct load *load, struct client *c)
{
    char *end, *length;
    size_t n_body;

    c->head[c->n_head] = '\0';
    end = strstr(c->head, "\r\n\r\n");
    if (end == NULL)
        return;
    if (strncmp(c->head, "HTTP/1.1 200", 12) != 0)
        load->n_failed++;
    length = strcasestr(c->head, "content-length:");
    n_body = c->n_head - (size_t)(end + 4 - c->head);
    c->n_left = (length ? strtoul(length + 15, NULL, 10) : 0) - n_body;
    c->is_in_body = 1;
}

static void receive(struct load *load, struct client *c)
{
    static char sink[1 << 18];
    char *to = c->is_in_body ? sink : c->head + c->n_head;
    size_t room = c->is_in_body ? sizeof sink : MAX_HEAD - 1 - c->n_head;
    ssize_t n = recv(c->fd, to, room, 0);

    if (n <= 0)
        die("the server closed a connection");
    if (c->is_in_body) {
        c->n_left -= (size_t)n;
    } else {
        c->n_head += (size_t)n;
        read_head(load, c);
    }
    if (c->is_in_body && c->n_left == 0) {
        keep(load, c);
        ask(load, c);
    }
}

static int by_time(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

static void run(struct load *load, int epoll, double seconds)
{
    uint64_t end = clock_ns() + (uint64_t)(1e9 * seconds);
    struct epoll_event event[256];

    while (clock_ns() < end) {
        int n = epoll_wait(epoll, event, 256, 100);

        for (int i = 0; i < n; i++)
            receive(load, event[i].data.ptr);
    }
}

int main(int argc, char **argv)
{
    struct load load = {.host = "127.0.0.1"};
    struct sockaddr_in address = {.sin_family = AF_INET};
    size_t n_clients;
    struct client *client;
    int epoll = epoll_create1(0);

    if (argc < 6) {
        fprintf(stderr, "usage: load HOST PORT CLIENTS SECONDS PATH...\n");
        return 2;
    }
    inet_pton(AF_INET, argv[1], &address.sin_addr);
    address.sin_port = htons((uint16_t)strtoul(argv[2], NULL, 10));
    n_clients = strtoul(argv[3], NULL, 10);
    load.path = argv + 5;
    load.n_paths = (size_t)argc - 5;
    client = calloc(n_clients, sizeof *client);
    for (size_t i = 0; i < n_clients; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &client[i]};

        client[i].fd = socket(AF_INET, SOCK_STREAM, 0);
        client[i].path = i;
        if (connect(client[i].fd, (struct sockaddr *)&address, sizeof address) != 0)
            die("cannot connect");
        epoll_ctl(epoll, EPOLL_CTL_ADD, client[i].fd, &event);
        ask(&load, &client[i]);
    }
    run(&load, epoll, strtod(argv[4], NULL));
    if (load.n == 0)
        die("no answer at all");
    qsort(load.took_ms, load.n, sizeof *load.took_ms, by_time);
    printf("requests_per_s=%.0f median_ms=%.2f p99_ms=%.2f longest_ms=%.2f failed=%zu\n",
           (double)load.n / strtod(argv[4], NULL), load.took_ms[load.n / 2],
           load.took_ms[load.n * 99 / 100], load.took_ms[load.n - 1], load.n_failed);
    free(load.took_ms);
    free(client);
    return load.n_failed > 0;
}
