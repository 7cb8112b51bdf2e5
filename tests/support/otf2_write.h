/*
 * otf2_write -- writes OTF2 archives, for tests and for the benchmark's input.
 *
 * Definitions are given at the end, events at any time; whatever a tracer could get wrong can
 * be written: nothing is checked.
 *
 *     struct otf2_write w;
 *     otf2_write_open(&w, "/tmp/dir", 1000000000);
 *     OTF2_EvtWriter *zero = otf2_write_location(&w, 0);
 *     OTF2_EvtWriter_Enter(zero, NULL, 10, 0);
 *     ...
 *     otf2_write_region(&w, 0, "main");
 *     otf2_write_close(&w);            --> /tmp/dir/traces.otf2
 */
#ifndef SNAG_TESTS_OTF2_WRITE_H
#define SNAG_TESTS_OTF2_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <otf2/otf2.h>

#define OTF2_WRITE_LOCATIONS 256

struct otf2_write {
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *defs;
    uint64_t ticks_per_s, origin, length;
    uint32_t n_strings;
    uint32_t n_locations, n_ranks;
    struct {
        uint64_t id;
        uint32_t rank;
        bool is_thread; /* of a rank that is there already */
        bool is_stream; /* of a GPU; false until a test says so */
        OTF2_EvtWriter *events;
        uint64_t n_events_said; /* UINT64_MAX: the truth */
    } location[OTF2_WRITE_LOCATIONS];
    const char *source; /* file that region i begins in line 10 (i + 1) of; NULL: not said */
    bool has_mpi;       /* define COMM_LOCATIONS and MPI_COMM_WORLD (id 0) at the end */
};

/*
 * otf2_write_open -- a new archive "traces" in dir. Aborts when that fails, as all of these do.
 * otf2_write_open_chunks -- with chunks of event files of so many bytes, at least 256 KiB.
 */
void otf2_write_open(struct otf2_write *w, const char *dir, uint64_t ticks_per_s);
void otf2_write_open_chunks(struct otf2_write *w, const char *dir, uint64_t ticks_per_s,
                            uint64_t chunk_bytes);

/* otf2_write_location -- the event writer of a new location: rank i in order of creation. */
OTF2_EvtWriter *otf2_write_location(struct otf2_write *w, uint64_t id);

/* otf2_write_thread -- the event writer of one more location of a rank. */
OTF2_EvtWriter *otf2_write_thread(struct otf2_write *w, uint64_t id, uint32_t rank);

/* otf2_write_region -- define a region. */
void otf2_write_region(struct otf2_write *w, uint32_t id, const char *name);

/* otf2_write_string -- define a string; returns its id. */
uint32_t otf2_write_string(struct otf2_write *w, const char *text);

/* otf2_write_map -- local region ids 0..n-1 of a location mean these global ones. */
void otf2_write_map(struct otf2_write *w, uint64_t location, const uint64_t *global,
                    uint32_t n);

/* otf2_write_clock_offset -- a ClockOffset record of a location. */
void otf2_write_clock_offset(struct otf2_write *w, uint64_t location, uint64_t time,
                             int64_t offset);

/* otf2_write_close -- write what is left of the definitions and close. */
void otf2_write_close(struct otf2_write *w);

#endif
