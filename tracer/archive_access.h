/* archive_access -- records of one-sided communication and of files, as libotf2 wants them. */
#ifndef SNAG_TRACER_ARCHIVE_ACCESS_H
#define SNAG_TRACER_ARCHIVE_ACCESS_H

#include "recorder.h"

#include <otf2/otf2.h>

/* archive_access_is -- whether a record is one of them. */
static inline bool archive_access_is(uint32_t kind)
{
    return kind >= RECORD_WINDOW_CREATE && kind <= RECORD_IO_COMPLETE;
}

OTF2_ErrorCode archive_access_write(OTF2_EvtWriter *writer, const union slot *slot);

#endif
