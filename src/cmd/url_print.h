/* url_print -- where a server is reached, on stdout. */
#ifndef SNAG_CMD_URL_PRINT_H
#define SNAG_CMD_URL_PRINT_H

#include "serve/site.h"

#include <stdbool.h>

#define URL_SIZE 512

/*
 * url_of -- of a server that listens at this port, with its token.
 *   path  "" or "metrics"
 * Returns url.
 */
char *url_of(const struct access *access, uint16_t port, const char *path, char url[URL_SIZE]);

/* url_print -- the URL of its page, and the command for a tunnel if asked for; flushed. */
void url_print(const struct site *site, bool has_tunnel, bool is_json);

#endif
