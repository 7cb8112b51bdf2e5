/*
 * A way in words, and back: "more calls of ev_tally" is what run.db keeps of it, and what a person types.
 * Which way an execution is strange in is said by the sentence (why.c), as it is what that speaks of first.
 */
#include "explain/why.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

const struct region *way_function(const struct why *why, struct way way)
{
    bool is_of_path = way.kind == WAY_LONGER || way.kind == WAY_SHORTER ||
                      way.kind == WAY_COMBINATION || way.kind == WAY_ORDER;

    if (way.kind == WAY_MORE_CALLS || way.kind == WAY_FEWER_CALLS)
        return &why->defs->region[way.number];
    return is_of_path && way.number != PATH_NONE
               ? &why->defs->region[why->model->paths.region[way.number]]
               : NULL;
}

static const char *const way_words[N_WAY_KINDS] = {
    [WAY_NONE] = "",
    [WAY_LONGER] = "%s takes longer",
    [WAY_WAIT] = "calls of MPI take longer",
    [WAY_BARRIER] = "waits for threads take longer",
    [WAY_SHORTER] = "%s takes less",
    [WAY_LONGER_IN_ALL] = "all calls together take longer",
    [WAY_SHORTER_IN_ALL] = "all calls together take less",
    [WAY_MORE_CALLS] = "more calls of %s",
    [WAY_FEWER_CALLS] = "fewer calls of %s",
    [WAY_COMBINATION] = "rare calls in %s",
    [WAY_ORDER] = "another order of the calls in %s",
    [WAY_OPEN] = "does not end",
};

char *way_say(const struct why *why, struct way way, char out[WAY_SIZE])
{
    const struct region *region = way_function(why, way);
    const char *function = NULL;
    char name[WHY_NAME_SIZE];

    if (way.kind == WAY_LONGER || way.kind == WAY_SHORTER)
        function = why_path_name(why, way.number, name);
    else if (region)
        function = region->short_name;
    else if (way.kind == WAY_COMBINATION || way.kind == WAY_ORDER)
        function = "calls never seen there";
    if (function)
        snprintf(out, WAY_SIZE, way_words[way.kind], function);
    else
        snprintf(out, WAY_SIZE, "%s", way_words[way.kind]);
    return out;
}

/* From behind: a name may end like the sentences that begin with one, which are before. */
enum way_kind way_read(const char *what)
{
    enum way_kind kind = N_WAY_KINDS - 1;
    char pattern[WAY_SIZE];

    if (strcmp(what, "barriers of threads take longer") == 0) /* as runs of before have it */
        return WAY_BARRIER;
    for (; kind > WAY_NONE; kind--) {
        snprintf(pattern, sizeof pattern, way_words[kind], "?*");
        if (fnmatch(pattern, what, 0) == 0)
            break;
    }
    return kind;
}
