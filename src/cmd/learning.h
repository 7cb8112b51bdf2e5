/*
 * learning -- what label, next, retrain and evaluate have in common: a run, ready to rank, and
 * labels in a file: CSV with columns id and label, as a person or another tool writes it.
 */
#ifndef SNAG_CMD_LEARNING_H
#define SNAG_CMD_LEARNING_H

#include "analysis/retrain.h"
#include "cmd/settings.h"
#include "learn/learner.h"
#include "run/rundir.h"

#include <stdbool.h>
#include <stdint.h>

struct learning {
    struct run run;
    int64_t foi;
    struct pool *pool;
    struct ranking ranking;
    struct retrain_settings as; /* what learning_rank ranks with */
};

/*
 * learning_open -- open the run of the first argument and find the function of --foi.
 *   l  zeroed; close it in any case
 */
int learning_open(struct learning *l, const struct settings *settings, bool is_writable);
void learning_close(struct learning *l);

/* learning_opts -- --learner, --features, --seed and so on. Returns 0 or as learning_embedding.
 */
int learning_opts(struct learning *l, const struct settings *settings,
                  struct ranking_opts *opts);

/* learning_rank -- also load what is needed to rank, with --learner, --features and --seed;
 * what is not said is as the run has it (retrain_next). */
int learning_rank(struct learning *l, const struct settings *settings);

/* learning_rank_as -- the same with the settings of an earlier retrain. */
int learning_rank_as(struct learning *l, const struct settings *settings,
                     const struct retrain_settings *as);

/*
 * learning_embedding -- what was said of stack2vec; 0 where nothing was.
 * Returns 0, or ERR_USAGE for a number that is too large.
 */
int learning_embedding(const struct settings *settings, struct stack2vec_opts *said);

/* learning_author -- who is at the keyboard: --author, else the user's login name. */
const char *learning_author(const struct settings *settings);

struct label_line {
    const char *id;  /* as it is written */
    const char *foi; /* what stands before '#', "" if nothing */
    uint32_t rank, thread, index;
    enum label label; /* LABEL_NONE: clear */
};

/* Takes one line. Returns 0 or a negative ERR_*, which ends the reading. */
typedef int label_line_fn(void *ctx, const struct label_line *line);

/*
 * label_file_read -- all lines of a file, "-" for stdin. Other columns are ignored.
 * Returns 0, ERR_IO, ERR_FORMAT, or what fn said; the message names file and record.
 */
int label_file_read(const char *path, label_line_fn *fn, void *ctx);

#endif
