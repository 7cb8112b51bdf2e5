/* manual -- the manual pages snag(1), snag-COMMAND(1) and snag-formats(5). */
#ifndef SNAG_CMD_MANUAL_H
#define SNAG_CMD_MANUAL_H

/*
 * manual_print -- a page: formatted on a terminal (by man, or plain where there is none), else
 * as mdoc.
 *   name  of a command, "formats", or "" for the page of snag
 * Returns 0, ERR_NOT_FOUND when there is no such page, or ERR_IO.
 */
int manual_print(const char *name);

#endif
