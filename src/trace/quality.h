/*
 * quality -- what was wrong with a trace, counted where it was found.
 *
 * Nothing that is skipped, repaired or guessed goes by silently: each kind has a counter per
 * location, and the table of these is part of every result. Kinds marked as damage make the
 * exit status 3; the others are worth knowing but leave the result whole.
 */
#ifndef SNAG_TRACE_QUALITY_H
#define SNAG_TRACE_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

/*  name, is damage, what a person reads */
#define QUALITY_KINDS(X)                                                                       \
    X(unmatched_leave, true, "leave events without an enter, skipped")                         \
    X(missing_leave, true, "calls without a leave event, ended where their caller went on")    \
    X(open_at_end, true, "calls still open at the end of the trace, ended there")              \
    X(crossed_leave, true, "leave events out of order, put back in order")                     \
    X(too_deep, true, "calls more than 65,535 deep, not stored")                               \
    X(too_many, true, "events beyond 4 billion calls of one location, not read")               \
    X(time_backwards, true, "events earlier than the one before, moved")                       \
    X(impossible_time, true, "events at times that no clock has, moved")                       \
    X(undefined_region, true, "calls of undefined regions")                                    \
    X(undefined_comm, true, "messages or collectives on undefined communicators, skipped")     \
    X(bad_value, true, "records with impossible values, skipped")                              \
    X(too_long, true, "names of more than 16,384 bytes, cut")                                  \
    X(bad_definition, true, "definitions that contradict others, skipped")                     \
    X(no_definitions, true, "locations known only by their file")                              \
    X(missing_definitions, true,                                                               \
      "locations whose local definitions are missing or unreadable (names may be wrong)")      \
    X(missing_file, true, "locations whose event file is missing or unreadable")               \
    X(truncated, true, "locations whose events end early")                                     \
    X(lost_event, true, "events that are missing from files that were cut off or damaged")     \
    X(reader_crash, true, "locations whose events crashed the reading library")                \
    X(reader_hang, true, "locations whose events hung the reading library")                    \
    X(bad_record, true, "records that could not be understood, skipped")                       \
    X(lost_call, true, "calls that the tracer could not record")                               \
    X(lost_rows, true, "events that their step announces and that could not be read")          \
    X(broken_off, true, "files or streams of TAU that were not closed by their writer")        \
    X(no_local_definitions, false, "locations without a local definition file")                \
    X(open_span, false, "asynchronous spans whose begin or end is not in the trace")           \
    X(crossed_call, false, "calls that cross another one of their thread, cut there")          \
    X(unfinished_request, false, "non-blocking operations without a completion record")        \
    X(unmatched_send, false, "messages sent whose receive is not in the trace")                \
    X(unmatched_recv, false, "messages received whose send is not in the trace")               \
    X(length_differs, false, "messages received with another length than sent")                \
    X(recv_before_send, false,                                                                 \
      "messages that arrive before they are sent (clocks disagree, or records are missing)")   \
    X(collective_order, false,                                                                 \
      "collectives left before the last rank entered (clocks disagree, or records are "        \
      "missing)")                                                                              \
    X(clock_shifted, false, "ranks whose clock was corrected by an estimate")                  \
    X(polls, false,                                                                            \
      "polls that found nothing, as part of the call before (MPI_Test and its like)")          \
    X(left_out, false, "calls that the tracer left out, as there were too many")               \
    X(lost_detail, false,                                                                      \
      "arguments of calls, or values of counters, beyond what is kept of a call or a run")     \
    X(ignored_event, false, "events of kinds that are not used")

enum quality_kind {
#define QUALITY_AS_ENUM(name, is_damage, text) QUALITY_##name,
    QUALITY_KINDS(QUALITY_AS_ENUM)
#undef QUALITY_AS_ENUM
        QUALITY_N
};

struct quality {
    uint64_t n[QUALITY_N];
};

/* quality_add -- into += from. */
void quality_add(struct quality *into, const struct quality *from);

/* quality_is_damaged -- true when any kind of damage was counted. */
bool quality_is_damaged(const struct quality *quality);

/* What each kind is called in files, means to a person, and whether it is damage. */
const char *quality_name(enum quality_kind kind);
const char *quality_text(enum quality_kind kind);
bool quality_kind_is_damage(enum quality_kind kind);

#endif
