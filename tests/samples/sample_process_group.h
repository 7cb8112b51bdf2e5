/*
 * sample_process_group -- a process group for tests: children of the test that send each other
 * bytes by sockets. The program that uses it must export its symbols (ENABLE_EXPORTS), as it is
 * its own library.
 */
#ifndef SNAG_TESTS_SAMPLE_PROCESS_GROUP_H
#define SNAG_TESTS_SAMPLE_PROCESS_GROUP_H

#include "base/process_group.h"

#define SAMPLE_PROCESS_GROUP_MAX_PROCESSES 16

/*
 * sample_process_group_run -- fn(ctx, me) in n processes, of which the caller is number 0; each
 * may call process_group_join with no library.
 * Returns how many of the others did not return 0.
 */
int sample_process_group_run(unsigned n, int (*fn)(void *ctx, unsigned me), void *ctx);

#endif
