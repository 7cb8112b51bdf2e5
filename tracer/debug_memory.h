/*
 * debug_memory -- memory for libdw and libelf, when the tracer asks them: not from the
 * program's malloc, as these crash where that has none left. Without any debug_safely returns
 * false (debug_info.h).
 */
#ifndef SNAG_TRACER_DEBUG_MEMORY_H
#define SNAG_TRACER_DEBUG_MEMORY_H

/* debug_memory_free -- what libdw says is to be freed by who asked. */
void debug_memory_free(void *memory);

#endif
