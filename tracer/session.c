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
#include "communicators.h"
#include "complain.h"
#include "filter.h"
#include "live.h"
#include "rescue.h"
#include "session_files.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_OFFSETS 2

static struct {
    bool is_open, has_archive;
    pid_t pid; /* a child of a fork has no session */
    char *directory;
    MPI_Comm comm; /* our own copy of MPI_COMM_WORLD */
    int rank, size;
    int64_t realtime_ns;
    struct clock_offset offset[MOST_OFFSETS];
    unsigned n_offsets;
} session;

bool session_is_open(void)
{
    return session.is_open;
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

    if (session.rank == 0) {
        directory = must_copy(own && own[0] ? own : "snag-trace");
        n = (int)strlen(directory) + 1;
    }
    PMPI_Bcast(&n, 1, MPI_INT, 0, session.comm);
    directory = must_resize(directory, (size_t)n, 1);
    PMPI_Bcast(directory, n, MPI_CHAR, 0, session.comm);
    return directory;
}

/* Rank 0's word for whether there is to be one. */
static bool agree_on_archive(void)
{
    const char *own = getenv("SNAG_TRACER_ARCHIVE");
    int has_archive = own == NULL || strcmp(own, "0") != 0;

    PMPI_Bcast(&has_archive, 1, MPI_INT, 0, session.comm);
    return has_archive;
}

static bool all_agree(bool is_good)
{
    int mine = is_good, all = 0;

    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, session.comm);
    return all;
}

static void measure_offset(void)
{
    struct clock_offset offset = offset_measure(session.comm);

    if (session.n_offsets < MOST_OFFSETS)
        session.offset[session.n_offsets++] = offset;
}

static bool open_archive(void)
{
    bool is_good = true;

    session.directory = agree_on_directory();
    if (session.rank == 0)
        is_good = session_files_prepare(session.directory);
    return all_agree(is_good) && all_agree(archive_open(session.directory, session.comm));
}

/* A number that tells this program's ranks from those of any other. */
static uint64_t agree_on_job(void)
{
    uint64_t job = (uint64_t)session.realtime_ns + clock_ns();

    job = job * 0x9e3779b97f4a7c15u ^ (uint64_t)session.pid;
    PMPI_Bcast(&job, 1, MPI_UINT64_T, 0, session.comm);
    return job ? job : 1;
}

/* Where the records go; live output starts here. */
static const struct sink *choose_sink(void)
{
    struct live_place place = {.rank = (uint32_t)session.rank,
                               .n_ranks = (uint32_t)session.size,
                               .job = agree_on_job(),
                               .realtime_ns = session.realtime_ns};
    bool is_live = live_start(&place);

    if (!session.has_archive)
        return is_live ? &live_sink : NULL;
    return is_live ? live_sink_beside(&archive_sink) : &archive_sink;
}

void session_open(void)
{
    const struct sink *sink;

    PMPI_Comm_dup(MPI_COMM_WORLD, &session.comm);
    PMPI_Comm_rank(session.comm, &session.rank);
    PMPI_Comm_size(session.comm, &session.size);
    session.pid = getpid();
    session.realtime_ns = realtime_less_monotonic();
    session.has_archive = agree_on_archive();
    if (session.has_archive && !open_archive()) {
        PMPI_Comm_free(&session.comm);
        recorder_forget();
        return;
    }
    communicators_begin();
    measure_offset();
    session_files_list_ranks(getenv("SNAG_TRACER_RANKS"), session.comm);
    session.is_open = true;
    sink = choose_sink();
    if (sink)
        recorder_attach(sink);
    else
        recorder_forget();
    if (session.rank == 0 && filter_trouble()[0])
        complain("%s", filter_trouble());
}

void session_end_of_run(void)
{
    if (session.is_open)
        measure_offset();
}

/* --------------------------------------------------------------------------------- closing */

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
                session.rank, (unsigned long long)r->n_skipped);
        if (!archive_location(r, &l))
            continue;
        l.first_ns = offset_apply(l.first_ns, begin, end);
        l.last_ns = offset_apply(l.last_ns, begin, end);
        list = must_resize(list, *n + 1, sizeof *list);
        list[(*n)++] = l;
    }
    return list;
}

static struct blob pack_all(const struct recorder *newest, bool has_all_members)
{
    struct blob blob = {0};
    struct location *locations;
    struct knowledge k = {.rank = (uint32_t)session.rank,
                          .realtime_ns = session.realtime_ns,
                          .has_all_members = has_all_members};
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    locations = list_locations(newest, &k.n_locations);
    k.host = host;
    k.location = locations;
    k.region = regions_known(&k.n_regions);
    k.communicator = communicators_known(&k.n_communicators);
    unify_pack(&blob, &k);
    free(locations);
    return blob;
}

/* What all ranks know, one after the other, at rank 0; and where each begins. */
static struct blob gather(const struct blob *own, int **bytes, int **start)
{
    struct blob all = {0};
    int n = (int)own->n;
    uint64_t sum = 0;

    *bytes = must_resize(NULL, (size_t)session.size, sizeof **bytes);
    *start = must_resize(NULL, (size_t)session.size, sizeof **start);
    PMPI_Gather(&n, 1, MPI_INT, *bytes, 1, MPI_INT, 0, session.comm);
    for (int i = 0; session.rank == 0 && i < session.size; i++) {
        (*start)[i] = (int)sum;
        sum += (uint64_t)(*bytes)[i];
    }
    if (sum > INT_MAX) {
        complain("more than 2 GiB of definitions");
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    all.data = must_resize(NULL, sum, 1);
    all.n = sum;
    PMPI_Gatherv(own->data, n, MPI_BYTE, all.data, *bytes, *start, MPI_BYTE, 0, session.comm);
    return all;
}

/* Rank 0: the numbers of rank `to`. Others: receive them. */
static void send_map(const struct unified_map *map, int to)
{
    PMPI_Send(map->region, (int)map->n_regions, MPI_UINT32_T, to, 0, session.comm);
    PMPI_Send(map->communicator, (int)map->n_communicators, MPI_UINT32_T, to, 1, session.comm);
}

static struct unified_map receive_map(void)
{
    struct unified_map map;

    regions_known(&map.n_regions);
    communicators_known(&map.n_communicators);
    map.region = must_resize(NULL, map.n_regions, sizeof *map.region);
    map.communicator = must_resize(NULL, map.n_communicators, sizeof *map.communicator);
    PMPI_Recv(map.region, (int)map.n_regions, MPI_UINT32_T, 0, 0, session.comm,
              MPI_STATUS_IGNORE);
    PMPI_Recv(map.communicator, (int)map.n_communicators, MPI_UINT32_T, 0, 1, session.comm,
              MPI_STATUS_IGNORE);
    return map;
}

/* Collective: u is filled in on rank 0, the map is this rank's. */
static struct unified_map unify(const struct recorder *newest, struct unified *u)
{
    struct unified_map own_map = {0}, map;
    struct blob own = pack_all(newest, false);
    int *bytes, *start;
    struct blob all = gather(&own, &bytes, &start);

    for (int i = 0; session.rank == 0 && i < session.size; i++) {
        struct blob one = {.data = all.data + start[i], .n = (size_t)bytes[i]};

        unify_add(u, &one, &map);
        if (i == 0) {
            own_map = map;
            continue;
        }
        send_map(&map, i);
        free(map.region);
        free(map.communicator);
    }
    if (session.rank != 0)
        own_map = receive_map();
    blob_release(&own);
    blob_release(&all);
    free(bytes);
    free(start);
    return own_map;
}

static void complete_archive(struct recorder *newest)
{
    struct unified u = {0};
    struct unified_map map;
    bool is_good;

    map = unify(newest, &u);
    is_good = archive_end_events(newest, &map, session.offset, session.n_offsets);
    if (session.rank == 0)
        is_good = archive_define(&u, (uint32_t)session.size) && is_good;
    is_good = archive_close() && is_good;
    free(map.region);
    free(map.communicator);
    unified_release(&u);
    if (!is_good)
        complain("rank %d could not complete its part of the archive", session.rank);
}

void session_close(void)
{
    struct recorder *newest;

    if (!session.is_open)
        return;
    session.is_open = false;
    newest = recorder_stop();
    live_stop();
    if (session.has_archive)
        complete_archive(newest);
    PMPI_Barrier(session.comm);
    PMPI_Comm_free(&session.comm);
}

void session_abandon(void)
{
    struct recorder *newest;
    struct blob own;

    if (!session.is_open || session.pid != getpid())
        return;
    session.is_open = false;
    newest = recorder_stop();
    live_stop();
    if (!session.has_archive)
        return;
    own = pack_all(newest, true);
    rescue(session.directory, (uint32_t)session.size,
           &(struct rescued){&own, newest, session.offset, session.n_offsets});
    blob_release(&own);
}

/* A program that calls exit without MPI_Finalize, or returns from main. */
__attribute__((destructor)) static void at_exit(void)
{
    session_abandon();
}
