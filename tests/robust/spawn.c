/* Output goes to memory files: a pipe that nobody empties would make a hang of its own. */
#include "spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_S 60

const char *spawn_program(void)
{
    const char *program = getenv("SNAG_PROGRAM");

    if (program == NULL) {
        fprintf(stderr, "SNAG_PROGRAM is not set\n");
        abort();
    }
    return program;
}

static void begin(struct spawn *s, void (*prepare)(void *ctx), void *ctx,
                  const char *const *argv)
{
    s->out = memfd_create("stdout", MFD_CLOEXEC);
    s->err = memfd_create("stderr", MFD_CLOEXEC);
    fflush(NULL);
    s->pid = s->out < 0 || s->err < 0 ? -1 : fork();
    if (s->pid < 0) {
        perror("cannot start snag");
        abort();
    }
    if (s->pid > 0)
        return;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is killed leaves no process */
    dup2(s->out, 1);
    dup2(s->err, 2);
    if (prepare)
        prepare(ctx);
    unsetenv("SNAG_PROGRAM"); /* to snag itself that would be --program */
    execv(argv[0], (char *const *)(void *)argv);
    _exit(127);
}

void spawn_begin(struct spawn *s, void (*prepare)(void *ctx), void *ctx,
                 const char *const *args)
{
    const char *argv[SPAWN_ARGS + 2] = {spawn_program()};

    for (int i = 0; i < SPAWN_ARGS && args[i]; i++)
        argv[i + 1] = args[i];
    begin(s, prepare, ctx, argv);
}

static char *read_back(int fd, size_t *n)
{
    struct stat info;
    char *text;
    ssize_t got;

    if (fstat(fd, &info) != 0)
        abort();
    text = calloc((size_t)info.st_size + 1, 1);
    got = text ? pread(fd, text, (size_t)info.st_size, 0) : -1;
    if (got < 0)
        abort();
    close(fd);
    *n = (size_t)got;
    return text;
}

/* What the measuring program has said last is for us. */
static void take_measured(struct outcome *o)
{
    static const char begin[] = "measure: ";
    size_t last = o->n_err;

    while (last > 0 && strncmp(o->err + last, begin, sizeof begin - 1) != 0)
        last--;
    if (sscanf(o->err + last, "measure: wall_s %*f cpu_s %lf peak_bytes %zu", &o->cpu_s,
               &o->peak_bytes) != 2)
        return; /* it was killed */
    o->err[last] = '\0';
    o->n_err = last;
}

static bool has_ended(pid_t pid, int *status)
{
    pid_t ended = waitpid(pid, status, WNOHANG);

    if (ended < 0 && errno != EINTR)
        abort();
    return ended == pid;
}

void spawn_end(struct spawn *s, unsigned most_s, struct outcome *out)
{
    time_t until = time(NULL) + (time_t)most_s;
    useconds_t nap_us = 100;
    int status;

    *out = (struct outcome){.status = -1};
    while (!has_ended(s->pid, &status)) {
        if (!out->is_late && time(NULL) > until) {
            out->is_late = true;
            kill(-s->pid, SIGKILL);
        }
        usleep(nap_us);
        nap_us = nap_us < 5000 ? nap_us + nap_us / 4 : nap_us;
    }
    if (WIFEXITED(status))
        out->status = WEXITSTATUS(status);
    else
        out->signal = WTERMSIG(status);
    out->out = read_back(s->out, &out->n_out);
    out->err = read_back(s->err, &out->n_err);
}

void spawn_run(struct outcome *out, ...)
{
    const char *args[SPAWN_ARGS + 3] = {MEASURE, spawn_program()};
    struct spawn s;
    va_list list;

    va_start(list, out);
    for (int i = 2; i < SPAWN_ARGS + 2; i++) {
        args[i] = va_arg(list, const char *);
        if (args[i] == NULL)
            break;
    }
    va_end(list);
    begin(&s, NULL, NULL, args);
    spawn_end(&s, DEFAULT_S, out);
    take_measured(out);
}

void outcome_release(struct outcome *outcome)
{
    free(outcome->out);
    free(outcome->err);
    *outcome = (struct outcome){0};
}

/* "snag: ..." and nothing else but the newline at its end. */
static bool is_one_line(const struct outcome *o)
{
    return strncmp(o->err, "snag: ", 6) == 0 && o->n_err > 7 &&
           memchr(o->err, '\n', o->n_err) == o->err + o->n_err - 1;
}

bool outcome_is_clean(const struct outcome *o, const char *what)
{
    const char *wrong = NULL;

    if (o->is_late)
        wrong = "did not end in time";
    else if (o->signal)
        wrong = "ended by a signal";
    else if (o->status != 0 && o->status != 1 && o->status != 3)
        wrong = "exit status is none of 0, 1, 3";
    else if (o->status == 1 ? !is_one_line(o) : o->n_err > 0)
        wrong = "stderr is not what it should be";
    if (wrong)
        fprintf(stderr, "%s: %s (status %d, signal %d), stderr: %.2000s\n", what, wrong,
                o->status, o->signal, o->err);
    return wrong == NULL;
}
