/*
 * A URL names the host as others call it where a server listens at all addresses; what stands
 * in brackets is of IPv6.
 */
#include "cmd/url_print.h"

#include "base/err.h"
#include "cmd/print.h"
#include "cmd/settings.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_at_all_addresses(const struct access *access)
{
    return strcmp(access->address, "0.0.0.0") == 0 || strcmp(access->address, "::") == 0;
}

/*
 * Of a server that listens at this port, with its token.
 *   path  "" or "metrics"
 * Returns url.
 */
static char *url_of(const struct access *access, uint16_t port, const char *path,
                    char url[URL_SIZE])
{
    const char *host = is_at_all_addresses(access) ? access->hostname : access->address;
    bool is_v6 = strchr(host, ':') != NULL;

    snprintf(url, URL_SIZE, "http://%s%s%s:%u/%s%s%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "",
             port, path, *access->token ? "?token=" : "", access->token);
    return url;
}

/* Its other end is where the server listens, as its machine calls that. */
char *url_print_tunnel(const struct access *access, uint16_t port, char command[URL_SIZE])
{
    const char *host = is_at_all_addresses(access) ? "localhost" : access->address;
    bool is_v6 = strchr(host, ':') != NULL;

    snprintf(command, URL_SIZE, "ssh -N -L %u:%s%s%s:%u %s", port, is_v6 ? "[" : "", host,
             is_v6 ? "]" : "", port, access->hostname);
    return command;
}

void url_print(const struct site *site, bool has_tunnel, bool is_json)
{
    char url[URL_SIZE], tunnel[URL_SIZE];

    url_of(site_access(site), site_port(site), "", url);
    url_print_tunnel(site_access(site), site_port(site), tunnel);
    if (is_json)
        print_json(json_pack("{s:o, s:o}", "url", json_text(url), "tunnel",
                             has_tunnel ? json_text(tunnel) : json_null()),
                   false);
    else
        print(has_tunnel ? "%s\n%s\n" : "%s\n", url, tunnel);
    fflush(stdout);
}

/* ------------------------------------------------------------------ the server of --metrics */

#define ADDRESS_SIZE 64

static bool is_address(const char *address)
{
    struct in6_addr any;

    return inet_pton(AF_INET, address, &any) == 1 || inet_pton(AF_INET6, address, &any) == 1;
}

static bool take_port(const char *text, uint16_t *port)
{
    size_t n = strspn(text, "0123456789");
    unsigned long number = strtoul(text, NULL, 10);

    *port = (uint16_t)number;
    return n > 0 && n < 10 && text[n] == '\0' && number <= UINT16_MAX;
}

/* "9123", "0.0.0.0:9123", "[::1]:9123" */
static bool split(const char *option, char address[ADDRESS_SIZE], uint16_t *port)
{
    const char *colon = strrchr(option, ':');
    size_t n = colon ? (size_t)(colon - option) : 0;

    strcpy(address, "127.0.0.1");
    if (colon == NULL)
        return take_port(option, port);
    if (n > 2 && *option == '[' && option[n - 1] == ']') {
        option++;
        n -= 2;
    } else if (memchr(option, ':', n)) {
        return false; /* which colon is the port's? */
    }
    if (n >= ADDRESS_SIZE)
        return false;
    memcpy(address, option, n);
    address[n] = '\0';
    return is_address(address) && take_port(colon + 1, port);
}

int metrics_option_open(struct metrics_server **server, const char *option,
                        struct metrics_server_opts opts)
{
    char address[ADDRESS_SIZE];

    *server = NULL;
    if (option == NULL)
        return 0;
    if (!split(option, address, &opts.port))
        return err_set(ERR_USAGE,
                       "--metrics takes PORT, ADDRESS:PORT or [ADDRESS]:PORT with a numeric "
                       "address, not '%s'",
                       option);
    opts.address = address;
    opts.job.version = SNAG_VERSION;
    opts.job.id = tags_job();
    return metrics_server_open(server, &opts);
}

char *metrics_option_url(const struct metrics_server *server, char url[URL_SIZE])
{
    return server ? url_of(metrics_server_access(server), metrics_server_port(server),
                           "metrics", url)
                  : NULL;
}
