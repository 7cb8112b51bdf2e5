/*
 * libadios2 -- ADIOS2's C interface, loaded when first asked for; see base/library.h.
 *
 * Debian 12 has none, clusters have one of `module load`, of another version each. What includes this calls its functions by
 * their names.
 */
#ifndef SNAG_TRACE_LIBADIOS2_H
#define SNAG_TRACE_LIBADIOS2_H

#include "base/library.h"
#include "trace/tau/adios2_abi.h"

/* What is used of it: a word here, and a line below. */
#define LIBADIOS2_FUNCTIONS(take)                                                              \
    take(adios2_init_serial) take(adios2_declare_io) take(adios2_set_engine)                   \
        take(adios2_set_parameter) take(adios2_open) take(adios2_close)                        \
            take(adios2_engine_get_type) take(adios2_begin_step) take(adios2_end_step)         \
                take(adios2_current_step) take(adios2_inquire_all_attributes)                  \
                    take(adios2_attribute_name) take(adios2_attribute_type)                    \
                        take(adios2_attribute_is_value) take(adios2_attribute_data)            \
                            take(adios2_inquire_variable) take(adios2_variable_type)           \
                                take(adios2_variable_ndims) take(adios2_variable_shape)        \
                                    take(adios2_variable_shapeid) take(adios2_set_selection)   \
                                        take(adios2_set_block_selection)                       \
                                            take(adios2_inquire_blockinfo)                     \
                                                take(adios2_free_blockinfo) take(adios2_get)

struct libadios2 {
    LIBADIOS2_FUNCTIONS(LIBRARY_MEMBER)
};

/*
 * libadios2_load -- loads it, if it is there; once.
 *   why  (size) out: what the loader said of the first name, where it is not
 */
bool libadios2_load(char *why, size_t size);

/* libadios2 -- its functions, after libadios2_load has said that they are there. */
const struct libadios2 *libadios2(void);

#define adios2_init_serial (libadios2()->adios2_init_serial)
#define adios2_declare_io (libadios2()->adios2_declare_io)
#define adios2_set_engine (libadios2()->adios2_set_engine)
#define adios2_set_parameter (libadios2()->adios2_set_parameter)
#define adios2_open (libadios2()->adios2_open)
#define adios2_close (libadios2()->adios2_close)
#define adios2_engine_get_type (libadios2()->adios2_engine_get_type)
#define adios2_begin_step (libadios2()->adios2_begin_step)
#define adios2_end_step (libadios2()->adios2_end_step)
#define adios2_current_step (libadios2()->adios2_current_step)
#define adios2_inquire_all_attributes (libadios2()->adios2_inquire_all_attributes)
#define adios2_attribute_name (libadios2()->adios2_attribute_name)
#define adios2_attribute_type (libadios2()->adios2_attribute_type)
#define adios2_attribute_is_value (libadios2()->adios2_attribute_is_value)
#define adios2_attribute_data (libadios2()->adios2_attribute_data)
#define adios2_inquire_variable (libadios2()->adios2_inquire_variable)
#define adios2_variable_type (libadios2()->adios2_variable_type)
#define adios2_variable_ndims (libadios2()->adios2_variable_ndims)
#define adios2_variable_shape (libadios2()->adios2_variable_shape)
#define adios2_variable_shapeid (libadios2()->adios2_variable_shapeid)
#define adios2_set_selection (libadios2()->adios2_set_selection)
#define adios2_set_block_selection (libadios2()->adios2_set_block_selection)
#define adios2_inquire_blockinfo (libadios2()->adios2_inquire_blockinfo)
#define adios2_free_blockinfo (libadios2()->adios2_free_blockinfo)
#define adios2_get (libadios2()->adios2_get)

#endif
