/*
 * loop_watch -- the loop of a program while it runs: found in its first calls, then followed,
 * so that all that comes after sees its iterations as calls of an ordinary function,
 * loop@FUNCTION.
 *
 * It stands between the events of a stream and the call stacks. While it learns it keeps all
 * calls of all locations, and at ends of steps, whenever there are half as many again as at the
 * last try, looks for loops in them as after the run (loops_find, loops_elect). A loop is taken
 * when it goes round on all locations that have it, goes on, and was there at the try before
 * with the same iterations. Then all calls that were kept are forgotten, and iterations begin
 * wherever its border (forest/loop_border.h) comes: from the next one on, nothing is made up
 * for those that it was learnt from. They keep their numbers: the first that is followed has
 * that which it has among all that have begun on its location.
 */
#ifndef SNAG_LIVE_LOOP_WATCH_H
#define SNAG_LIVE_LOOP_WATCH_H

#include "stack/callstack.h"
#include "trace/definitions.h"
#include "trace/event.h"

#include <stddef.h>
#include <stdint.h>

#define LOOP_WATCH_MAX_KEPT                                                                    \
    2000000u /* calls, messages, collectives that are kept; 50 bytes each                      \
              */

enum loop_watch_state {
    LOOP_NONE, /* nobody asked for one */
    LOOP_SOUGHT,
    LOOP_FOLLOWED,
    LOOP_NOT_FOUND, /* in as much as is kept; not looked for any more */
};

struct loop_watch;

/*
 * loop_watch_new -- look for a loop.
 *   pattern  "loop": the best one; else its name, or a part of it. Copied
 *   most     records that are kept, as LOOP_WATCH_MAX_KEPT
 */
struct loop_watch *loop_watch_new(const char *pattern, size_t most);
void loop_watch_free(struct loop_watch *watch); /* NULL is harmless */

/*
 * loop_watch_push -- the events [begin, end) of a batch, with iterations between them.
 *   location  < defs->n_locations
 *   into      gets them
 */
void loop_watch_push(struct loop_watch *watch, const struct definitions *defs,
                     uint32_t location, const struct event_batch *batch, size_t begin,
                     size_t end, struct callstack *into);

/* loop_watch_step -- a step is over: look for the loop, if it is time. A loop that is taken
 * gets a region. */
void loop_watch_step(struct loop_watch *watch, struct definitions *defs);

/* loop_watch_end -- no more events of a location: an iteration that is open is cut. */
void loop_watch_end(struct loop_watch *watch, uint32_t location, uint64_t time_ns,
                    struct callstack *into);

/* loop_watch_state -- LOOP_NONE for NULL. */
enum loop_watch_state loop_watch_state(const struct loop_watch *watch);

/* loop_watch_state_name -- "sought", "followed", "not_found"; NULL for LOOP_NONE. */
const char *loop_watch_state_name(enum loop_watch_state state);

/* loop_watch_first -- the number of the first iteration of a location that is followed. */
uint32_t loop_watch_first(const struct loop_watch *watch, uint32_t location);

#endif
