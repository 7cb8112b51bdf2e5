/*
 * call_published -- the rules of Chimbuko's on-node analysis by which a duration is an anomaly,
 * as they were published, for the table in call_detector.c.
 *
 *     sstd   |x - mean| > a s                       a = 6 deviations s of the sample
 *     hbos   h(x) >= least + t (most - least)       h = -log2(share of the calls in x's bin)
 *     copod  c(x) >= least + t (most - least)       c = max((l + r) / 2, corrected by skewness)
 *                                                   l, r = -log2(share of the calls <= x, >= x)
 *
 * least and most are the scores of the calls; t is 0.99 (Chimbuko's hbos_thres), and the
 * threshold never falls as calls are added (glob_thres). Bins of hbos are of equal width, 200
 * of them (hbos_max_bins). With skewness b the corrected score is r above 1, l below -1, and
 * l + r between: -l sign(b - 1) + r sign(b + 1).
 *
 * Source: Chimbuko, Overview, "Anomaly detection algorithm" and "Advanced anomaly analysis",
 * and the classes it refers to, in version 7.0; HBOS: Goldstein and Dengel, KI 2012; COPOD: Li
 * et al., ICDM 2020. Li et al. write max(l, r, the one that b's sign picks), which of one
 * variable is max(l, r); this is the form of the authors' program, PyOD, and of Chimbuko.
 * Departs from them: durations are those that a sketch keeps, to seven significant bits, so
 * that histograms of many processes add up exactly.
 */
#ifndef SNAG_DETECT_CALL_PUBLISHED_H
#define SNAG_DETECT_CALL_PUBLISHED_H

#include "detect/call_detector.h"

/* call_log_share -- -log2 of a share 0..1 of the calls, 100 of none. */
double call_log_share(double share);

/* As call_detector_ops has them. Scores O(bins of the sketch), sstd O(1). */
double call_sstd_score(const struct call_judge *judge, const struct sketch *sketch,
                       uint64_t duration_ns);
void call_sstd_usual(struct call_judge *judge, const struct sketch *sketch);
double call_hbos_score(const struct call_judge *judge, const struct sketch *sketch,
                       uint64_t duration_ns);
void call_hbos_usual(struct call_judge *judge, const struct sketch *sketch);
double call_copod_score(const struct call_judge *judge, const struct sketch *sketch,
                        uint64_t duration_ns);
void call_copod_usual(struct call_judge *judge, const struct sketch *sketch);

#endif
