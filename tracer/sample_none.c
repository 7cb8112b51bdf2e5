/* Where stacks cannot be walked. */
#include "complain.h"
#include "sample.h"

#include <stdlib.h>

void sample_begin(void)
{
    const char *said = getenv("SNAG_TRACER_SAMPLE");

    if (said && *said)
        complain("no samples: this tracer was built without libdw, or for another processor");
}

void sample_thread(struct recorder *r)
{
    (void)r;
}

void sample_thread_ends(void)
{
}

void sample_end(void)
{
}
