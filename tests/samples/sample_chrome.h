/* A file of Chrome's JSON, written as text, whose calls come back through the typical reader. */
#ifndef SAMPLE_CHROME_H
#define SAMPLE_CHROME_H

#include "trace/source.h"

#include <stddef.h>
#include <stdint.h>

/* sample_chrome_setup, sample_chrome_teardown -- for a group of tests: the file is there. */
extern char sample_chrome_path[];
int sample_chrome_setup(void **state);
int sample_chrome_teardown(void **state);

/* sample_chrome_write -- this is in the file. */
void sample_chrome_write(const void *data, size_t n);

/* sample_chrome_open -- that text is, which can be opened. */
void sample_chrome_open(struct source *source, const char *text);

/*
 * sample_chrome_events -- the events of a location as "main+0 f+10 f-20 main-30".
 *   quality  what is counted there is added; may be NULL
 * Valid until the next call.
 */
const char *sample_chrome_events(struct source *source, uint32_t location,
                                 struct quality *quality);

#endif
