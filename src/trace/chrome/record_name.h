/*
 * record_name -- which function a record of Chrome JSON is of.
 *
 * Writers put numbers into names that are another one for every call: of a step
 * (ProfilerStep#12, "iteration 7"), of an object (<built-in method to of Tensor object at
 * 0x7f3c...>). As names of regions these would be as many functions as there are calls, so
 * names are kept without.
 */
#ifndef SNAG_TRACE_RECORD_NAME_H
#define SNAG_TRACE_RECORD_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * record_name -- name without its numbers.
 *   out     (size) the same where there are none
 *   number  out: the last that was taken away; untouched when there was none
 * Returns true when it is that of a numbered step: a step, an iteration, a batch, an epoch.
 *
 * Taken away are "#N", a number in the end after a blank, and one after a step's word with its
 * separator, and what tells one module from others of its class (nn.Module: Linear_3); an address
 * becomes "0x". Any other number is part of the name: gemm_128x64, file.py(12), Linear_3.
 */
bool record_name(const char *name, char *out, size_t size, uint64_t *number);

#endif
