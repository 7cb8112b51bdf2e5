/*
 * api_live_records -- the windows of a provenance record as what a timeline draws: calls with their
 * depth, per thread.
 */
#ifndef SNAG_MONITOR_API_LIVE_RECORDS_H
#define SNAG_MONITOR_API_LIVE_RECORDS_H

#include <jansson.h>

/*
 * live_lanes -- of a record as prov_record_to_json writes it: its own thread first, with the calls that
 * led to it, then those of its partners. Takes any JSON. Times are nanoseconds.
 */
json_t *live_lanes(const json_t *record);

#endif
