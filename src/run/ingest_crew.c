/* Structures go as they are in memory: all processes are the same program (base/crew.h). */
#include "run/ingest_crew.h"

#include "base/checksum.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------- who, what */

static unsigned least_loaded(const uint64_t *load, unsigned n)
{
    unsigned least = 0;

    for (unsigned p = 1; p < n; p++)
        if (load[p] < load[least])
            least = p;
    return least;
}

void deal_init(struct deal *deal, const struct crew *crew, const struct definitions *defs)
{
    unsigned size = crew_size(crew);
    uint64_t *load = mem_alloc(size, sizeof *load); /* events */

    *deal = (struct deal){.n_locations = defs->n_locations};
    deal->owner = mem_alloc(defs->n_locations, sizeof *deal->owner);
    deal->mine = mem_alloc(defs->n_locations, sizeof *deal->mine);
    for (uint32_t l = 0; l < defs->n_locations; l++) {
        unsigned p = least_loaded(load, size);

        load[p] += defs->location[l].n_events_said + 1; /* which may not be known */
        deal->owner[l] = p;
        if (p == crew_me(crew))
            deal->mine[deal->n_mine++] = l;
    }
    free(load);
}

void deal_release(struct deal *deal)
{
    free(deal->owner);
    free(deal->mine);
    *deal = (struct deal){0};
}

int ingest_check_definitions(struct crew *crew, const struct definitions *defs)
{
    struct checksum sum;
    uint64_t own, first;

    if (crew == NULL)
        return 0;
    checksum_begin(&sum);
    for (uint32_t r = 0; r < defs->names.n; r++)
        checksum_add(&sum, defs->names.name[r], strlen(defs->names.name[r]) + 1);
    for (uint32_t l = 0; l < defs->n_locations; l++) {
        checksum_add(&sum, &defs->location[l].id, sizeof defs->location[l].id);
        checksum_add(&sum, &defs->location[l].n_events_said,
                     sizeof defs->location[l].n_events_said);
    }
    own = first = checksum_end(&sum);
    crew_broadcast(crew, &first, sizeof first);
    return crew_agree(crew, own == first
                                ? 0
                                : err_set(ERR_FORMAT, "sees another trace than process 0: is "
                                                      "its path the same on all nodes?"));
}

/* ---------------------------------------------------------------------------------- turns */

void ingest_take_turn(struct crew *crew, const struct deal *deal, uint32_t l,
                      struct column_place *next)
{
    if (l > 0 && deal->owner[l - 1] != deal->owner[l])
        crew_receive(crew, deal->owner[l - 1], next, sizeof *next);
}

void ingest_pass_turn(struct crew *crew, const struct deal *deal, uint32_t l,
                      const struct column_place *next)
{
    if (l + 1 < deal->n_locations && deal->owner[l + 1] != deal->owner[l])
        crew_send(crew, deal->owner[l + 1], next, sizeof *next);
}

/* ------------------------------------------------------------------------------ gathering */

/* What has a size that number 0 does not know yet. */
static void pack_share(const struct ingest_share *share, struct pack *pack)
{
    const struct ingested *own = share->ingested;

    pack_array(pack, own->profile.row, own->profile.n_regions, sizeof *own->profile.row);
    for (uint32_t i = 0; i < share->deal->n_mine; i++) {
        uint32_t l = share->deal->mine[i];
        struct traffic_count count = traffic_count(&own->traffic, l);

        pack_bytes(pack, &own->location[l], sizeof own->location[l]);
        pack_bytes(pack, &count, sizeof count);
        loops_found_pack(&share->found[l], pack);
        if (share->writer)
            columns_pack_location(share->writer, l, pack);
    }
}

/* One object of a size that is known. */
static void unpack_into(struct pack *pack, void *to, size_t width)
{
    const void *at = unpack_bytes(pack, width);

    if (at)
        memcpy(to, at, width);
}

static int unpack_location(struct ingest_share *share, struct pack *pack, uint32_t l,
                           struct traffic_count *count)
{
    struct ingested *all = share->ingested;
    int rc;

    unpack_into(pack, &all->location[l], sizeof all->location[l]);
    unpack_into(pack, count, sizeof *count);
    rc = loops_found_unpack(&share->found[l], pack);
    if (rc == 0 && share->writer)
        rc = columns_adopt(share->writer, l, pack);
    return rc;
}

static int unpack_share(struct ingest_share *share, struct pack *pack, unsigned process,
                        struct traffic_count *count)
{
    struct ingested *all = share->ingested;
    struct profile profile = {.n_regions = all->profile.n_regions};
    int rc = 0;

    profile.row = unpack_array(pack, profile.n_regions, sizeof *profile.row);
    profile_merge(&all->profile, &profile);
    profile_release(&profile);
    for (uint32_t l = 0; rc == 0 && l < all->n_locations; l++)
        if (share->deal->owner[l] == process)
            rc = unpack_location(share, pack, l, &count[l]);
    return rc == 0 && pack->is_bad ? err_set(ERR_FORMAT, "what it has read is not known") : rc;
}

static void send_traffic(struct crew *crew, const struct ingest_share *share)
{
    for (uint32_t i = 0; i < share->deal->n_mine; i++)
        for (enum traffic_kind kind = 0; kind < TRAFFIC_KINDS; kind++) {
            size_t bytes;
            const void *rows =
                traffic_rows(&share->ingested->traffic, kind, share->deal->mine[i], &bytes);

            crew_send(crew, 0, rows, bytes);
        }
}

/* Its own rows, and those of the others, each where they belong. */
static void receive_traffic(struct crew *crew, struct ingest_share *share,
                            const struct traffic_count *count)
{
    struct traffic *all = &share->ingested->traffic, own = *all;
    uint32_t n_locations = share->ingested->n_locations;

    traffic_init(all, n_locations, own.paged);
    all->dependency = own.dependency;
    all->n_dependencies = own.n_dependencies;
    own.dependency = NULL;
    traffic_lay_out(all, count);
    for (unsigned p = 0; p < crew_size(crew); p++)
        for (uint32_t l = 0; l < n_locations; l++)
            for (enum traffic_kind kind = 0; kind < TRAFFIC_KINDS && share->deal->owner[l] == p;
                 kind++) {
                size_t bytes;
                void *rows = traffic_rows(all, kind, l, &bytes);

                if (p > 0)
                    crew_receive(crew, p, rows, bytes);
                else if (bytes > 0)
                    memcpy(rows, traffic_rows(&own, kind, l, &bytes), bytes);
            }
    traffic_release(&own);
}

static void say_tally(const struct crew *crew, const struct ingest_share *share, unsigned p,
                      const struct crew_tally *tally)
{
    uint64_t n_records = 0;
    uint32_t n_locations = 0;

    for (uint32_t l = 0; l < share->ingested->n_locations; l++)
        if (share->deal->owner[l] == p) {
            n_records += share->ingested->location[l].n_records;
            n_locations++;
        }
    log_info("analyze",
             "process %u of %u (%s): locations %u records %" PRIu64 " messages_sent %" PRIu64
             " bytes_sent %" PRIu64 " peak_bytes %" PRIu64,
             p, crew_size(crew), crew_host(crew, p), n_locations, n_records, tally->n_sent,
             tally->sent_bytes, tally->peak_bytes);
}

/* Number 0, when all have read. */
static int receive_shares(struct crew *crew, struct ingest_share *share)
{
    struct traffic_count *count = mem_alloc(share->ingested->n_locations, sizeof *count);
    struct crew_tally tally;
    int rc = 0;

    for (uint32_t i = 0; i < share->deal->n_mine; i++)
        count[share->deal->mine[i]] =
            traffic_count(&share->ingested->traffic, share->deal->mine[i]);
    for (unsigned p = 1; p < crew_size(crew); p++) {
        struct pack pack;
        int one;

        crew_receive_pack(crew, p, &pack);
        one = rc < 0 ? 0 : unpack_share(share, &pack, p, count);
        free(pack.data);
        rc = one < 0 ? one : rc;
    }
    rc = crew_agree(crew, rc);
    if (rc == 0)
        receive_traffic(crew, share, count);
    tally = crew_tally(crew);
    say_tally(crew, share, 0, &tally);
    for (unsigned p = 1; rc == 0 && p < crew_size(crew); p++) {
        crew_receive(crew, p, &tally, sizeof tally);
        say_tally(crew, share, p, &tally);
    }
    free(count);
    return rc;
}

static int send_share(struct crew *crew, const struct ingest_share *share)
{
    struct pack pack = {0};
    struct crew_tally tally;
    int rc;

    pack_share(share, &pack);
    crew_send_pack(crew, 0, &pack);
    pack_release(&pack);
    rc = crew_agree(crew, 0);
    if (rc < 0)
        return rc;
    send_traffic(crew, share);
    tally = crew_tally(crew);
    crew_send(crew, 0, &tally, sizeof tally);
    return 0;
}

int ingest_gather(struct crew *crew, struct ingest_share *share, int rc)
{
    rc = crew_agree(crew, rc);
    if (rc < 0)
        return rc;
    return crew_me(crew) == 0 ? receive_shares(crew, share) : send_share(crew, share);
}
