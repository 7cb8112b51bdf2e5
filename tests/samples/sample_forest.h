/*
 * sample_forest -- forests for tests, said in one line: "A(B(D E) C) A(C)" is two trees. Times
 * stand after a name, "B:30", as exclusive nanoseconds; 10 where nothing is said.
 */
#ifndef SNAG_TESTS_SAMPLE_FOREST_H
#define SNAG_TESTS_SAMPLE_FOREST_H

#include "forest/forest.h"
#include "trace/definitions.h"

/* Regions are added to defs; every name is the letters up to a bracket, space or colon. */
void sample_forest(const char *text, struct definitions *defs, struct forest *forest);

#endif
