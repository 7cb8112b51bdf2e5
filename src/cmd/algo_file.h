/*
 * algo_file -- Chimbuko's file that says how strange calls are found, as its -algo_params_file:
 *
 *     {"algorithm": "sstd", "sstd_sigma": 12, "hbos_thres": 0.99, "glob_thres": true,
 *      "hbos_max_bins": 200}
 */
#ifndef SNAG_CMD_ALGO_FILE_H
#define SNAG_CMD_ALGO_FILE_H

#include "live/ad.h"

/*
 * algo_file_read -- take from a file what has a counterpart here, the algorithm and sstd_sigma,
 * and say on stderr what has none.
 * Returns 0, ERR_IO, or ERR_FORMAT for what such a file may not say.
 */
int algo_file_read(const char *path, struct ad_opts *opts);

#endif
