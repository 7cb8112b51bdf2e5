/*
 * bp_index -- whether a BP4 or BP5 file is as long as it says.
 *
 * These are directories: md.idx has a record per step, which says where in md.0 the step's
 * metadata is. Where one of the two lost its end, ADIOS2 2.10 waits for the rest of md.0 for
 * ever, or ends early without a word. Layouts: adios2/toolkit/format/bp/bp4/BP4Serializer.cpp
 * and adios2/engine/bp5/BP5Writer.cpp.
 *
 *     md.idx   64 bytes of header, byte 37: the version
 *     BP4      records of 8 numbers of 64 bits, the 6th is where the step ends in md.0
 *     BP5      records: a letter, the number of bytes after it; for 's', first where the step
 *              begins in md.0 and how long it is there
 */
#ifndef SNAG_TRACE_BP_INDEX_H
#define SNAG_TRACE_BP_INDEX_H

enum bp_index {
    BP_INDEX_FITS,  /* or is not ours to know */
    BP_INDEX_SHORT, /* md.0 has more steps */
    BP_INDEX_LONG,  /* md.0 has fewer steps */
};

enum bp_index bp_index_check(const char *path);

#endif
