/* compare_functions -- what each function did in the whole run, before and after. */
#ifndef SNAG_COMPARE_COMPARE_FUNCTIONS_H
#define SNAG_COMPARE_COMPARE_FUNCTIONS_H

#include "compare/alignment.h"

/* compare_functions -- fills in run_ns and function of a comparison. O(functions of all runs).
 */
void compare_functions(const struct alignment *a, struct comparison *out);

#endif
