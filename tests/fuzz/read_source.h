/* read_source -- open a trace and read all its events, as ingest does; errors are fine. */
#ifndef SNAG_TESTS_READ_SOURCE_H
#define SNAG_TESTS_READ_SOURCE_H

void read_source(const char *path);

#endif
