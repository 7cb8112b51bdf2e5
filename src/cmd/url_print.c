#include "cmd/url_print.h"
#include "cmd/print.h"

#include <stdio.h>
#include <string.h>

static void print_url(const struct site *site)
{
    const struct access *access = site_access(site);
    bool is_v6 = strchr(access->address, ':') != NULL;
    bool is_any = strcmp(access->address, "0.0.0.0") == 0 || strcmp(access->address, "::") == 0;
    const char *host = is_any ? access->hostname : access->address;

    is_v6 = is_v6 && !is_any;
    print("http://%s%s%s:%u/%s%s\n", is_v6 ? "[" : "", host, is_v6 ? "]" : "", site_port(site),
          *access->token ? "?token=" : "", access->token);
}

/* To be run where the browser is. */
static void print_tunnel(const struct site *site)
{
    const struct access *access = site_access(site);
    bool is_v6 = strchr(access->address, ':') != NULL;
    unsigned port = site_port(site);

    print("ssh -N -L %u:%s%s%s:%u %s\n", port, is_v6 ? "[" : "",
          access->is_loopback ? access->address : "localhost", is_v6 ? "]" : "", port,
          access->hostname);
}

void url_print(const struct site *site, bool has_tunnel)
{
    print_url(site);
    if (has_tunnel)
        print_tunnel(site);
    fflush(stdout);
}
