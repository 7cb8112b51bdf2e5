/* Whoever adds past the time for the next print prints; the exchange lets only one do it. */
#include "base/progress.h"

#include "base/text.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 1000000000u
#define EVERY_NS 100000000u

static bool is_wanted;

uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct timespec clock_after_ms(clockid_t clock, unsigned ms)
{
    struct timespec t;

    clock_gettime(clock, &t);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    t.tv_sec += (time_t)(ms / 1000) + t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

void progress_show(void)
{
    is_wanted = true;
}

void progress_begin(struct progress *p, const char *what, const char *unit, uint64_t total)
{
    *p = (struct progress){.what = what, .unit = unit, .total = total, .start_ns = clock_ns()};
    p->is_shown = is_wanted && isatty(STDERR_FILENO);
    atomic_store(&p->next_print_ns, p->start_ns + FIRST_NS);
}

static void print_line(const struct progress *p, uint64_t done, uint64_t now)
{
    char count[TEXT_SIZE], total[TEXT_SIZE], left[TEXT_SIZE];
    double spent = (double)(now - p->start_ns);

    if (p->total == 0 || done > p->total) {
        fprintf(stderr, "\r\033[K%s  %s %s", p->what, text_count(done, count), p->unit);
        return;
    }
    fprintf(stderr, "\r\033[K%s  %3.0f %%  %s of %s %s", p->what,
            100.0 * (double)done / (double)p->total, text_count(done, count),
            text_count(p->total, total), p->unit);
    if (done > 0)
        fprintf(stderr, "  %s left",
                text_duration(spent * (double)(p->total - done) / (double)done, left));
}

void progress_add(struct progress *p, uint64_t n)
{
    uint64_t done = atomic_fetch_add_explicit(&p->done, n, memory_order_relaxed) + n;
    uint_fast64_t due;
    uint64_t now;

    if (!p->is_shown)
        return;
    now = clock_ns();
    due = atomic_load(&p->next_print_ns);
    if (now < due || !atomic_compare_exchange_strong(&p->next_print_ns, &due, now + EVERY_NS))
        return;
    p->was_printed = true;
    print_line(p, done, now);
}

void progress_end(struct progress *p)
{
    if (p->was_printed)
        fputs("\r\033[K", stderr);
    p->was_printed = false;
    p->is_shown = false;
}
