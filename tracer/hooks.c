/*
 * What code compiled with -finstrument-functions calls at the begin and the end of each
 * function. The whole cost of the tracer is here, so everything rare is elsewhere: what is
 * left is a thread-local flag, a look in a hash table, the clock and a store.
 */
#include "hooks.h"

#include "structure.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void __cyg_profile_func_enter(void *function, void *call_site);
EXPORTED void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
    struct recorder *r = recorder_begin();
    uint32_t region;

    (void)call_site;
    if (r == NULL) {
        recorder_missed();
        return;
    }
    region = structure_is(STRUCTURE_FUNCTIONS) ? region_of(function) : REGION_FILTERED;
    hooks_enter(r, region);
    recorder_end(r);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
    struct recorder *r = recorder_begin();
    uint32_t region;

    (void)call_site;
    if (r == NULL)
        return;
    region = structure_is(STRUCTURE_FUNCTIONS) ? region_of(function) : REGION_FILTERED;
    hooks_leave(r, region);
    recorder_end(r);
}
