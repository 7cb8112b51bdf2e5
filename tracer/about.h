/*
 * about -- what a person would want to know of the program that was recorded, when its run is
 * compared with another: said in the archive as properties of the process.
 */
#ifndef SNAG_TRACER_ABOUT_H
#define SNAG_TRACER_ABOUT_H

#define MAX_ABOUT_BYTES 1024 /* bytes of a text, with its end */

/*
 * about_each -- call fn for the command line, who compiled the program (the .comment section of
 * its file), the version of the MPI library, OMP_NUM_THREADS, and what the run is called
 * (SNAG_TRACER_RUN_ID, or the job of Slurm, PBS or LSF), as far as they are known. Texts last
 * until fn returns.
 */
void about_each(void (*fn)(void *ctx, const char *key, const char *value), void *ctx);

#endif
