/*
 * nonsense OPENAPI PORT N [SEED] -- sends N requests that nobody should send to a server on
 * 127.0.0.1 and checks that each is answered by a status below 500, or not at all.
 * nonsense OPENAPI PORT idle N -- holds N connections, some of them in the middle of a request,
 * and sees that the server has them all and answers a proper request. Says so when fewer files
 * may be open.
 *
 * Every path of the description is asked for, with numbers that are too large, no numbers at
 * all, parts of other paths, parameters of every kind, bodies that are nearly right, and raw
 * bytes.
 */
#include "base/rng.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#define OTHER_FILES 256 /* of the server: the run, its database, what it listens on */
#define MAX_SECONDS 8   /* after 10 an unfinished head is no longer waited for */
#define TIMEOUT_MS 200  /* for requests that are never complete */

static const char *const values[] = {"0",
                                     "1",
                                     "7",
                                     "723",
                                     "-1",
                                     "4294967295",
                                     "4294967296",
                                     "9007199254740991",
                                     "9223372036854775808",
                                     "1e308",
                                     "1e999",
                                     "nan",
                                     "0x10",
                                     "",
                                     "%00",
                                     "%ff%fe",
                                     "..%2f..%2fetc%2fpasswd",
                                     "../../run.db",
                                     "'%20OR%201=1--",
                                     "%F0%9F%8C%B2",
                                     "0,1",
                                     "0,0,0,0",
                                     "1,99999",
                                     "score",
                                     "tsne.x,score,label",
                                     "a.b.c.d,,,",
                                     "abnormal",
                                     "next",
                                     "true",
                                     "[]"};
static const char *const names[] = {
    "begin",      "end",     "width",    "depth",   "locations", "limit", "names",
    "order",      "offset",  "rank",     "label",   "verdict",   "n",     "q",
    "region",     "after",   "location", "foi",     "token",     "a[]",   "%00",
    "threshold",  "since",   "fois",     "ranks",   "from",      "to",    "most",
    "what",       "by",      "counter",  "program", "thread",    "enter", "least_ns",
    "collection", "function"};
static const char *const bodies[] = {
    "",
    "{",
    "null",
    "[]",
    "0",
    "\"\"",
    "{}",
    "{\"labels\":null}",
    "{\"labels\":{}}",
    "{\"labels\":[1,2]}",
    "{\"labels\":[{}]}",
    "{\"labels\":[{\"tree\":-1,\"label\":\"normal\"}]}",
    "{\"labels\":[{\"tree\":1e300,\"label\":\"normal\"}]}",
    "{\"labels\":[{\"tree\":9223372036854775807,\"label\":\"normal\"}]}",
    "{\"labels\":[{\"tree\":1,\"label\":\"maybe\"}]}",
    "{\"labels\":[{\"tree\":\"1\",\"label\":1}]}",
    "{\"labels\":[{\"tree\":0,\"label\":\"normal\"},{\"tree\":0,\"label\":\"abnormal\"}]}",
    "{\"labels\":[],\"author\":17}",
    "{\"learner\":\"reasons\\u0000\"}",
    "{\"learner\":\"no\"}",
    "{\"learner\":{}}",
    "{\"method\":\"pca\",\"iterations\":-5}",
    "{\"method\":[]}",
    "{\"method\":\"tsne\",\"perplexity\":1e30}",
    "{\"features\":\"none\"}",
    "{\"a\":1,\"a\":2}",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "\xff\xfe{}"};
static const char *const headers[] = {"Origin: http://evil.example\r\n",
                                      "Origin: null\r\n",
                                      "Content-Type: text/plain\r\n",
                                      "Content-Length: 99999999999\r\n",
                                      "Content-Length: -1\r\n",
                                      "Transfer-Encoding: chunked\r\n",
                                      "Expect: 100-continue\r\n",
                                      "If-None-Match: *\r\n",
                                      "If-None-Match: \"\"\r\n",
                                      "Range: bytes=0-1\r\n",
                                      "Cookie: a=b; ;;=;snag_token_0=\r\n",
                                      "Connection: close\r\n",
                                      "Host: evil.example\r\n",
                                      "X: \x01\x02\r\n",
                                      "Upgrade: websocket\r\n",
                                      "Authorization: Bearer\r\n"};

#define ANY(rng, array) array[rng_below(rng, sizeof(array) / sizeof *(array))]

struct text {
    char data[1 << 16];
    size_t n;
};

static void put(struct text *t, const char *text)
{
    size_t length = strlen(text);

    if (t->n + length < sizeof t->data) {
        memcpy(t->data + t->n, text, length);
        t->n += length;
    }
}

static int connect_to(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval timeout = {.tv_usec = TIMEOUT_MS * 1000};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Sends and reads a little. Returns the status, 0 for none, -1 when there is no server. */
static int exchange(unsigned port, const struct text *t)
{
    char answer[512] = "";
    int fd = connect_to(port), status = 0;
    ssize_t n;

    if (fd < 0)
        return -1;
    if (send(fd, t->data, t->n, MSG_NOSIGNAL) < 0)
        n = 0;
    shutdown(fd, SHUT_WR);
    n = recv(fd, answer, sizeof answer - 1, 0);
    if (n > 0 && sscanf(answer, "HTTP/1.%*d %d", &status) != 1)
        status = 599;
    close(fd);
    return status;
}

/* A path of the description with its numbers filled in, and now and then damaged. */
static void put_path(struct text *t, struct rng *rng, const char *pattern)
{
    put(t, "/api/v1");
    for (; *pattern; pattern++) {
        char one[2] = {*pattern, '\0'};

        if (*pattern == '{') {
            put(t, rng_below(rng, 2) ? "1" : ANY(rng, values));
            pattern += strcspn(pattern, "}");
        } else if (rng_below(rng, 200) == 0) {
            put(t, ANY(rng, values));
        } else {
            put(t, one);
        }
    }
    put(t, rng_below(rng, 2) ? "?" : "");
    for (uint64_t k = rng_below(rng, 4); k > 0; k--) {
        put(t, "&");
        put(t, ANY(rng, names));
        put(t, rng_below(rng, 9) ? "=" : "");
        put(t, ANY(rng, values));
    }
    if (rng_below(rng, 50) == 0)
        for (int i = 0; i < 3000; i++)
            put(t, "/aaaaaaaaa");
}

static void make(struct text *t, struct rng *rng, unsigned port, const json_t *paths)
{
    static const char *const methods[] = {"GET",     "GET",   "GET",     "POST",
                                          "POST",    "HEAD",  "PUT",     "DELETE",
                                          "OPTIONS", "TRACE", "CONNECT", "\x01"};
    uint64_t at = rng_below(rng, json_object_size(paths));
    const char *body = ANY(rng, bodies);
    void *path = json_object_iter((json_t *)(uintptr_t)paths);
    char line[128];

    while (at-- > 0)
        path = json_object_iter_next((json_t *)(uintptr_t)paths, path);
    t->n = 0;
    put(t, ANY(rng, methods));
    put(t, " ");
    put_path(t, rng, json_object_iter_key(path));
    snprintf(line, sizeof line, " HTTP/1.%llu\r\n", (unsigned long long)rng_below(rng, 2));
    put(t, line);
    snprintf(line, sizeof line, "Host: 127.0.0.1:%u\r\n", port);
    put(t, rng_below(rng, 20) ? line : "");
    if (rng_below(rng, 3))
        put(t, "Content-Type: application/json\r\n");
    for (uint64_t k = rng_below(rng, 3); k > 0 && rng_below(rng, 2); k--)
        put(t, ANY(rng, headers));
    snprintf(line, sizeof line, "Content-Length: %zu\r\n", strlen(body));
    put(t, rng_below(rng, 8) ? line : "");
    put(t, rng_below(rng, 30) ? "\r\n" : "");
    put(t, body);
    if (rng_below(rng, 20) == 0)
        for (uint64_t k = 1 + rng_below(rng, 9); k > 0 && t->n > 0; k--)
            t->data[rng_below(rng, t->n)] = (char)rng_next(rng);
}

/* Who asks properly in between is answered. */
static void make_good(struct text *t, unsigned port)
{
    char host[32];

    snprintf(host, sizeof host, "Host: 127.0.0.1:%u\r\n\r\n", port);
    t->n = 0;
    put(t, "GET /healthz HTTP/1.1\r\n");
    put(t, host);
}

static int send_nonsense(unsigned port, const json_t *paths, unsigned long n, uint64_t seed)
{
    static struct text text;
    struct rng rng = {seed};
    unsigned long count[6] = {0};

    for (unsigned long i = 0; i < n; i++) {
        int status;

        if (i % 50 == 0)
            make_good(&text, port);
        else
            make(&text, &rng, port, paths);
        if (strstr(text.data, "/events") && !memchr(text.data, '\x01', text.n))
            continue; /* would be listened to for ever */
        status = exchange(port, &text);
        count[status / 100 > 5 || status < 0 ? 5 : status / 100]++;
        if (status < 0 || (status >= 500 && status != 501 && status != 505)) {
            fprintf(stderr, "request %lu: status %d for\n%.*s\n", i, status, (int)text.n,
                    text.data);
            return 1;
        }
    }
    printf("no answer %lu, 2xx %lu, 3xx %lu, 4xx %lu, 501 and 505 %lu\n", count[0], count[2],
           count[3], count[4], count[5]);
    return count[2] == 0 || count[4] == 0;
}

/* As many connections as can be held of those wanted: both ends need a file each. */
static unsigned long raise_limit(unsigned long wanted)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max >= wanted + OTHER_FILES)
        return wanted;
    printf("no more than %lu files may be open here: not %lu connections\n",
           (unsigned long)limit.rlim_max, wanted);
    return limit.rlim_max > 2 * OTHER_FILES ? limit.rlim_max - OTHER_FILES : OTHER_FILES / 4;
}

/* How many connections the server says it has; -1 when it says nothing. */
static long count_connections(unsigned port)
{
    static char answer[8192];
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: "
                                  "close\r\n\r\n",
                      name[] = "\nsnag_connections ";
    struct timeval timeout = {.tv_sec = 20};
    int fd = connect_to(port);
    size_t n = 0;
    ssize_t got = 1;
    char *at;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0)
        got = 0;
    for (; got > 0 && n + 1 < sizeof answer; n += got > 0 ? (size_t)got : 0)
        got = recv(fd, answer + n, sizeof answer - 1 - n, 0);
    answer[n] = '\0';
    close(fd);
    at = strstr(answer, name);
    return at ? strtol(at + sizeof name - 1, NULL, 10) : -1;
}

/* Connections that say nothing, half a line, or half a body; then a proper request. */
static int hold_idle(unsigned port, unsigned long n)
{
    static const char *const begun[] = {"", "GET /api/v1/run HT", "GET / HTTP/1.1\r\nHost: 127",
                                        "POST /api/v1/fois/1/labels HTTP/1.1\r\nHost: "
                                        "127.0.0.1\r\nContent-Type: application/json\r\n"
                                        "Content-Length: 100\r\n\r\n{\"lab"};
    time_t began = time(NULL);
    unsigned long n_open = 0;
    long n_held;

    n = raise_limit(n);
    for (unsigned long i = 0; i < n; i++) {
        const char *text = begun[i % 4];
        int fd = connect_to(port);

        if (fd < 0)
            break;
        n_open++;
        if (*text && send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
            close(fd);
    }
    n_held = count_connections(port);
    printf("%lu connections opened, then the server says it has %ld\n", n_open, n_held);
    if (n_held >= 0 && time(NULL) - began > MAX_SECONDS)
        return n_open < n; /* on so slow a machine the first ones are closed by now */
    return n_open < n || n_held < (long)n;
}

int main(int argc, char **argv)
{
    json_t *openapi = argc > 1 ? json_load_file(argv[1], 0, NULL) : NULL;
    const json_t *paths = json_object_get(openapi, "paths");
    unsigned port;
    int rc;

    if (argc < 4 || json_object_size(paths) == 0) {
        fprintf(stderr,
                "usage: nonsense OPENAPI PORT N [SEED] | nonsense OPENAPI PORT idle N\n");
        return 2;
    }
    port = (unsigned)strtoul(argv[2], NULL, 10);
    if (strcmp(argv[3], "idle") == 0)
        rc = hold_idle(port, argc > 4 ? strtoul(argv[4], NULL, 10) : 1000);
    else
        rc = send_nonsense(port, paths, strtoul(argv[3], NULL, 10),
                           argc > 4 ? strtoull(argv[4], NULL, 10) : 1);
    json_decref(openapi);
    return rc;
}
