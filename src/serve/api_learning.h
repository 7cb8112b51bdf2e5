/*
 * api_learning -- the labels that a client sends, read as they stand, without a tree of JSON:
 * what is kept is 16 bytes for each.
 *
 *     {"labels": [{"tree": 12, "label": "abnormal"}, ...], "author": "me"}
 *
 * The author may be missing, and other members may be there.
 */
#ifndef SNAG_SERVE_API_LEARNING_H
#define SNAG_SERVE_API_LEARNING_H

#include "learn/learner.h"

#include <stddef.h>
#include <stdint.h>

#define LABEL_LIST_MAX_AUTHOR_BYTES 200 /* bytes */

struct label_list {
    struct label_item {
        int64_t tree;
        enum label label; /* LABEL_NONE clears */
    } * item;             /* [n] */
    size_t n, cap;
    char author[LABEL_LIST_MAX_AUTHOR_BYTES + 1]; /* "" when it is missing */
};

/*
 * label_list_read -- what these bytes say.
 *   list  zeroed; release it in any case
 * Returns 0 or ERR_USAGE. O(size); memory: 16 bytes per label, and the longest text in it.
 */
int label_list_read(struct label_list *list, const char *text, size_t size);
void label_list_release(struct label_list *list);

#endif
