/*
 * How the end goes, on every rank:
 *
 *     stop recording, close what is open, hand over what is left
 *     pack what this rank knows  -->  rank 0 unifies  -->  this rank's numbers come back
 *     write the local definitions with them; rank 0: those of the archive
 *
 * All ranks take part in all of it even if one of them could not write its events.
 */
#include "session.h"

#include "archive.h"
#include "budget.h"
#include "builds.h"
#include "communicators.h"
#include "complain.h"
#include "ending.h"
#include "filter.h"
#include "live.h"
#include "openmp.h"
#include "rescue.h"
#include "session_files.h"
#include "team.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_OFFSETS 2

/* GATHERING: recording is over, and the ranks wait for each other; who is ended meanwhile can
 * still save its part alone. */
enum phase { CLOSED, OPEN, GATHERING };

static struct {
    _Atomic enum phase phase;
    bool has_archive;
    pid_t pid; /* a child of a fork has no session */
    char *directory;
    int64_t realtime_ns;
    struct clock_offset offset[MOST_OFFSETS];
    unsigned n_offsets;
} session;

bool session_is_open(void)
{
    return session.phase == OPEN && session.pid == getpid();
}

bool session_is_unsaved(void)
{
    return session.phase != CLOSED && session.pid == getpid();
}

/* --------------------------------------------------------------------------------- opening */

static int64_t realtime_less_monotonic(void)
{
    struct timespec real;

    clock_gettime(CLOCK_REALTIME, &real);
    return (int64_t)((uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec - clock_ns());
}

/* Rank 0's word for where the archive is; ranks on other machines may have no such variable. */
static char *agree_on_directory(void)
{
    const char *own = getenv("SNAG_TRACER_DIR");
    char *directory = NULL;
    int n = 0;

    if (team_rank() == 0) {
        directory = must_copy(own && own[0] ? own : "snag-trace");
        if (session.has_archive && team_is_spawned())
            session_files_claim_spawned(&directory);
        n = (int)strlen(directory) + 1;
    }
    team_broadcast(&n, sizeof n);
    directory = must_resize(directory, (size_t)n, 1);
    team_broadcast(directory, (size_t)n);
    return directory;
}

/* Rank 0's word for whether there is to be one. */
static bool agree_on_archive(void)
{
    const char *own = getenv("SNAG_TRACER_ARCHIVE");
    int has_archive = own == NULL || strcmp(own, "0") != 0;

    team_broadcast(&has_archive, sizeof has_archive);
    return has_archive;
}

static void measure_offset(void)
{
    struct clock_offset offset = offset_measure();

    if (session.n_offsets < MOST_OFFSETS)
        session.offset[session.n_offsets++] = offset;
}

static bool open_archive(void)
{
    bool is_good = true;

    session.directory = agree_on_directory();
    if (!team_is_mpi())
        is_good = session_files_claim(&session.directory);
    else if (team_rank() == 0)
        is_good = session_files_prepare(session.directory);
    return team_all(is_good) && team_all(archive_open(session.directory));
}

/* A number that tells this program's ranks from those of any other. */
static uint64_t agree_on_job(void)
{
    uint64_t job = (uint64_t)session.realtime_ns + clock_ns();

    job = job * 0x9e3779b97f4a7c15u ^ (uint64_t)session.pid;
    team_broadcast(&job, sizeof job);
    return job ? job : 1;
}

/* Where the records go; live output starts here. */
static const struct sink *choose_sink(void)
{
    struct live_place place = {.rank = (uint32_t)team_rank(),
                               .n_ranks = (uint32_t)team_size(),
                               .job = agree_on_job(),
                               .realtime_ns = session.realtime_ns};
    bool is_live = live_start(&place);

    if (!session.has_archive)
        return is_live ? &live_sink : NULL;
    return is_live ? live_sink_beside(&archive_sink) : &archive_sink;
}

void session_open(void)
{
    uint64_t begin_ns = budget_thread_ns();
    const struct sink *sink;

    team_form();
    session.pid = getpid();
    session.realtime_ns = realtime_less_monotonic();
    session.has_archive = agree_on_archive();
    if (session.has_archive && !open_archive()) {
        team_part();
        recorder_forget();
        return;
    }
    communicators_begin();
    builds_remember();
    measure_offset();
    session_files_list_ranks(getenv("SNAG_TRACER_RANKS"));
    session.phase = OPEN;
    ending_watch();
    sink = choose_sink();
    if (sink)
        recorder_attach(sink);
    else
        recorder_forget();
    if (team_rank() == 0 && filter_trouble()[0])
        complain("%s", filter_trouble());
    if (team_rank() == 0 && budget_trouble()[0])
        complain("%s", budget_trouble());
    budget_once(begin_ns);
}

void session_end_of_run(void)
{
    if (session_is_open())
        measure_offset();
}

/* --------------------------------------------------------------------------------- closing */

static uint64_t closing_ns; /* when the session began to end, in its thread's processor time */

/* This process's locations, on rank 0's clock. Free the array. */
static struct location *list_locations(const struct recorder *newest, uint32_t *n)
{
    const struct clock_offset *begin = &session.offset[0];
    const struct clock_offset *end = &session.offset[session.n_offsets - 1];
    struct location *list = NULL, l;

    *n = 0;
    for (const struct recorder *r = newest; r; r = r->older) {
        if (r->n_skipped)
            complain(
                "rank %d: %llu calls before MPI_Init are not recorded, there were too many",
                team_rank(), (unsigned long long)r->n_skipped);
        if (!archive_location(r, &l))
            continue;
        l.first_ns = offset_apply(l.first_ns, begin, end);
        l.last_ns = offset_apply(l.last_ns, begin, end);
        list = must_resize(list, *n + 1, sizeof *list);
        list[(*n)++] = l;
    }
    return list;
}

/* What has no records, on rank 0's clock. Free the array. */
static struct left_out *list_left_out(const struct recorder *newest, uint32_t *n)
{
    struct left_out *list = budget_list(newest, n);

    for (uint32_t i = 0; i < *n; i++)
        list[i].from_ns = offset_apply(list[i].from_ns, &session.offset[0],
                                       &session.offset[session.n_offsets - 1]);
    return list;
}

/* Those of MPI, then the teams of threads. Free the array; members stay. */
static struct communicator *list_communicators(uint32_t *n)
{
    const struct communicator *of_mpi = communicators_known(n);
    uint32_t n_teams;
    struct communicator *teams = openmp_teams((uint32_t)team_rank(), &n_teams);
    struct communicator *list = must_resize(NULL, *n + n_teams, sizeof *list);

    for (uint32_t i = 0; i < *n; i++)
        list[i] = of_mpi[i];
    for (uint32_t i = 0; i < n_teams; i++)
        list[(*n)++] = teams[i];
    free(teams);
    return list;
}

static struct blob pack_all(const struct recorder *newest, bool has_all_members)
{
    struct blob blob = {0};
    struct location *locations;
    struct left_out *left_out;
    struct communicator *communicators;
    struct knowledge k = {.rank = (uint32_t)team_rank(),
                          .realtime_ns = session.realtime_ns,
                          .has_all_members = has_all_members};
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    if (closing_ns)
        budget_once(closing_ns); /* what is still to come is in no archive */
    locations = list_locations(newest, &k.n_locations);
    k.host = host;
    left_out = list_left_out(newest, &k.n_left_out);
    k.location = locations;
    k.left_out = left_out;
    k.region = regions_known(&k.n_regions);
    k.communicator = communicators = list_communicators(&k.n_communicators);
    k.object = objects_known(&k.n_objects);
    unify_pack(&blob, &k);
    free(communicators);
    free(locations);
    free(left_out);
    return blob;
}

/* Rank 0: the numbers of rank `to`. Others: receive them. */
static void send_map(const struct unified_map *map, int to)
{
    team_send(to, map->region, map->n_regions * sizeof *map->region);
    team_send(to, map->communicator, map->n_communicators * sizeof *map->communicator);
    team_send(to, map->object, map->n_objects * sizeof *map->object);
}

static struct unified_map receive_map(void)
{
    struct unified_map map;

    regions_known(&map.n_regions);
    communicators_known(&map.n_communicators);
    map.n_communicators += openmp_n_teams();
    objects_known(&map.n_objects);
    map.region = must_resize(NULL, map.n_regions, sizeof *map.region);
    map.communicator = must_resize(NULL, map.n_communicators, sizeof *map.communicator);
    map.object = must_resize(NULL, map.n_objects, sizeof *map.object);
    team_receive(0, map.region, map.n_regions * sizeof *map.region);
    team_receive(0, map.communicator, map.n_communicators * sizeof *map.communicator);
    team_receive(0, map.object, map.n_objects * sizeof *map.object);
    return map;
}

/* Collective: u is filled in on rank 0, the map is this rank's. */
static struct unified_map unify(const struct recorder *newest, struct unified *u)
{
    struct unified_map own_map = {0}, map;
    struct blob own;
    int *bytes = must_resize(NULL, (size_t)team_size(), sizeof *bytes);
    int *start = must_resize(NULL, (size_t)team_size(), sizeof *start);
    struct blob all;

    regions_find_lines();
    builds_remember();
    own = pack_all(newest, false);
    all = team_gather_blobs(&own, bytes, start);
    for (int i = 0; team_rank() == 0 && i < team_size(); i++) {
        struct blob one = {.data = all.data + start[i], .n = (size_t)bytes[i]};

        unify_add(u, &one, &map);
        if (i == 0) {
            own_map = map;
            continue;
        }
        send_map(&map, i);
        unified_map_release(&map);
    }
    if (team_rank() != 0)
        own_map = receive_map();
    blob_release(&own);
    blob_release(&all);
    free(bytes);
    free(start);
    return own_map;
}

/* Only one of those that would end the session does. */
static bool pass(enum phase from, enum phase to)
{
    return session.phase == from && session.pid == getpid() &&
           atomic_compare_exchange_strong(&session.phase, &from, to);
}

static void complete_archive(struct recorder *newest)
{
    struct unified u = {0};
    struct unified_map map;
    bool is_good;

    map = unify(newest, &u);
    while (!pass(GATHERING, CLOSED))
        pause(); /* the process is being ended, and saves its part */
    is_good = archive_end_events(newest, &map, session.offset, session.n_offsets);
    if (team_rank() == 0)
        is_good = archive_define(&u, (uint32_t)team_size()) && is_good;
    is_good = archive_close() && is_good;
    unified_map_release(&map);
    unified_release(&u);
    if (!is_good)
        complain("rank %d could not complete its part of the archive", team_rank());
}

void session_close(void)
{
    struct recorder *newest;

    if (!pass(OPEN, session.has_archive ? GATHERING : CLOSED))
        return;
    closing_ns = budget_thread_ns();
    newest = recorder_stop();
    live_stop();
    if (session.has_archive)
        complete_archive(newest);
    team_part();
}

void session_abandon(void)
{
    struct recorder *newest;
    struct blob own;

    if (!team_is_mpi()) {
        session_close(); /* there is nobody to wait for */
        return;
    }
    if (pass(OPEN, CLOSED)) {
        newest = recorder_stop();
        live_stop();
    } else if (pass(GATHERING, CLOSED)) {
        newest = recorder_newest();
    } else {
        return;
    }
    if (!session.has_archive)
        return;
    own = pack_all(newest, true);
    rescue(session.directory, (uint32_t)team_size(),
           &(struct rescued){&own, newest, session.offset, session.n_offsets});
    blob_release(&own);
}
