/*
 * residual_rows -- executions as learners compare them.
 *
 * Per call path the time lost (or saved) there and how rare its rarest shape is, and the score:
 * what is told of an execution with a high score does not spread to ones with a low score,
 * however little their paths differ.
 */
#ifndef SNAG_FEATURES_RESIDUAL_ROWS_H
#define SNAG_FEATURES_RESIDUAL_ROWS_H

#include "features/features.h"
#include "features/rows.h"

/*
 * residual_rows -- one row per tree.
 *   score  (trees) in nats
 *   rows   out; released by the caller. Columns: n paths, one for all unknown paths, both for
 *          time; the same again for rarity; the score. They mean the same for all forests that
 *          are placed in one model.
 * O(vertices).
 */
void residual_rows(const struct feature_input *input, const double *score, struct rows *rows);

#endif
