/* An archive that one test writes: its setup and teardown. */
#ifndef SNAG_TESTS_OTF2_ARCHIVE_H
#define SNAG_TESTS_OTF2_ARCHIVE_H

#include "otf2_write.h"
#include "test.h"
#include "test_dir.h"

#include <stdio.h>
#include <string.h>

struct archive {
    char dir[32], path[64];
    struct otf2_write w;
};

static inline int setup(void **state)
{
    struct archive *a = calloc(1, sizeof *a);

    strcpy(a->dir, "/tmp/snag-otf2-XXXXXX");
    assert_non_null(test_dir(a->dir));
    snprintf(a->path, sizeof a->path, "%s/traces.otf2", a->dir);
    otf2_write_open(&a->w, a->dir, 1000000000);
    *state = a;
    return 0;
}

static inline int teardown(void **state)
{
    struct archive *a = *state;

    fs_remove_tree(a->dir);
    free(a);
    return 0;
}

#endif
