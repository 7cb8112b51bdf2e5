/*
 * sample -- where a program is between its calls of MPI, at a rate: $SNAG_TRACER_SAMPLE, as
 * "200Hz". Each thread has a timer of its own processor time, whose signal finds the functions
 * that are on its stack, as a call of MPI does (stack.h): what computes and calls no MPI has
 * calls too, whose begin and end are known to lie between two samples.
 *
 * The signal is SIGURG. It is the one that may come at any time without harm: whoever does not
 * handle it never notices, so one that is pending when another program is executed in this
 * one's place does not end that. A program that handles it itself is not sampled, and told so.
 * It comes while a thread computes, not while it waits; a system call that it interrupts all
 * the same goes on (SA_RESTART), but for those that never do: poll, select, epoll_wait,
 * nanosleep and their like, which return EINTR. See signal(7).
 *
 * The handler takes no lock and allocates nothing. What it needs and does not have, the rules
 * of functions that were not met yet and room for records, a thread behind its back supplies;
 * the sample is dropped.
 *
 * The functions come from stacks then, not from hooks. What runs within MPI is not sampled.
 */
#ifndef SNAG_TRACER_SAMPLE_H
#define SNAG_TRACER_SAMPLE_H

#include "recorder.h"

/* sample_begin -- the calling thread, and all that have recorders from now on, are sampled, if
 * the environment says so. Once. */
void sample_begin(void);

/* sample_thread, sample_thread_ends -- for the calling thread. */
void sample_thread(struct recorder *r);
void sample_thread_ends(void);

/* sample_end -- no samples any more; before the session ends. If there were any, the session
 * knows of them when this returns. */
void sample_end(void);

#endif
