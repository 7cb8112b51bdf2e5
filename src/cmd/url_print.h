/*
 * url_print -- where the servers of a command are reached: that of a page, and that of
 * --metrics for commands that have no page.
 */
#ifndef SNAG_CMD_URL_PRINT_H
#define SNAG_CMD_URL_PRINT_H

#include "http/metrics.h"
#include "serve/site.h"

#include <stdbool.h>

#define URL_SIZE 512

/* url_print -- the URL of its page, and the command for a tunnel if asked for; flushed. */
void url_print(const struct site *site, bool has_tunnel, bool is_json);

/* url_print_tunnel -- the command for a tunnel to a server that listens at this port, to be run where the browser is.
 * Returns command. */
char *url_print_tunnel(const struct access *access, uint16_t port, char command[URL_SIZE]);

/*
 * metrics_option_open -- listen where the option says.
 *   server   out: NULL when it is not said; metrics_server_close it in any case
 *   option   [ADDRESS:]PORT, or NULL
 *   opts     its add, is_well and ctx; of its job command, program and run_id
 * Returns 0, ERR_USAGE for what is no address, or what metrics_server_open does.
 */
int metrics_option_open(struct metrics_server **server, const char *option,
                        struct metrics_server_opts opts);

/* metrics_option_url -- where they are. Returns url, or NULL without a server. */
char *metrics_option_url(const struct metrics_server *server, char url[URL_SIZE]);

#endif
