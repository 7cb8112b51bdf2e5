/*
 * algo_file -- how strange calls are found, by the command line and by Chimbuko's file for it,
 * its -algo_params_file:
 *
 *     {"algorithm": "sstd", "sstd_sigma": 12, "hbos_thres": 0.99, "glob_thres": true,
 *      "hbos_max_bins": 200}
 */
#ifndef SNAG_CMD_ALGO_FILE_H
#define SNAG_CMD_ALGO_FILE_H

#include "cmd/settings.h"
#include "detect/call_detector.h"

/*
 * algo_file_settle -- the detector and its parameters, as far as --algo-file, and before it
 * --call-detector and --short, say them.
 * Returns 0, ERR_IO, or ERR_FORMAT for what such a file may not say.
 */
int algo_file_settle(const struct settings *settings, const struct call_detector_ops **detector,
                     struct call_detector_opts *opts);

#endif
