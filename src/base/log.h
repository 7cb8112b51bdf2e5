/*
 * log -- what a person may want to follow, on stderr: `snag: info: ingest: read 8 locations`.
 *
 * stdout is for results. Kernels never log. Nothing is printed until somebody asks for it: the
 * level is set once, by the command line; a program that uses the library gets the messages.
 */
#ifndef SNAG_BASE_LOG_H
#define SNAG_BASE_LOG_H

enum log_level { LOG_NONE = -1, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* log_set_level -- messages up to this level; LOG_NONE at first. Before any thread. */
void log_set_level(enum log_level level);

/*
 * log_to -- hand them to a function instead of printing them; NULL: print. Before any thread.
 *   take  is called by any thread; text is one line without its end
 */
void log_to(void (*take)(void *ctx, enum log_level level, const char *text), void *ctx);

/* log_at -- one line; module is the folder or file it comes from. Thread-safe, one write. */
void log_at(enum log_level level, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#define log_warn(module, ...) log_at(LOG_WARN, module, __VA_ARGS__)
#define log_info(module, ...) log_at(LOG_INFO, module, __VA_ARGS__)
#define log_debug(module, ...) log_at(LOG_DEBUG, module, __VA_ARGS__)

#endif
