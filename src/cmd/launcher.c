/* Each launcher has its own names for the same two numbers. */
#include "cmd/launcher.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/log.h"
#include "cmd/own_library.h"
#include "cmd/print.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *rank, *size, *mpi, *library;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "Open MPI", "libsnag-open-mpi.so"},
    {"PMI_RANK", "PMI_SIZE", "MPICH", "libsnag-mpich.so"}, /* Hydra, srun --mpi=pmi2 */
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "Open MPI", "libsnag-open-mpi.so"}, /* =pmix */
};

/* A script that runs on one process only is alone on purpose, so that this is no error. */
static void say_alone(const struct settings *settings, const char *mpi, unsigned long rank,
                      unsigned long size)
{
    if (rank == 0 && size > 1 && !settings->is_quiet)
        log_warn("together",
                 "%lu processes of %s were started, and each that runs snag does the whole "
                 "work: add --together for them to share it",
                 size, mpi);
}

int launcher_look(const struct settings *settings, struct launched *out)
{
    *out = (struct launched){.size = 1};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *rank = getenv(launchers[i].rank), *size = getenv(launchers[i].size);

        if (rank == NULL || size == NULL)
            continue;
        if (!settings->is_together) {
            say_alone(settings, launchers[i].mpi, strtoul(rank, NULL, 10),
                      strtoul(size, NULL, 10));
            break;
        }
        setenv("NO_COLOR", "1",
               0); /* Open MPI passes on what it reads from a terminal of its own */
        out->size = (unsigned)strtoul(size, NULL, 10);
        out->me = (unsigned)strtoul(rank, NULL, 10);
        if (out->size > 1 && own_library_find("mpi", launchers[i].library, out->library) < 0)
            return err_set(ERR_UNSUPPORTED, "%s is not installed: snag was built without %s",
                           launchers[i].library, launchers[i].mpi);
        break;
    }
    return 0;
}

uint64_t launcher_task(const struct settings *settings)
{
    struct checksum sum;

    checksum_begin(&sum);
    for (int i = 0; i < settings->n_words; i++)
        checksum_add(&sum, settings->words[i], strlen(settings->words[i]) + 1);
    return checksum_end(&sum);
}

unsigned launcher_threads(const struct settings *settings,
                          const struct process_group *process_group)
{
    unsigned n_processes, n_processors;

    if (process_group == NULL || settings->threads)
        return settings->threads;
    process_group_share(process_group, &n_processes, &n_processors);
    return n_processors > n_processes ? n_processors / n_processes : 1;
}

int launcher_error(const struct launched *launched, int rc)
{
    char host[65] = "?", message[4096];

    if (launched->size <= 1)
        return rc;
    gethostname(host, sizeof host - 1);
    snprintf(message, sizeof message, "%s", err_message());
    return process_group_blame(launched->me, launched->size, host, rc, message);
}

void launcher_break_off(const struct launched *launched, int rc)
{
    if (rc < 0)
        rc = status_of(launcher_error(launched, rc));
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
    _exit(rc);
}
