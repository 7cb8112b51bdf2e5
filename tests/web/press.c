/*
 * press PORT WHAT N [PATH] -- N clients that take what they can from a server on 127.0.0.1 and
 * give nothing for it; and one in between that asks properly and must be answered.
 *
 *   heads    a byte of a head now and then, and again when they are closed, until each was
 *            closed once
 *   bodies   the same of a body
 *   held     bodies of labels, 8 MiB each but for the last byte
 *   braces   bodies of labels of 7.7 MiB: {},{},{},...; who is told to come later comes again
 *   unread   answers to PATH, each with another address, that nobody reads
 *   streams  event streams that nobody reads
 *   all      some of each, held until standard input ends
 *
 * Prints how many were answered by which status. Exit status 1 when a proper request was not.
 */
#include "base/progress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CLIENTS 4096
#define LARGE (8u << 20)
#define BRACES (7885u << 10) /* 16 more than a multiple of 3 */
#define PATIENCE_S 60
#define DRIP_MS 100

#define POST                                                                                   \
    "POST /api/v1/fois/1/labels HTTP/1.1\r\nHost: 127.0.0.1\r\n"                               \
    "Content-Type: application/json\r\n"

struct client {
    int fd;
    const char *data; /* [n] what it sends, if anything is left of it */
    size_t n, n_sent;
    char head[256]; /* the beginning of it */
    size_t n_head;
    char answer[2048]; /* [n_answer] of what came back */
    size_t n_answer;
    bool was_closed; /* once at least */
};

static unsigned port;
static struct client client[MAX_CLIENTS];
static char *zeros, *braces;

static void die(const char *what)
{
    fprintf(stderr, "press: %s: %s\n", what, strerror(errno));
    exit(2);
}

static int connect_to(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        die("cannot connect");
    return fd;
}

static int status_of(const char *answer)
{
    int status = 0;

    return sscanf(answer, "HTTP/1.1 %d ", &status) == 1 ? status : 0;
}

/* The status of a proper request on a connection of its own; 0 for none. */
static int ask(const char *request)
{
    char answer[4096] = "";
    int fd = connect_to();
    ssize_t n = send(fd, request, strlen(request), MSG_NOSIGNAL);

    if (n > 0)
        n = recv(fd, answer, sizeof answer - 1, 0);
    close(fd);
    return n > 0 ? status_of(answer) : 0;
}

/* Page, label and stream are there for whoever asks for them. */
static int check_service(void)
{
    static const char *const requests[] = {
        "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        "GET /api/v1/run HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        POST "Connection: close\r\nContent-Length: 13\r\n\r\n{\"labels\":[]}"};
    int n_failed = 0;

    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        int status = ask(requests[i]);

        if (status != 200)
            printf("a proper request was answered by %d: %.40s\n", status, requests[i]);
        n_failed += status != 200;
    }
    return n_failed;
}

/* ---------------------------------------------------------------------------- the clients */

static void begin(struct client *c, const char *head, const char *data, size_t n)
{
    c->fd = connect_to();
    c->n_head = (size_t)snprintf(c->head, sizeof c->head, "%s", head);
    c->data = data;
    c->n = n;
    c->n_sent = c->n_answer = 0;
    c->answer[0] = '\0';
    if (send(c->fd, c->head, c->n_head, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        c->data = NULL;
}

/* Returns false when the server has closed. */
static bool receive(struct client *c)
{
    char sink[4096];
    ssize_t n = recv(c->fd, sink, sizeof sink, MSG_DONTWAIT);

    if (n > 0 && c->n_answer + (size_t)n < sizeof c->answer) {
        memcpy(c->answer + c->n_answer, sink, (size_t)n);
        c->n_answer += (size_t)n;
        c->answer[c->n_answer] = '\0';
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

static void send_more(struct client *c)
{
    ssize_t n = c->n_sent < c->n ? send(c->fd, c->data + c->n_sent, c->n - c->n_sent,
                                        MSG_NOSIGNAL | MSG_DONTWAIT)
                                 : 0;

    if (n > 0)
        c->n_sent += (size_t)n;
    else if (n < 0 && errno != EAGAIN)
        c->n_sent = c->n;
}

/*
 * All clients send what they have and receive, until nothing has moved for a second, or all
 * were closed.
 */
static void let_them(unsigned n)
{
    uint64_t moved_ns = clock_ns();

    while (clock_ns() - moved_ns < 1000000000u) {
        bool is_any = false;

        for (unsigned i = 0; i < n; i++) {
            struct client *c = &client[i];
            size_t n_before = c->n_sent + c->n_answer;

            if (c->fd < 0)
                continue;
            is_any = true;
            send_more(c);
            if (!receive(c)) {
                close(c->fd);
                c->fd = -1;
            }
            if (c->fd < 0 || c->n_sent + c->n_answer > n_before)
                moved_ns = clock_ns();
        }
        if (!is_any)
            return;
        poll(NULL, 0, 1);
    }
}

/*
 * Who was told to come later, or let go of without an answer, comes again, until each was told that its body
 * is none, or for PATIENCE_S none was. Bodies that others held until now take their room for a while.
 */
static void come_again(unsigned n, const char *head, const char *data, size_t bytes)
{
    uint64_t answered_ns = clock_ns();
    unsigned n_left = n;

    while (n_left > 0 && clock_ns() - answered_ns < PATIENCE_S * 1000000000ull) {
        bool is_any_again = false;

        n_left = 0;
        for (unsigned i = 0; i < n; i++) {
            struct client *c = &client[i];
            bool is_open;

            if (status_of(c->answer) / 100 == 4)
                continue;
            n_left++;
            send_more(c);
            is_open = receive(c);
            if (status_of(c->answer) / 100 == 4) {
                answered_ns = clock_ns();
            } else if (!is_open || status_of(c->answer) != 0) {
                close(c->fd);
                begin(c, head, data, bytes);
                is_any_again = true;
            }
        }
        poll(NULL, 0, is_any_again ? DRIP_MS : 1);
    }
}

static void print_statuses(unsigned n)
{
    unsigned count[6] = {0}, n_later = 0;

    for (unsigned i = 0; i < n; i++) {
        count[client[i].n_answer ? status_of(client[i].answer) / 100 % 6 : 0]++;
        n_later += strstr(client[i].answer, "Retry-After:") != NULL;
    }
    printf("none=%u 2xx=%u 4xx=%u 5xx=%u later=%u\n", count[0], count[2], count[4], count[5],
           n_later);
}

static void close_all(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (client[i].fd >= 0)
            close(client[i].fd);
}

/* -------------------------------------------------------------------------- what they do */

/* Asks properly, again and again, beside all else, until it is ended; or once in vain. */
static pid_t start_asking(void)
{
    pid_t child = fork();

    while (child == 0) {
        if (check_service() > 0) {
            fflush(stdout);
            _exit(1);
        }
        poll(NULL, 0, 5 * DRIP_MS);
    }
    return child;
}

static int stop_asking(pid_t child)
{
    int status;

    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    return WIFEXITED(status);
}

/* Who was closed comes again. Returns how many it is the first time for. */
static unsigned drip_once(const char *head, unsigned n)
{
    unsigned n_closed = 0;

    for (unsigned i = 0; i < n; i++) {
        if (receive(&client[i]) && send(client[i].fd, "x", 1, MSG_NOSIGNAL) == 1)
            continue;
        n_closed += !client[i].was_closed;
        client[i].was_closed = true;
        close(client[i].fd);
        begin(&client[i], head, NULL, 0);
    }
    return n_closed;
}

static int drip(const char *head, unsigned n)
{
    unsigned n_closed = 0;
    uint64_t began_ns = clock_ns();
    pid_t asking;
    int n_failed;

    for (unsigned i = 0; i < n; i++)
        begin(&client[i], head, NULL, 0);
    asking = start_asking();
    while (n_closed < n && clock_ns() - began_ns < PATIENCE_S * 1000000000ull) {
        poll(NULL, 0, DRIP_MS);
        n_closed += drip_once(head, n);
    }
    n_failed = stop_asking(asking);
    if (n_closed < n)
        printf("after %d s, %u of %u clients were never closed\n", PATIENCE_S, n - n_closed, n);
    close_all(n);
    return n_failed + (n_closed < n);
}

/* Until the server has tried: an answer has begun, or its client was let go of. */
static void await_first_bytes(unsigned n)
{
    uint64_t began_ns = clock_ns();

    for (unsigned i = 0; i < n; i++) {
        struct pollfd here = {.fd = client[i].fd, .events = POLLIN};

        while (poll(&here, 1, DRIP_MS) == 0 &&
               clock_ns() - began_ns < PATIENCE_S * 1000000000ull)
            ;
    }
}

static int hold(const char *what, const char *path, unsigned n)
{
    static const char labels[] = POST "Content-Length: %u\r\n\r\n%s";
    char head[512];
    int n_failed;

    for (unsigned i = 0; i < n; i++) {
        unsigned kind = strcmp(what, "all") == 0 ? i % 6 : 99;

        if (strcmp(what, "held") == 0 || kind == 0) {
            snprintf(head, sizeof head, labels, LARGE, "");
            begin(&client[i], head, zeros, LARGE - 1);
        } else if (strcmp(what, "braces") == 0) {
            snprintf(head, sizeof head, labels, BRACES, "");
            begin(&client[i], head, braces, BRACES);
        } else if (strcmp(what, "streams") == 0 || kind == 1) {
            begin(&client[i], "GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "", 0);
        } else if (strcmp(what, "unread") == 0 || kind == 2) {
            snprintf(head, sizeof head, "GET %s%c%u HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path,
                     strchr(path, '?') ? '&' : '?', i);
            begin(&client[i], head, "", 0);
        } else {
            begin(&client[i],
                  kind == 3   ? "GET /api/v1/run HT"
                  : kind == 4 ? ""
                              : "GET /api/v1/fois/1/executions/3/subtrees HTTP/1.1\r\n"
                                "Host: 127.0.0.1\r\n\r\n",
                  "", 0);
        }
    }
    if (strcmp(what, "braces") == 0)
        come_again(n, head, braces, BRACES);
    else if (strcmp(what, "unread") != 0)
        let_them(n);
    else
        await_first_bytes(n);
    n_failed = check_service();
    print_statuses(n);
    fflush(stdout);
    if (strcmp(what, "all") == 0)
        while (getchar() != EOF)
            ;
    close_all(n);
    return n_failed;
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    unsigned n;
    int n_failed;

    if (argc < 4) {
        fprintf(stderr, "usage: press PORT WHAT N [PATH]\n");
        return 2;
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    port = (unsigned)strtoul(argv[1], NULL, 10);
    n = (unsigned)strtoul(argv[3], NULL, 10);
    n = n > MAX_CLIENTS ? MAX_CLIENTS : n;
    zeros = calloc(LARGE, 1);
    braces = malloc(BRACES);
    for (size_t i = 0; i < BRACES; i++)
        braces[i] = "{},"[i % 3];
    memcpy(braces, "{\"labels\":  [", 12);
    memcpy(braces + BRACES - 4, "{}]}", 4);
    if (strcmp(argv[2], "heads") == 0)
        n_failed = drip("GET /api/v1/run HTTP/1.1\r\nX: ", n);
    else if (strcmp(argv[2], "bodies") == 0)
        n_failed = drip(POST "Content-Length: 100000\r\n\r\n", n);
    else
        n_failed = hold(argv[2], argc > 4 ? argv[4] : "/api/v1/run", n);
    free(zeros);
    free(braces);
    return n_failed > 0;
}
