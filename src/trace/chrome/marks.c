/*
 * When the budget is used up, what each thread has in memory is sorted and appended to the file
 * as one run; what is left at the end is a run in memory. A cursor has a window on each run of
 * its threads, and a heap of the runs by their first mark.
 */
#include "trace/chrome/marks.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/order.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW 512u /* marks of a run that are read at once */

struct sorted_run {
    uint64_t offset; /* in the file, in marks */
    uint64_t n;
};

struct thread_marks {
    struct mark *mark; /* [n] in memory */
    size_t n, cap;
    struct sorted_run *run; /* [n_runs] in the file */
    size_t n_runs, run_cap;
};

struct marks {
    struct thread_marks *thread; /* [n_threads] */
    size_t n_threads, thread_cap;
    size_t budget, n_in_memory;
    int fd; /* of the file, -1: there is none */
    uint64_t n_in_file;
    int error; /* errno of the first write that failed */
};

struct marks *marks_new(size_t budget)
{
    struct marks *marks = mem_alloc(1, sizeof *marks);

    marks->budget = budget;
    marks->fd = -1;
    return marks;
}

void marks_free(struct marks *marks)
{
    if (marks == NULL)
        return;
    for (size_t i = 0; i < marks->n_threads; i++) {
        free(marks->thread[i].mark);
        free(marks->thread[i].run);
    }
    free(marks->thread);
    if (marks->fd >= 0)
        close(marks->fd);
    free(marks);
}

static int compare(const struct mark *p, const struct mark *q)
{
    return ORDER(p->time_ns, q->time_ns) ?: ORDER(p->order, q->order);
}

static int by_time(const void *a, const void *b)
{
    return compare(a, b);
}

static void sort(struct thread_marks *thread)
{
    bool is_sorted = true;

    for (size_t i = 1; i < thread->n && is_sorted; i++)
        is_sorted = compare(&thread->mark[i - 1], &thread->mark[i]) <= 0;
    if (!is_sorted)
        qsort(thread->mark, thread->n, sizeof *thread->mark, by_time);
}

/* -------------------------------------------------------------------------- writing */

/* A file without a name, which is gone when it is closed. */
static int temporary_file(void)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/snag-XXXXXX", fs_temporary_dir());
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static bool write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0) {
        ssize_t n = write(fd, at, bytes);

        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void spill_thread(struct marks *marks, struct thread_marks *thread)
{
    if (thread->n == 0)
        return;
    sort(thread);
    if (!marks->error && !write_all(marks->fd, thread->mark, thread->n * sizeof *thread->mark))
        marks->error = errno;
    *mem_push(&thread->run, &thread->n_runs, &thread->run_cap) =
        (struct sorted_run){marks->n_in_file, thread->n};
    marks->n_in_file += thread->n;
    free(thread->mark);
    thread->mark = NULL;
    thread->n = thread->cap = 0;
}

void marks_push(struct marks *marks, uint32_t which, const struct mark *mark)
{
    struct thread_marks *thread;

    mem_grow(&marks->thread, &marks->thread_cap, (size_t)which + 1);
    for (; marks->n_threads <= which; marks->n_threads++)
        marks->thread[marks->n_threads] = (struct thread_marks){0};
    if (marks->n_in_memory == marks->budget) {
        if (marks->fd < 0 && !marks->error) {
            marks->fd = temporary_file();
            marks->error = marks->fd < 0 ? errno : 0;
        }
        for (size_t i = 0; i < marks->n_threads; i++)
            spill_thread(marks, &marks->thread[i]);
        marks->n_in_memory = 0;
    }
    thread = &marks->thread[which];
    *mem_push(&thread->mark, &thread->n, &thread->cap) = *mark;
    marks->n_in_memory++;
}

int marks_end(struct marks *marks)
{
    for (size_t i = 0; i < marks->n_threads; i++)
        sort(&marks->thread[i]);
    return marks->error
               ? err_set(ERR_IO, "cannot write to a temporary file: %s", strerror(marks->error))
               : 0;
}

/* -------------------------------------------------------------------------- reading */

struct mark_run {
    const struct mark *mark; /* [n] the next ones */
    size_t n;
    struct mark *window;    /* [WINDOW] of a run in the file; NULL: it is in memory */
    struct sorted_run rest; /* of it, behind the window */
    int64_t shift_ns;
};

struct marks_cursor {
    int fd;
    struct mark_run *run; /* [n] those that are not over, a heap by their first mark */
    size_t n, n_all;
    struct mark given;
    bool is_broken;
};

/* The next marks of a run from the file. Returns false when there are none. */
static bool refill(struct marks_cursor *c, struct mark_run *run)
{
    size_t n = run->rest.n < WINDOW ? (size_t)run->rest.n : WINDOW;
    size_t bytes = n * sizeof *run->window;

    if (fs_read_at(c->fd, run->window, bytes, run->rest.offset * sizeof *run->window) < bytes) {
        c->is_broken = true;
        return false;
    }
    run->rest.offset += n;
    run->rest.n -= n;
    run->mark = run->window;
    run->n = n;
    return n > 0;
}

/* Times from outside may be anything; then they wrap. */
static struct mark shifted(const struct mark_run *run)
{
    struct mark mark = *run->mark;

    mark.time_ns = (int64_t)((uint64_t)mark.time_ns + (uint64_t)run->shift_ns);
    mark.end_ns = (int64_t)((uint64_t)mark.end_ns + (uint64_t)run->shift_ns);
    return mark;
}

static bool is_before(const struct mark_run *a, const struct mark_run *b)
{
    struct mark p = shifted(a), q = shifted(b);

    return compare(&p, &q) < 0;
}

/* Those that are over stand behind the others, for their memory. */
static void drop_first(struct marks_cursor *c)
{
    struct mark_run run = c->run[0];

    c->run[0] = c->run[--c->n];
    c->run[c->n] = run;
}

static void add_runs(struct marks_cursor *c, const struct thread_marks *thread,
                     int64_t shift_ns)
{
    for (size_t i = 0; i < thread->n_runs; i++) {
        c->run[c->n] =
            (struct mark_run){.window = mem_resize(NULL, WINDOW, sizeof(struct mark)),
                              .rest = thread->run[i],
                              .shift_ns = shift_ns};
        refill(c, &c->run[c->n++]);
    }
    if (thread->n > 0)
        c->run[c->n++] =
            (struct mark_run){.mark = thread->mark, .n = thread->n, .shift_ns = shift_ns};
}

struct marks_cursor *marks_cursor_new(const struct marks *marks, const uint32_t *thread,
                                      const int64_t *shift_ns, uint32_t n)
{
    struct marks_cursor *c = mem_alloc(1, sizeof *c);
    size_t n_runs = 0;

    for (uint32_t i = 0; i < n; i++)
        if (thread[i] < marks->n_threads)
            n_runs += marks->thread[thread[i]].n_runs + 1;
    c->fd = marks->fd;
    c->run = mem_alloc(n_runs, sizeof *c->run);
    for (uint32_t i = 0; i < n; i++)
        if (thread[i] < marks->n_threads)
            add_runs(c, &marks->thread[thread[i]], shift_ns ? shift_ns[i] : 0);
    c->n_all = c->n;
    if (c->is_broken) /* what cannot be read is not there */
        c->n = 0;
    for (size_t i = c->n / 2; i-- > 0;)
        HEAP_SINK(c->run, i, c->n, is_before);
    return c;
}

void marks_cursor_free(struct marks_cursor *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->n_all; i++)
        free(c->run[i].window);
    free(c->run);
    free(c);
}

const struct mark *marks_cursor_next(struct marks_cursor *c)
{
    struct mark_run *run = c->run;

    if (c->n == 0)
        return NULL;
    c->given = shifted(run);
    run->mark++;
    if (--run->n == 0 && (run->window == NULL || run->rest.n == 0 || !refill(c, run)))
        drop_first(c);
    HEAP_SINK(c->run, 0, c->n, is_before);
    return &c->given;
}

bool marks_cursor_is_broken(const struct marks_cursor *c)
{
    return c->is_broken;
}
