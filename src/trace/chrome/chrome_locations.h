/*
 * chrome_locations -- the locations of a trace of Chrome JSON, and the rank of each.
 *
 * Where one process wrote the file and says so (Kineto's distributedInfo, deviceProperties), or
 * there is a file per process, a rank is a part: its pids are the CPU and the GPUs, its threads
 * and streams are the locations. Else each pid is a rank, by a "rank N" in its name or in the
 * order of the numbers.
 */
#ifndef SNAG_TRACE_CHROME_LOCATIONS_H
#define SNAG_TRACE_CHROME_LOCATIONS_H

#include "trace/chrome/chrome_trace.h"

#include <stdint.h>

struct chrome_locations {
    uint32_t *thread;      /* [n_threads] those of a location follow each other */
    uint32_t *first;       /* [n_locations + 1] where in that those of a location are */
    uint32_t *rank_of;     /* [n_threads] rank of a thread that has marks */
    uint32_t *location_of; /* [n_threads] likewise its location */
    int64_t *shift_ns;     /* [n_threads] to be added to the times of its marks */
    uint32_t n_threads;
    bool is_by_part; /* a rank is a part: its flows are within one process, no messages */
};

/*
 * chrome_locations_find -- defines the locations (definitions_finish) and the start of the time.
 * Returns 0, or ERR_FORMAT when parts contradict each other: two of a rank at the same time, or
 * some that say their rank and some that do not.
 */
int chrome_locations_find(struct chrome_locations *places, struct chrome_trace *trace);
void chrome_locations_release(struct chrome_locations *places);

#endif
