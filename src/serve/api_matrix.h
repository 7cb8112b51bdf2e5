/*
 * api_matrix -- who sent how much to whom in a window: sums of its messages by the rank that
 * sends and the rank that receives. With many ranks, neighbouring ones are one row and column.
 *
 *                to  0   1   2   3
 *      from  0       .  12   .   .      a message belongs to the window in which it was sent
 *            1       .   .  12   .
 *
 * The columns are as somebody wrote them: nothing in them is believed.
 */
#ifndef SNAG_SERVE_API_MATRIX_H
#define SNAG_SERVE_API_MATRIX_H

#include "run/levels.h"
#include "serve/arrows.h"
#include "trace/definitions.h"

#include <stdbool.h>
#include <stdint.h>

#define MATRIX_ALL 500000u /* records in a window that are all looked at; of more, as many */

struct matrix_cell {
    double messages, bytes;
    double transfer_ns, longest_ns; /* from where they were sent to where they had arrived */
    /* The receiver was there before the sender: how long it waited (late sender, as in
     * ranks/late_senders.h). */
    double wait_ns, longest_wait_ns;
};

struct message_matrix {
    uint32_t *rank; /* [n_ranks] those of the locations, ascending */
    uint32_t n_ranks;
    uint32_t ranks_per_row;
    uint32_t n_rows;
    struct matrix_cell *cell; /* [n_rows * n_rows] by sender, then receiver */
    double unmatched;         /* sent, and never seen to arrive */
    bool is_estimate;         /* of a part of the messages; the longest are of these */
};

struct matrix_opts {
    uint32_t most_rows;
    const bool *is_end; /* (locations of the run) NULL: all are */
};

/*
 * message_matrix_of -- the messages sent in a window, both ends on its locations.
 *   matrix     zeroed; release it in any case
 *   levels     of these columns, or NULL
 *   opts       how many rows at most, >= 1; and which locations one end has to be on
 * O(records in the window), never more than MATRIX_ALL of them, and O(locations + rows^2).
 */
void message_matrix_of(struct message_matrix *matrix, const struct columns *columns,
                       const struct levels *levels, const struct definitions *defs,
                       const struct arrows_window *window, const struct matrix_opts *opts);
void message_matrix_release(struct message_matrix *matrix);

#endif
