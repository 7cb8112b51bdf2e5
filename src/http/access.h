/*
 * access -- who may ask: the checks that keep other web pages, other names for this machine,
 * and other users out.
 *
 * The server believes a request when Host names this machine as the user knows it, so that no
 * foreign name can be made to point here (DNS rebinding); when Origin, if there is one, is the
 * server's own, so that no other page can act for the user; and, beyond loopback, when it
 * brings the token that was printed at the start.
 */
#ifndef SNAG_HTTP_ACCESS_H
#define SNAG_HTTP_ACCESS_H

#include "http/request.h"

#include <stdbool.h>

#define ACCESS_TOKEN_SIZE 33 /* 128 bits as hexadecimal digits */

struct access {
    char address[64];              /* listened on; IPv6 without brackets */
    bool is_loopback;              /* nobody else reaches it */
    char hostname[256];            /* of this machine; believed beyond loopback */
    char token[ACCESS_TOKEN_SIZE]; /* "": none is asked for */
};

/*
 * access_init -- for a server that listens on this address.
 *   address  numeric, IPv4 or IPv6
 * Beyond loopback it makes a token. Returns 0, ERR_USAGE for no address, or ERR_IO.
 */
int access_init(struct access *access, const char *address);

/* access_host -- the header Host is a name of this server, with any port. NULL is none. */
bool access_host(const struct access *access, const char *host);

/* access_origin -- the header Origin is none, or what the page of this Host has. */
bool access_origin(const char *origin, const char *host);

/* access_refusal -- why a request with this head is not believed, whatever it asks; status 0 if
 * it is. The token is not looked at. */
struct http_refusal access_refusal(const struct access *access,
                                   const struct request_head *head);

/* access_token -- the text is the token. Takes as long for any text of its length. */
bool access_token(const struct access *access, const char *text);

/* access_bearer -- ... is in the header Authorization. */
bool access_bearer(const struct access *access, const struct request_head *head);

#endif
