/* complain -- what the tracer says to a person. */
#ifndef SNAG_TRACER_COMPLAIN_H
#define SNAG_TRACER_COMPLAIN_H

/*
 * complain -- one line on stderr: "snag-tracer: ...". Lower case, no full stop. Thread-safe.
 * Nothing is said where the program has put something else in stderr's place since it began, or
 * has closed it.
 */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
