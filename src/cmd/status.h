/* status -- exit statuses, and the one place where errors are printed. */
#ifndef SNAG_CMD_STATUS_H
#define SNAG_CMD_STATUS_H

#define STATUS_DONE 0
#define STATUS_FAILED 1
#define STATUS_USAGE 2
#define STATUS_DAMAGED 3
#define STATUS_BEYOND 4 /* beyond a limit of --fail-on, nothing else */

/*
 * status_of -- the exit status for what a command returned. A negative ERR_* is printed, as
 * `snag: <message>`; anything else is a status already.
 */
int status_of(int rc);

#endif
