/* A rank that cannot make its files records nothing, and takes part in all that the others do.
 */
#include "session.h"

#include "about.h"
#include "budget.h"
#include "builds.h"
#include "communicators.h"
#include "complain.h"
#include "event_files.h"
#include "filter.h"
#include "live.h"
#include "memory.h"
#include "offsets.h"
#include "openmp.h"
#include "regions.h"
#include "session_files.h"
#include "stack.h"
#include "state.h"
#include "structure.h"
#include "team.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    atomic_bool is_open;
    pid_t pid; /* a child of a fork has no session */
    char *directory;
    uint64_t job;
    int64_t realtime_ns;
} session;

bool session_is_open(void)
{
    return atomic_load(&session.is_open) && session.pid == getpid();
}

/* --------------------------------------------------------------------------------- opening */

static int64_t realtime_less_monotonic(void)
{
    struct timespec real;

    clock_gettime(CLOCK_REALTIME, &real);
    return (int64_t)((uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec - clock_ns());
}

/* Rank 0's word for whether there is to be an archive. */
static bool agree_on_archive(void)
{
    const char *own = getenv("SNAG_TRACER_ARCHIVE");
    int has_archive = own == NULL || strcmp(own, "0") != 0;

    team_broadcast(&has_archive, sizeof has_archive);
    return has_archive;
}

/* Rank 0's word for where it is, with the directory made; ranks on other machines may have no
 * such variable. NULL after rank 0 has complained. */
static char *agree_on_directory(void)
{
    char *directory = NULL;
    int n = 0;

    if (team_rank() == 0) {
        directory = session_files_prepare(getenv("SNAG_TRACER_DIR"));
        n = directory ? (int)strlen(directory) + 1 : 0;
    }
    team_broadcast(&n, sizeof n);
    if (n == 0)
        return NULL;
    directory = memory_resize(directory, (size_t)n, 1);
    team_broadcast(directory, (size_t)n);
    return directory;
}

/* A number that tells this program's ranks from those of any other. */
static uint64_t agree_on_job(void)
{
    uint64_t job = (uint64_t)session.realtime_ns + clock_ns();

    job = job * 0x9e3779b97f4a7c15u ^ (uint64_t)session.pid;
    team_broadcast(&job, sizeof job);
    return job ? job : 1;
}

static void journal_about(void *ctx, const char *key, const char *value)
{
    (void)ctx;
    state_journal(&(struct definition){
        .kind = JOURNAL_ABOUT, .text = (const char *[]){key, value}, .n_texts = 2});
}

/* What was there before. */
static void begin_journal(void)
{
    builds_journal();
    about_each(journal_about, NULL);
    regions_journal();
    openmp_journal();
}

static bool open_files(void)
{
    struct state_process place = {.rank = (uint32_t)team_rank(),
                                  .n_ranks = (uint32_t)team_size(),
                                  .is_mpi = team_is_mpi(),
                                  .job = session.job,
                                  .realtime_ns = session.realtime_ns};

    session.directory = agree_on_directory();
    if (session.directory == NULL)
        return false;
    if (!state_open(session.directory, &place)) {
        complain("rank %d records nothing: cannot make its files in '%s': %s", team_rank(),
                 session.directory, strerror(errno));
        return false;
    }
    recorder_tell_state();
    begin_journal();
    return true;
}

static void measure_offset(void)
{
    struct state_offset offset = offset_measure();
    struct state_head *head = state_head();
    uint32_t n = head ? atomic_load(&head->n_offsets) : STATE_OFFSETS;

    if (n == STATE_OFFSETS)
        return;
    head->offset[n] = offset;
    atomic_store_explicit(&head->n_offsets, n + 1, memory_order_release);
}

/* Where the records go; live output starts here. NULL: nowhere. */
static const struct sink *choose_sink(bool has_files)
{
    struct live_process place = {.rank = (uint32_t)team_rank(),
                                 .n_ranks = (uint32_t)team_size(),
                                 .job = session.job,
                                 .realtime_ns = session.realtime_ns};
    bool is_live = live_start(&place);

    if (!has_files)
        return is_live ? &live_sink : NULL;
    return is_live ? live_sink_beside(&event_files_sink) : &event_files_sink;
}

static void complain_of_settings(void)
{
    if (team_rank() == 0 && filter_trouble()[0])
        complain("%s", filter_trouble());
    if (team_rank() == 0 && budget_trouble()[0])
        complain("%s", budget_trouble());
    if (team_rank() == 0 && stack_trouble()[0] &&
        atomic_load(&structure_now) == STRUCTURE_STACKS)
        complain("%s", stack_trouble());
}

static void complain_of_skipped(void)
{
    for (const struct recorder *r = recorder_newest(); r; r = r->older)
        if (r->n_skipped)
            complain(
                "rank %d: %llu calls before MPI_Init are not recorded, there were too many",
                team_rank(), (unsigned long long)r->n_skipped);
}

void session_open(void)
{
    uint64_t begin_ns = budget_thread_ns();
    const struct sink *sink;
    bool has_files;

    team_form();
    session.pid = getpid();
    session.realtime_ns = realtime_less_monotonic();
    session.job = agree_on_job();
    has_files = agree_on_archive() && open_files();
    communicators_begin();
    measure_offset();
    session_files_list_ranks(getenv("SNAG_TRACER_RANKS"));
    atomic_store(&session.is_open, true);
    sink = choose_sink(has_files);
    if (sink)
        recorder_attach(sink);
    else
        recorder_forget();
    complain_of_settings();
    complain_of_skipped();
    budget_once(begin_ns);
}

void session_end_of_run(void)
{
    if (session_is_open())
        measure_offset();
}

/* --------------------------------------------------------------------------------- closing */

static void note_all(const struct recorder *newest)
{
    uint64_t n_lost = recorder_n_homeless();

    for (const struct recorder *r = newest; r; r = r->older) {
        event_files_note(r);
        if (r->location == NULL)
            n_lost += r->n_refused + r->n_skipped;
    }
    atomic_fetch_add(&state_head()->n_lost, n_lost);
}

static void complain_of_lost(const struct recorder *newest)
{
    uint64_t n = event_files_lost(newest);
    int error = event_files_error(newest);

    if (n > 0)
        complain("rank %d lost %llu calls: %s", team_rank(), (unsigned long long)n,
                 error ? strerror(error)
                       : "they were made in signal handlers that came while the tracer was at "
                         "work");
}

void session_close(enum state_ending ending)
{
    uint64_t begin_ns = budget_thread_ns();
    struct recorder *newest;

    if (!session_is_open() || !atomic_exchange(&session.is_open, false))
        return;
    newest = recorder_stop();
    live_stop();
    if (state_head()) {
        if (ending == STATE_FINALIZED)
            communicators_end();
        builds_journal();
        budget_end(newest);
        budget_once(begin_ns); /* what is still to come is in no archive */
        note_all(newest);
        state_end(ending);
        complain_of_lost(newest);
    }
    if (ending == STATE_FINALIZED)
        team_part();
}
