#include "cmd/metrics_option.h"

#include "base/err.h"
#include "cmd/tags.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

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
