#include "http/server.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/progress.h"
#include "http/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#define SECOND_NS 1000000000ull
#define BACKLOG 1024
#define LAST_NS SECOND_NS /* to send what is left at the end */
#define MAX_CONNECTIONS 20000u
#define MIN_CONNECTIONS 64u
#define OTHER_FILES 192u /* at least: the run, its database, connections about to be closed */

/* As many as files may be open, but for an eighth that is for what else is open. */
static unsigned most_connections(void)
{
    struct rlimit limit;
    rlim_t others;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return MIN_CONNECTIONS;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    others = limit.rlim_cur / 8 > OTHER_FILES ? limit.rlim_cur / 8 : OTHER_FILES;
    if (limit.rlim_cur < MIN_CONNECTIONS + others)
        return MIN_CONNECTIONS;
    return limit.rlim_cur - others > MAX_CONNECTIONS ? MAX_CONNECTIONS
                                                     : (unsigned)(limit.rlim_cur - others);
}

struct server_limits server_limits_usual(void)
{
    unsigned connections = most_connections();

    return (struct server_limits){.connections = connections,
                                  .address_connections = connections / 4 * 3,
                                  .streams = connections / 2,
                                  .idle_ns = 30 * SECOND_NS,
                                  .head_ns = 10 * SECOND_NS,
                                  .grace_ns = 20 * SECOND_NS,
                                  .least_bytes_per_s = 16384,
                                  .linger_ns = 2 * SECOND_NS,
                                  .unfinished_bytes = 32u << 20,
                                  .unsent_bytes = 128u << 20};
}

/* Returns -1 with errno when it cannot listen there. */
static int open_socket(const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* all connections inherit it */
    if (bind(fd, address, size) != 0 || listen(fd, BACKLOG) != 0) {
        int failed = errno;

        close(fd);
        errno = failed;
        return -1;
    }
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in6 at = {.sin6_port = 0}; /* the port of IPv4 is in the same place */
    socklen_t size = sizeof at;

    getsockname(fd, (struct sockaddr *)&at, &size);
    return ntohs(at.sin6_port);
}

static int listen_at(struct server *server, const char *address, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    bool is_v6 = inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;

    if (!is_v6)
        inet_pton(AF_INET, address, &v4.sin_addr);
    server->fd = is_v6 ? open_socket((struct sockaddr *)&v6, sizeof v6)
                       : open_socket((struct sockaddr *)&v4, sizeof v4);
    if (server->fd < 0)
        return err_set(ERR_IO, "cannot listen on %s, port %u: %s", address, port,
                       strerror(errno));
    server->port = port_of(server->fd);
    return 0;
}

int server_open(struct server **out, const struct server_opts *opts)
{
    struct server *server = *out = mem_alloc(1, sizeof *server);
    int rc;

    server->handler = opts->handler;
    server->limits = opts->limits;
    if (getrandom(&server->seed, sizeof server->seed, 0) != (ssize_t)sizeof server->seed)
        server->seed = clock_ns();
    rc = listen_at(server, opts->address, opts->port);
    server->loop = mem_alloc(opts->n_threads, sizeof *server->loop);
    while (rc == 0 && server->n_loops < opts->n_threads)
        rc = loop_new(&server->loop[server->n_loops++], server, opts->n_threads);
    for (unsigned i = 0; rc == 0 && i < server->n_loops; i++)
        rc = loop_start(server->loop[i]);
    return rc;
}

static void poke_all(struct server *server)
{
    for (unsigned i = 0; i < server->n_loops; i++)
        loop_poke(server->loop[i]);
}

void server_quiesce(struct server *server)
{
    if (server == NULL)
        return;
    atomic_store(&server->is_quiet, true);
    poke_all(server);
}

void server_close(struct server *server)
{
    if (server == NULL)
        return;
    server_quiesce(server);
    atomic_store(&server->last_ns, clock_ns() + LAST_NS);
    atomic_store(&server->is_closing, true);
    poke_all(server);
    for (unsigned i = 0; i < server->n_loops; i++)
        loop_join(server->loop[i]);
    for (unsigned i = 0; i < server->n_loops; i++)
        loop_free(server->loop[i]);
    if (server->fd >= 0)
        close(server->fd);
    free(server->loop);
    free(server);
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

unsigned server_connections(const struct server *server)
{
    unsigned n = 0;

    for (unsigned i = 0; i < server->n_loops; i++)
        n += atomic_load(&server->loop[i]->n);
    return n;
}
