/*
 * Programs that write down what they did, and what went wrong.
 *
 * A program of the laboratory does its work by truth_work, says when it sends, receives and
 * meets others, and has nothing else to do with what goes wrong: that comes from the
 * environment (TRUTH_DISTURB, README.md), happens inside of truth_work, and is written down
 * there, as is how long everything really took. model.py plays the logs again without what went
 * wrong, which is what it cost.
 *
 * Work is either counted loops of arithmetic, or time that is slept in small pieces
 * (TRUTH_WORK=spin, wait; README.md says when which). All functions may be called by several
 * threads, each of which has said its number.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the environment and begins the log of this rank. After MPI_Init, if there is MPI. */
void truth_begin(int rank, int n_ranks);

/* Writes the log, into TRUTH_DIR/log.RANK. Before MPI_Finalize. */
void truth_end(void);

/* How many steps the program is to do (TRUTH_STEPS, or else). */
int truth_steps(int otherwise);

/* The number of the calling thread, 0 for who does not say; at most 63. */
void truth_thread(int thread);

/* A step begins, from 0; said by thread 0, before its work. */
void truth_step(int step);

/*
 * Work of ms milliseconds in a function of the program, within 2 %, and what is to go wrong
 * there in this step. The function must call this itself: what it takes is its exclusive time
 * in a trace.
 */
void truth_work(const char *function, double ms);

/*
 * How many pieces this rank has to do where all have base: more with the disturbance
 * "imbalance". What truth_work does then, beyond base calls, counts as gone wrong. Ends with
 * the next step.
 */
int truth_pieces(int base);

/* Now, for what follows: the begin of a call of MPI. CLOCK_MONOTONIC, ns. */
int64_t truth_now(void);

/* In place of a peer: all other ranks, as of a collective that does not block. */
#define TRUTH_ALL (-1)

/* A message to peer is on its way from here on; it is received without waiting for the
 * receiver's consent. */
void truth_sends(int peer);

/* A call that began then has ended now, with a message of peer. Several messages of one call:
 * the same begin. */
void truth_received(int64_t begin, int peer);

/*
 * A call that began then has ended now, that waited for all of n ranks, first, first + stride,
 * ...; with a root only for that (root >= 0: a broadcast), or that only as the root (root <=
 * -2: a reduction to rank -2 - root); -1: all for all.
 */
void truth_met(int64_t begin, int first, int n, int stride, int root);

/*
 * A team of n threads of this rank: each of them has begun its part; has ended it; and thread 0
 * goes on behind the end of the team. What the others do in between is to wait for the next
 * team.
 */
void truth_forked(int n);
void truth_joins(int n);
void truth_joined(int n);

/* What goes wrong inside of a collective ("collective"): called by an operation of the program
 * that MPI_Allreduce calls. */
void truth_in_collective(void);

#ifdef __cplusplus
}
#endif
#endif
