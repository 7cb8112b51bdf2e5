/*
 * log -- what a person may want to follow, on stderr: `snag: info: ingest: read 8 locations`.
 *
 * stdout is for results. Kernels never log. Servers may have a file (log_open). Nothing is
 * printed until somebody asks for it: the level is set once, by the command line; a program
 * that uses the library gets the messages.
 */
#ifndef SNAG_BASE_LOG_H
#define SNAG_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_NONE = -1, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* log_set_level -- messages up to this level; LOG_NONE at first. Before any thread. */
void log_set_level(enum log_level level);

/*
 * log_to -- hand them to a function instead of printing them; NULL: print. Before any thread.
 *   take  is called by any thread; text is one line without its end
 */
void log_to(void (*take)(void *ctx, enum log_level level, const char *text), void *ctx);

/*
 * log_open -- append messages to a file instead of printing them, a write for each line:
 *
 *     2026-11-23T15:04:05.123Z 4711 warning prov: shard 0 ...
 *
 *   tag  what all lines have, 4711; copied
 * Before any thread. Returns 0, ERR_IO or ERR_RANGE.
 */
int log_open(const char *path, const char *tag);

/* log_reopen -- the next line opens the file by its name again: somebody has renamed it. May be
 * called by handlers of signals. */
void log_reopen(void);

/* log_renew -- do so now, with a line that says it, if there is reason to. */
void log_renew(void);

/* log_has_file -- messages go to a file. */
bool log_has_file(void);

/*
 * log_at -- one line; module is the folder or file it comes from. Thread-safe, one write.
 * Errors and warnings of one kind (their fmt) are LOG_BURST lines at most, and then one in
 * LOG_PAUSE_S: whoever sends garbage to a server for hours does not fill its disk. How many
 * more there were is said with the next one, and at the end of the process.
 */
#define LOG_BURST 50u
#define LOG_PAUSE_S 10u
void log_at(enum log_level level, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define log_warn(module, ...) log_at(LOG_WARN, module, __VA_ARGS__)
#define log_info(module, ...) log_at(LOG_INFO, module, __VA_ARGS__)
#define log_debug(module, ...) log_at(LOG_DEBUG, module, __VA_ARGS__)

#endif
