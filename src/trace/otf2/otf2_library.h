/*
 * otf2_library -- events of OTF2 archives that only libotf2 can decode: compressed ones, and
 * those that SIONlib keeps in containers. All others are decoded by otf2_decode, which is
 * several times as fast and does not believe its input.
 */
#ifndef SNAG_TRACE_OTF2_LIBRARY_H
#define SNAG_TRACE_OTF2_LIBRARY_H

#include "trace/otf2/otf2_events.h"

/*
 * otf2_library_callbacks -- what to register with a local event reader, with a struct
 * otf2_events as user data. Free with OTF2_EvtReaderCallbacks_Delete.
 */
OTF2_EvtReaderCallbacks *otf2_library_callbacks(void);

#endif
