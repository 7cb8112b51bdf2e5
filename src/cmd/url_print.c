#include "cmd/url_print.h"
#include "cmd/print.h"

#include <stdio.h>
#include <string.h>

char *url_of(const struct access *access, uint16_t port, const char *path, char url[URL_SIZE])
{
    bool is_v6 = strchr(access->address, ':') != NULL;
    bool is_any = strcmp(access->address, "0.0.0.0") == 0 || strcmp(access->address, "::") == 0;
    const char *host = is_any ? access->hostname : access->address;

    is_v6 = is_v6 && !is_any;
    snprintf(url, URL_SIZE, "http://%s%s%s:%u/%s%s%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "",
             port, path, *access->token ? "?token=" : "", access->token);
    return url;
}

/* To be run where the browser is. */
static void tunnel_of(const struct site *site, char command[URL_SIZE])
{
    const struct access *access = site_access(site);
    bool is_v6 = strchr(access->address, ':') != NULL;
    unsigned port = site_port(site);

    snprintf(command, URL_SIZE, "ssh -N -L %u:%s%s%s:%u %s", port, is_v6 ? "[" : "",
             access->is_loopback ? access->address : "localhost", is_v6 ? "]" : "", port,
             access->hostname);
}

void url_print(const struct site *site, bool has_tunnel, bool is_json)
{
    char url[URL_SIZE], tunnel[URL_SIZE];

    url_of(site_access(site), site_port(site), "", url);
    tunnel_of(site, tunnel);
    if (is_json)
        print_json(json_pack("{s:o, s:o}", "url", json_text(url), "tunnel",
                             has_tunnel ? json_text(tunnel) : json_null()),
                   false);
    else
        print(has_tunnel ? "%s\n%s\n" : "%s\n", url, tunnel);
    fflush(stdout);
}
