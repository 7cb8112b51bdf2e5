/* source_otf2 -- OTF2 archives, as Score-P, TAU, EZTrace and Extrae write them. */
#ifndef SNAG_TRACE_SOURCE_OTF2_H
#define SNAG_TRACE_SOURCE_OTF2_H

#include "trace/source.h"

extern const struct source_ops source_otf2_ops;

#endif
