#include "http/access.h"

#include "base/err.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

static int make_token(char token[ACCESS_TOKEN_SIZE])
{
    unsigned char bytes[(ACCESS_TOKEN_SIZE - 1) / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set(ERR_IO, "cannot make a token: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

int access_init(struct access *access, const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;

    *access = (struct access){.is_loopback = true};
    snprintf(access->address, sizeof access->address, "%s", address);
    gethostname(access->hostname, sizeof access->hostname - 1);
    if (inet_pton(AF_INET, address, &v4) == 1)
        access->is_loopback = ntohl(v4.s_addr) >> 24 == 127;
    else if (inet_pton(AF_INET6, address, &v6) == 1)
        access->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6);
    else
        return err_set(ERR_USAGE, "--listen takes an address like 127.0.0.1 or ::1, not '%s'",
                       address);
    return access->is_loopback ? 0 : make_token(access->token);
}

/* Host without its port, and without the brackets of IPv6. Returns false for anything else. */
static bool split_host(const char *host, char *name, size_t size)
{
    bool has_brackets = *host == '[';
    size_t length = has_brackets ? strcspn(++host, "]") : strcspn(host, ":");
    const char *rest = host + length;

    if (length == 0 || length >= size || (has_brackets && *rest != ']'))
        return false;
    memcpy(name, host, length);
    name[length] = '\0';
    rest += has_brackets;
    if (*rest == '\0')
        return true;
    return *rest == ':' && strspn(rest + 1, "0123456789") == strlen(rest + 1);
}

static bool is_numeric(const char *name)
{
    struct in6_addr any;

    return inet_pton(AF_INET, name, &any) == 1 || inet_pton(AF_INET6, name, &any) == 1;
}

bool access_host(const struct access *access, const char *host)
{
    static const char *const loopback[] = {"127.0.0.1", "localhost", "::1"};
    char name[256];
    size_t short_length = strcspn(access->hostname, ".");

    if (host == NULL || !split_host(host, name, sizeof name))
        return false;
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++)
        if (strcasecmp(name, loopback[i]) == 0)
            return true;
    if (strcmp(name, access->address) == 0)
        return true;
    if (access->is_loopback)
        return false;
    return is_numeric(name) || strcasecmp(name, access->hostname) == 0 ||
           (strlen(name) == short_length &&
            strncasecmp(name, access->hostname, short_length) == 0);
}

bool access_origin(const char *origin, const char *host)
{
    static const char scheme[] = "http://";

    return origin == NULL || (strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
                              strcasecmp(origin + sizeof scheme - 1, host) == 0);
}

bool access_token(const struct access *access, const char *text)
{
    unsigned difference = 0;

    if (text == NULL || strlen(text) != strlen(access->token))
        return false;
    for (size_t i = 0; text[i]; i++)
        difference |= (unsigned char)text[i] ^ (unsigned char)access->token[i];
    return difference == 0;
}

struct http_refusal access_refusal(const struct access *access, const struct request_head *head)
{
    if (!access_host(access, head->host))
        return (struct http_refusal){421, "Host is not a name of this server"};
    if (!access_origin(head->field[FIELD_ORIGIN], head->host))
        return (struct http_refusal){403, "Origin is another site"};
    return (struct http_refusal){0, NULL};
}

bool access_bearer(const struct access *access, const struct request_head *head)
{
    static const char prefix[] = "Bearer ";
    const char *field = head->field[FIELD_AUTHORIZATION];

    return field && strncmp(field, prefix, sizeof prefix - 1) == 0 &&
           access_token(access, field + sizeof prefix - 1);
}
