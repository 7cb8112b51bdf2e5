/*
 * ending -- a process that ends in another way than by exit: by _exit or abort, which MPI's own
 * errors come to as well, or by a signal that it does not handle. Its trace is completed first,
 * where it was a signal by a thread that waits for that from the begin on.
 *
 * What handles a signal may interrupt anything: it only wakes the thread, waits for it, but not
 * for ever, and leaves the rest to what would have happened without us. Nothing can be done
 * about SIGKILL.
 */
#ifndef SNAG_TRACER_ENDING_H
#define SNAG_TRACER_ENDING_H

/* ending_watch -- from now on session_abandon is called before such an end. Once. */
void ending_watch(void);

#endif
