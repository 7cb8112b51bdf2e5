/* complain -- what the tracer says to a person, and memory that is there or ends the program.
 */
#ifndef SNAG_TRACER_COMPLAIN_H
#define SNAG_TRACER_COMPLAIN_H

#include <stddef.h>

/* complain -- one line on stderr: "snag-tracer: ...". Lower case, no full stop. Thread-safe. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* must_resize -- realloc to n objects of width bytes, or end the program with a line. */
void *must_resize(void *old, size_t n, size_t width);

/* must_copy -- strdup, or end the program with a line. */
char *must_copy(const char *text);

#endif
