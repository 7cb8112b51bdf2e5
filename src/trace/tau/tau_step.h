/*
 * tau_step -- an I/O step as TAU writes it with its ADIOS2 plugin, in blocks of bytes: what
 * goes between the process that reads with ADIOS2 and the one that wants to know.
 *
 * A step is some blocks of attributes, messages, counters, then events, and an end. Rows are of
 * 64-bit numbers:
 *
 *     events    program  rank  thread  event type  timer    time
 *     messages  program  rank  thread  event type  tag      partner  bytes  time
 *     counters  program  rank  thread  counter     value    time
 *
 * Time is in microseconds. Attributes are pairs of zero-terminated strings and say what the
 * numbers mean: "timer 12", "main"; "event_type 0", "ENTRY"; "counter 3", "Correlation ID";
 * "MetaData:0:3:0:Hostname" (or without the program), "node17". Only new ones are told.
 */
#ifndef SNAG_TRACE_TAU_STEP_H
#define SNAG_TRACE_TAU_STEP_H

#include <stdint.h>

enum tau_block {
    TAU_ATTRIBUTES,
    TAU_MESSAGES,
    TAU_COUNTERS,
    TAU_EVENTS,
    TAU_STEP_END, /* struct tau_step_end */
    TAU_BROKEN,   /* why nothing more comes, a string; without it the writer has closed it */
};

#define TAU_EVENT_COLUMNS 6
#define TAU_MESSAGE_COLUMNS 8
#define TAU_COUNTER_COLUMNS 6

struct tau_step_end {
    uint64_t n_short; /* rows that the step says it has, and could not be read */
    uint64_t n_bad;   /* variables or attributes that are not what they should be */
};

#endif
