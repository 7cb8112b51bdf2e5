/*
 * err -- how a failure of the outside world travels.
 *
 * A function that can fail because of files, the network or its input returns 0 or one of the
 * negative codes below, raised once, where it happened, by `return err_set(...)`. The message
 * is kept per thread and passed up untouched; only the command line, the web server and the
 * parameter server print it. Our own mistakes are asserts, and memory running out aborts.
 */
#ifndef SNAG_BASE_ERR_H
#define SNAG_BASE_ERR_H

#define ERR_CODES(X)                                                                           \
    X(IO, "cannot read or write")                                                              \
    X(FORMAT, "damaged or unknown format")                                                     \
    X(RANGE, "value out of range")                                                             \
    X(USAGE, "bad usage")                                                                      \
    X(NOT_FOUND, "not found")                                                                  \
    X(EXISTS, "exists already")                                                                \
    X(UNSUPPORTED, "not supported by this build")                                              \
    X(INTERRUPTED, "interrupted")                                                              \
    X(DATABASE, "database error")

enum err_index {
#define ERR_AS_INDEX(name, text) ERR_INDEX_##name,
    ERR_CODES(ERR_AS_INDEX)
#undef ERR_AS_INDEX
};

enum err_code {
#define ERR_AS_CODE(name, text) ERR_##name = -1 - ERR_INDEX_##name,
    ERR_CODES(ERR_AS_CODE)
#undef ERR_AS_CODE
};

/*
 * err_set -- record what failed and return the code, so that `return err_set(...)` reads well.
 *   code  one of ERR_*
 *   fmt   lower case, no full stop, what failed first, the subject in quotes
 * Returns code. Replaces what this thread recorded before. Thread-safe.
 */
#define err_set(code, ...) err_set_at(__FILE__, __LINE__, code, __VA_ARGS__)
int err_set_at(const char *file, int line, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* err_message -- the text of this thread's last err_set; "" if there was none. */
const char *err_message(void);

/* An error that outlives calls that may fail in their turn, or the thread that raised it. */
struct err_kept {
    int code;      /* < 0, or what is no error */
    char *message; /* NULL: of none */
};

/* err_keep -- what this thread raised last, if `code`, which a function returned, says that it
 * failed. Ends with err_restore or err_kept_release. */
struct err_kept err_keep(int code);

/* err_restore -- raise in this thread what was kept, and release it. Returns its code. */
int err_restore(struct err_kept *kept);

void err_kept_release(struct err_kept *kept);

/* err_where -- "file:line" of this thread's last err_set, for debugging; "" if none. */
const char *err_where(void);

/* err_name -- what a code means in general: "not found"; "unknown error" for any other int. */
const char *err_name(int code);

#endif
