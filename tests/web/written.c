/*
 * written PORT -- requests as bytes, to a server on 127.0.0.1 that serves a run with the
 * function of interest 1; each must be answered as the table says, sent at once and byte by
 * byte, and with the connection closed where nobody can say any more where the next request
 * begins.
 *
 * "!" stands for the field Host, "#" for the bytes of a request that would be answered by 200
 * if it were taken for one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_BYTES (1 << 20)
#define PATIENCE_S 30 /* until an answer must be there */

#define GET "GET /api/v1/run HTTP/1.1\r\n"
#define POST "POST /api/v1/fois/1/labels HTTP/1.1\r\n!Content-Type: application/json\r\n"
#define LAST "Connection: close\r\n"
#define NONE "{\"labels\":[]}" /* 13 bytes */
#define BYTES(text) text, sizeof(text) - 1

/* What is sent, and the statuses that come back, one after another, then the end. */
static const struct row {
    const char *what, *bytes;
    size_t n;
    const char *statuses;
} rows[] = {
    /* what is right */
    {"a request", BYTES(GET "!" LAST "\r\n"), "200"},
    {"two in a row", BYTES(GET "!\r\n" GET "!" LAST "\r\n"), "200 200"},
    {"an empty line before", BYTES("\r\n" GET "!" LAST "\r\n"), "200"},
    {"HTTP/1.0", BYTES("GET /api/v1/run HTTP/1.0\r\n!\r\n"), "200"},
    {"HTTP/1.2 is read as 1.1", BYTES("GET /api/v1/run HTTP/1.2\r\n!" LAST "\r\n"), "200"},
    {"tabs and spaces around a value", BYTES(GET "!X:\t a b \t\r\nY:\r\n" LAST "\r\n"), "200"},
    {"Connection among others", BYTES(GET "!Connection: x, Close ,y\r\n\r\n#"), "200"},
    {"the whole address", BYTES("GET http://127.0.0.1/api/v1/run HTTP/1.1\r\n!" LAST "\r\n"),
     "200"},
    {"escapes in a path", BYTES("GET /api/v1/r%75n HTTP/1.1\r\n!" LAST "\r\n"), "200"},
    {"a body of known length", BYTES(POST LAST "Content-Length: 13\r\n\r\n" NONE), "200"},
    {"a body in chunks",
     BYTES(POST LAST "Transfer-Encoding: chunked\r\n\r\n5;a=\"b\"\r\n{\"lab\r\n"
                     "008\r\nels\":[]}\r\n0\r\nX: y\r\n\r\n"),
     "200"},
    {"a body, then a request",
     BYTES(POST "Content-Length: 13\r\n\r\n" NONE GET "!" LAST "\r\n"), "200 200"},
    {"HEAD", BYTES("HEAD /api/v1/run HTTP/1.1\r\n!" LAST "\r\n"), "200"},
    {"a part is not promised", BYTES(GET "!Range: bytes=0-1\r\n" LAST "\r\n"), "200"},
    {"many cookies", BYTES(GET "!Cookie: a=b;;=;c; d=\"e\"; =f\r\n" LAST "\r\n"), "200"},
    /* framing that two readers may understand differently */
    {"two lengths that differ",
     BYTES(POST "Content-Length: 13\r\nContent-Length: 0\r\n\r\n" NONE "#"), "400"},
    {"two lengths that agree",
     BYTES(POST "Content-Length: 13\r\nContent-Length: 13\r\n\r\n" NONE "#"), "400"},
    {"a list of lengths", BYTES(POST "Content-Length: 13, 13\r\n\r\n" NONE "#"), "400"},
    {"a length and chunks",
     BYTES(POST "Content-Length: 13\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n#"), "400"},
    {"chunks and a length",
     BYTES(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n#"), "400"},
    {"a length with a sign", BYTES(POST "Content-Length: +13\r\n\r\n" NONE "#"), "400"},
    {"a negative length", BYTES(POST "Content-Length: -1\r\n\r\n" NONE "#"), "400"},
    {"a length in hexadecimal", BYTES(POST "Content-Length: 0xd\r\n\r\n" NONE "#"), "400"},
    {"an empty length", BYTES(POST "Content-Length:\r\n\r\n" NONE "#"), "400"},
    {"a length beyond 64 bits",
     BYTES(POST "Content-Length: 18446744073709551629\r\n\r\n" NONE "#"), "413"},
    {"a length beyond what is taken", BYTES(POST "Content-Length: 99999999999\r\n\r\n#"),
     "413"},
    {"space before a colon", BYTES(POST "Content-Length : 13\r\n\r\n" NONE "#"), "400"},
    {"space before a field", BYTES(GET " !\r\n#"), "400"},
    {"a folded field", BYTES(GET "!X: a\r\n b\r\n\r\n#"), "400"},
    {"a folded length", BYTES(POST "Content-Length:\r\n 13\r\n\r\n" NONE "#"), "400"},
    {"a folded coding", BYTES(POST "Transfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n#"), "400"},
    {"a line without a colon", BYTES(GET "!Content-Length\r\n\r\n#"), "400"},
    {"a field without a name", BYTES(GET "!: x\r\n\r\n#"), "400"},
    {"a name that is none", BYTES(GET "!X(y): z\r\n\r\n#"), "400"},
    {"another coding", BYTES(POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n#"), "501"},
    {"a coding nobody knows", BYTES(POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n#"),
     "501"},
    {"a coding by another end", BYTES(POST "Transfer-Encoding: chunked\x0b\r\n\r\n0\r\n\r\n#"),
     "400"},
    {"two codings",
     BYTES(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n#"),
     "400"},
    {"chunks in HTTP/1.0",
     BYTES("POST /api/v1/fois/1/labels HTTP/1.0\r\n!Content-Type: application/json\r\n"
           "Transfer-Encoding: chunked\r\n\r\nd\r\n" NONE "\r\n0\r\n\r\n#"),
     "400"},
    {"a body nobody wants", BYTES(GET "!Content-Length: 13\r\n\r\n" NONE "#"), "400"},
    {"bare line feeds",
     BYTES("GET /api/v1/run HTTP/1.1\nHost: 127.0.0.1\nConnection: close\n\n"), "400"},
    {"one bare line feed", BYTES(GET "!X: y\nZ: w\r\n\r\n#"), "400"},
    {"a bare carriage return", BYTES(GET "!X: y\rZ: w\r\n\r\n#"), "400"},
    {"a line feed to end the head", BYTES(GET "!X: y\r\n\n#"), "400"},
    /* chunks */
    {"a chunk ended by a line feed",
     BYTES(POST "Transfer-Encoding: chunked\r\n\r\nd\n" NONE "\r\n0\r\n\r\n#"), "400"},
    {"a chunk followed by a line feed",
     BYTES(POST "Transfer-Encoding: chunked\r\n\r\nd\r\n" NONE "\n0\r\n\r\n#"), "400"},
    {"a chunk with more than it says",
     BYTES(POST "Transfer-Encoding: chunked\r\n\r\n3\r\n" NONE "\r\n0\r\n\r\n#"), "400"},
    {"a chunk without a length",
     BYTES(POST "Transfer-Encoding: chunked\r\n\r\n;\r\n" NONE "\r\n0\r\n\r\n#"), "400"},
    {"a chunk of 0x3", BYTES(POST "Transfer-Encoding: chunked\r\n\r\n0xd\r\n" NONE "\r\n#"),
     "400"},
    {"a chunk of -1", BYTES(POST "Transfer-Encoding: chunked\r\n\r\n-1\r\n" NONE "\r\n#"),
     "400"},
    {"a chunk beyond 64 bits",
     BYTES(POST "Transfer-Encoding: chunked\r\n\r\n1000000000000000d\r\n" NONE "\r\n#"), "413"},
    {"a chunk beyond what is taken",
     BYTES(POST "Transfer-Encoding: chunked\r\n\r\nffffff0\r\n" NONE "#"), "413"},
    {"a trailer that is none",
     BYTES(POST "Transfer-Encoding: chunked\r\n\r\nd\r\n" NONE "\r\n0\r\nX\n\r\n#"), "400"},
    /* who is asked, and by whom */
    {"no Host", BYTES(GET "\r\n#"), "400"},
    {"two Hosts", BYTES(GET "!!\r\n#"), "400"},
    {"two Hosts, one of them foreign", BYTES(GET "!Host: evil.example\r\n\r\n#"), "400"},
    {"a foreign Host", BYTES(GET "Host: evil.example\r\n\r\n#"), "421 200"},
    {"an empty Host", BYTES(GET "Host:\r\n\r\n#"), "421 200"},
    {"a Host with a user", BYTES(GET "Host: me@127.0.0.1\r\n\r\n#"), "421 200"},
    {"a Host that goes on", BYTES(GET "Host: 127.0.0.1/x\r\n\r\n#"), "421 200"},
    {"NUL in Host", BYTES(GET "Host: 127.0.0.1\0.evil.example\r\n\r\n#"), "400"},
    {"a foreign address", BYTES("GET http://evil.example/ HTTP/1.1\r\n!\r\n#"), "421 200"},
    {"an address by another scheme", BYTES("GET ftp://127.0.0.1/ HTTP/1.1\r\n!\r\n#"), "400"},
    {"a foreign Origin", BYTES(GET "!Origin: http://evil.example\r\n\r\n#"), "403 200"},
    {"two Origins",
     BYTES(GET "!Origin: http://127.0.0.1\r\nOrigin: http://evil.example\r\n\r\n#"), "400"},
    {"NUL in Origin", BYTES(GET "!Origin: http://127.0.0.1\0.evil\r\n\r\n#"), "400"},
    {"two types",
     BYTES("POST /api/v1/fois/1/labels HTTP/1.1\r\n!Content-Type: text/plain\r\n"
           "Content-Type: application/json\r\nContent-Length: 13\r\n\r\n" NONE "#"),
     "400"},
    /* the first line */
    {"NUL in a path", BYTES("GET /api/v1/run\0 HTTP/1.1\r\n!\r\n#"), "400"},
    {"an escaped NUL in a path", BYTES("GET /api/v1/run%00 HTTP/1.1\r\n!\r\n#"), "400"},
    {"an escaped NUL in a parameter", BYTES("GET /api/v1/search?q=%00 HTTP/1.1\r\n!\r\n#"),
     "400"},
    {"bytes in a path that are no UTF-8", BYTES("GET /%F9%80%80%80 HTTP/1.1\r\n!\r\n#"),
     "404 200"},
    {"an escape that is none", BYTES("GET /api/v1/r%7zn HTTP/1.1\r\n!\r\n#"), "400"},
    {"an escape that is cut off", BYTES("GET /api/v1/run?a=%7 HTTP/1.1\r\n!\r\n#"), "400"},
    {"a path with a space", BYTES("GET /api/v1/run x HTTP/1.1\r\n!\r\n#"), "400"},
    {"two spaces", BYTES("GET  /api/v1/run HTTP/1.1\r\n!\r\n#"), "400"},
    {"a tab for a space", BYTES("GET\t/api/v1/run HTTP/1.1\r\n!\r\n#"), "400"},
    {"a space at the end", BYTES("GET /api/v1/run HTTP/1.1 \r\n!\r\n#"), "400"},
    {"a fragment", BYTES("GET /api/v1/run#x HTTP/1.1\r\n!\r\n"), "400"},
    {"a path without a slash", BYTES("GET api/v1/run HTTP/1.1\r\n!\r\n#"), "400"},
    {"no path", BYTES("GET HTTP/1.1\r\n!\r\n#"), "400"},
    {"no version", BYTES("GET /api/v1/run\r\n!\r\n#"), "400"},
    {"a control character for a method", BYTES("\x01 /api/v1/run HTTP/1.1\r\n!\r\n#"), "400"},
    {"a method with a bracket", BYTES("G(T /api/v1/run HTTP/1.1\r\n!\r\n#"), "400"},
    {"a method nobody knows", BYTES("FROB /api/v1/run HTTP/1.1\r\n!\r\n#"), "501"},
    {"a method in small letters", BYTES("get /api/v1/run HTTP/1.1\r\n!\r\n#"), "501"},
    {"OPTIONS of all", BYTES("OPTIONS * HTTP/1.1\r\n!\r\n#"), "405 200"},
    {"CONNECT", BYTES("CONNECT 127.0.0.1:22 HTTP/1.1\r\n!\r\n#"), "400"},
    {"HTTP/0.9", BYTES("GET /api/v1/run HTTP/0.9\r\n!\r\n#"), "505"},
    {"HTTP/2.0", BYTES("GET /api/v1/run HTTP/2.0\r\n!\r\n#"), "505"},
    {"the first bytes of HTTP/2", BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), "505"},
    {"HTTP/1.10", BYTES("GET /api/v1/run HTTP/1.10\r\n!\r\n#"), "400"},
    {"HTTP/11", BYTES("GET /api/v1/run HTTP/11\r\n!\r\n#"), "400"},
    {"http/1.1", BYTES("GET /api/v1/run http/1.1\r\n!\r\n#"), "400"},
    {"another protocol", BYTES("GET /api/v1/run RTSP/1.1\r\n!\r\n#"), "400"},
    {"bytes that are no HTTP", BYTES("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
     "400"},
    {"an expectation nobody can meet", BYTES(POST "Expect: tea\r\nContent-Length: 13\r\n\r\n#"),
     "417"},
};

struct text {
    char data[MAX_BYTES];
    size_t n;
};

static void put(struct text *t, const char *bytes, size_t n)
{
    if (t->n + n <= sizeof t->data) {
        memcpy(t->data + t->n, bytes, n);
        t->n += n;
    }
}

/* The row's bytes with what "!" and "#" stand for. */
static void fill(struct text *t, const char *bytes, size_t n)
{
    static const char host[] = "Host: 127.0.0.1\r\n",
                      next[] = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" LAST "\r\n";

    t->n = 0;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == '!')
            put(t, host, sizeof host - 1);
        else if (bytes[i] == '#' && i + 1 == n)
            put(t, next, sizeof next - 1);
        else
            put(t, &bytes[i], 1);
}

static int connect_to(unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        perror("written: cannot connect");
        exit(1);
    }
    return fd;
}

/* Sends n bytes, or as many as are taken. Reads until the server closes. */
static void exchange(unsigned port, const struct text *sent, bool is_by_byte,
                     struct text *answer)
{
    int fd = connect_to(port);
    ssize_t n = 0;

    for (size_t at = 0; at < sent->n && n >= 0; at += (size_t)n)
        n = send(fd, sent->data + at, is_by_byte ? 1 : sent->n - at, MSG_NOSIGNAL);
    answer->n = 0;
    while ((n = recv(fd, answer->data + answer->n, sizeof answer->data - 1 - answer->n, 0)) > 0)
        answer->n += (size_t)n;
    answer->data[answer->n] = '\0';
    if (n < 0 && answer->n == 0)
        perror("written: no answer");
    else if (n < 0 &&
             errno != ECONNRESET) /* that is closed, too: more was sent than was read */
        snprintf(answer->data, sizeof answer->data, "HTTP/1.1 599 the connection stays open");
    close(fd);
}

static const char *end_of(const struct text *t, const char *head)
{
    const char *end = strstr(head, "\r\n\r\n"),
               *length = strcasestr(head, "\r\ncontent-length:");

    if (end == NULL)
        return t->data + t->n;
    end += 4;
    if (length == NULL || length > end)
        return t->data + t->n;
    return end + strtoul(length + 17, NULL, 10);
}

/* "200 400" */
static void statuses_of(const struct text *t, bool is_head, char *out, size_t size)
{
    const char *at = t->data;
    size_t n = 0;

    *out = '\0';
    while (at < t->data + t->n && n < size) {
        int status = 0;

        if (sscanf(at, "HTTP/1.%*1d %3d ", &status) != 1)
            status = 598; /* not an answer */
        n += (size_t)snprintf(out + n, size - n, "%s%d", n ? " " : "", status);
        at = status == 598 || is_head ? t->data + t->n : end_of(t, at);
    }
}

static int try_bytes(unsigned port, const char *what, const struct text *sent, bool is_by_byte,
                     const char *wanted)
{
    static struct text answer;
    char statuses[256];

    exchange(port, sent, is_by_byte, &answer);
    statuses_of(&answer, strncmp(sent->data, "HEAD", 4) == 0, statuses, sizeof statuses);
    if (strcmp(statuses, wanted) == 0)
        return 0;
    printf("%s%s: answered '%s', but should be '%s'\n", what,
           is_by_byte ? ", byte by byte" : "", statuses, wanted);
    return 1;
}

/* head, then piece again and again, then tail. */
static int try_many(unsigned port, const char *what, const char *head, const char *piece,
                    unsigned n, const char *tail, const char *wanted)
{
    static struct text text, sent;

    text.n = 0;
    put(&text, head, strlen(head));
    for (unsigned i = 0; i < n; i++)
        put(&text, piece, strlen(piece));
    put(&text, tail, strlen(tail));
    fill(&sent, text.data, text.n);
    return try_bytes(port, what, &sent, false, wanted);
}

static int try_large(unsigned port)
{
    int n_wrong = 0;

    n_wrong += try_many(port, "as many parameters as a page has", "GET /api/v1/run?a=1", "&b=2",
                        15, " HTTP/1.1\r\n!" LAST "\r\n", "200");
    n_wrong += try_many(port, "250 parameters", "GET /api/v1/run?a=1", "&b=2", 250,
                        " HTTP/1.1\r\n!\r\n#", "400");
    n_wrong += try_many(port, "3000 parameters", "GET /api/v1/run?a", "&b", 3000,
                        " HTTP/1.1\r\n!\r\n#", "400");
    n_wrong += try_many(port, "a long address", "GET /api/v1/run?a=", "x", 7000,
                        " HTTP/1.1\r\n!" LAST "\r\n", "200");
    n_wrong += try_many(port, "an address too long", "GET /api/v1/run?a=", "x", 9000,
                        " HTTP/1.1\r\n!\r\n#", "414");
    n_wrong += try_many(port, "an address without end", "GET /", "x", 300000, "", "414");
    n_wrong += try_many(port, "90 fields", GET "!" LAST, "X: y\r\n", 90, "\r\n", "200");
    n_wrong += try_many(port, "200 fields", GET "!", "X: y\r\n", 200, "\r\n#", "431");
    n_wrong += try_many(port, "50,000 fields", GET "!", "X: y\r\n", 50000, "\r\n#", "431");
    n_wrong += try_many(port, "a large cookie", GET "!" LAST "Cookie: a=", "x", 7000,
                        "\r\n\r\n", "200");
    n_wrong += try_many(port, "a field without end", GET "!X: ", "y", 300000, "", "431");
    n_wrong += try_many(port, "a thousand cookies", GET "!" LAST "Cookie: a=b", "; c=d", 1000,
                        "\r\n\r\n", "200");
    n_wrong += try_many(port, "a method without end", "", "A", 300000, "", "414");
    n_wrong += try_many(port, "empty lines without end", "", "\r\n", 3000, GET "!\r\n#", "400");
    n_wrong += try_many(port, "a name of a chunk without end",
                        POST "Transfer-Encoding: chunked\r\n\r\n5;", "a", 300000, "", "400");
    n_wrong += try_many(port, "trailers without end",
                        POST "Transfer-Encoding: chunked\r\n\r\nd\r\n" NONE "\r\n0\r\n",
                        "X: y\r\n", 50000, "\r\n", "400");
    return n_wrong;
}

int main(int argc, char **argv)
{
    static struct text sent;
    unsigned port = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    int n_wrong = 0;

    if (port == 0) {
        fprintf(stderr, "usage: written PORT\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int is_by_byte = 0; is_by_byte < 2; is_by_byte++) {
            fill(&sent, rows[i].bytes, rows[i].n);
            n_wrong += try_bytes(port, rows[i].what, &sent, is_by_byte, rows[i].statuses);
        }
    n_wrong += try_large(port);
    printf("%d of %zu wrong\n", n_wrong, 2 * sizeof rows / sizeof *rows);
    return n_wrong > 0;
}
