/* The level, and where lines go, are settings of the process that every module shares. */
#include "base/log.h"

#include "base/err.h"
#include "base/progress.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_SIZE 1280

static enum log_level highest = LOG_NONE;
static void (*taker)(void *ctx, enum log_level level, const char *text);
static void *taker_ctx;

static struct {
    pthread_mutex_t
        lock;   /* guards the handle while a line is written; nothing is taken under it */
    int handle; /* -1: there is no file */
    char path[4096], tag[128];
} file = {.lock = PTHREAD_MUTEX_INITIALIZER, .handle = -1};
static bool has_file;       /* set before there are threads */
static atomic_int is_stale; /* lock-free: a handler of a signal may set it */

static int open_file(void)
{
    return open(file.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
}

int log_open(const char *path, const char *tag)
{
    if (snprintf(file.path, sizeof file.path, "%s", path) >= (int)sizeof file.path)
        return err_set(ERR_RANGE, "path too long: '%.200s...'", path);
    snprintf(file.tag, sizeof file.tag, "%s", tag);
    file.handle = open_file();
    has_file = file.handle >= 0;
    return has_file ? 0 : err_set(ERR_IO, "cannot open '%s': %s", path, strerror(errno));
}

void log_reopen(void)
{
    atomic_store(&is_stale, 1);
}

void log_renew(void)
{
    if (atomic_load(&is_stale) && has_file)
        log_info("log", "opened again");
}

bool log_has_file(void)
{
    return has_file;
}

void log_set_level(enum log_level level)
{
    highest = level;
}

void log_to(void (*take)(void *ctx, enum log_level level, const char *text), void *ctx)
{
    taker = take;
    taker_ctx = ctx;
}

/* Where the new one cannot be opened the old one goes on, and the next line tries again. */
static void renew(void)
{
    int renewed = open_file();

    if (renewed < 0) {
        log_reopen();
        return;
    }
    close(file.handle);
    file.handle = renewed;
}

/* As much as the disk takes: there is nobody to tell. */
static void append(const char *line, size_t n)
{
    pthread_mutex_lock(&file.lock);
    if (atomic_exchange(&is_stale, 0))
        renew();
    if (write(file.handle, line, n) < 0)
        errno = 0;
    pthread_mutex_unlock(&file.lock);
}

static void append_message(const char *level, const char *module, const char *text)
{
    char line[LINE_SIZE], now[TEXT_UTC_SIZE];
    int n = snprintf(line, sizeof line, "%s %s %s %s: %s\n", text_utc(text_now_ns(), now),
                     file.tag, level, module, text);

    append(line, n < LINE_SIZE ? (size_t)n : LINE_SIZE - 1);
}

static void print_line(enum log_level level, const char *module, const char *text)
{
    static const char *const word[] = {"error", "warning", "info", "debug"};

    if (has_file)
        append_message(word[level], module, text);
    else
        fprintf(stderr, "snag: %s: %s: %s\n", word[level], module, text);
}

/* ---------------------------------------------------------------------- what is said too often
 */

/* Messages of one kind; the table is as large as there are kinds that anybody has seen at once.
 */
static struct log_kind {
    const char *fmt, *module;
    enum log_level level;
    uint64_t n_said, n_held,
        next_ns;    /* lines, those kept back since the last, when it may go on */
    char last[400]; /* that was kept back */
} kinds[64];
static pthread_mutex_t kinds_lock = PTHREAD_MUTEX_INITIALIZER; /* guards kinds */

static void say_held(const struct log_kind *kind)
{
    char text[1024];

    snprintf(text, sizeof text, "%llu more lines like this one were not printed: %s",
             (unsigned long long)kind->n_held, kind->last);
    print_line(kind->level, kind->module, text);
}

static void say_all_held(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].n_held > 0)
            say_held(&kinds[i]);
}

/* Whether a line may be printed; *held is what was kept back of its kind until now. */
static bool may_be_said(enum log_level level, const char *module, const char *fmt,
                        const char *text, struct log_kind *held)
{
    static bool is_first = true;
    uint64_t now_ns = clock_ns();
    struct log_kind *kind = kinds;
    bool is_said;

    pthread_mutex_lock(&kinds_lock);
    while (kind < kinds + sizeof kinds / sizeof *kinds - 1 && kind->fmt && kind->fmt != fmt)
        kind++;
    kind->fmt = fmt;
    kind->module = module;
    kind->level = level;
    is_said = kind->n_said < LOG_BURST || now_ns >= kind->next_ns;
    *held = *kind;
    if (is_said) {
        kind->n_said++;
        kind->n_held = 0;
        kind->next_ns = now_ns + LOG_PAUSE_S * (uint64_t)1000000000;
    } else {
        kind->n_held++;
        snprintf(kind->last, sizeof kind->last, "%.*s", (int)sizeof kind->last - 1, text);
        if (is_first)
            atexit(say_all_held);
        is_first = false;
    }
    pthread_mutex_unlock(&kinds_lock);
    return is_said;
}

void log_at(enum log_level level, const char *module, const char *fmt, ...)
{
    struct log_kind held = {.n_held = 0};
    char text[1024];
    va_list args;

    if (level > highest)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    text_printable(text);
    if (taker) {
        taker(taker_ctx, level, text);
    } else if (level > LOG_WARN || may_be_said(level, module, fmt, text, &held)) {
        if (held.n_held > 0)
            say_held(&held);
        print_line(level, module, text);
    }
}
