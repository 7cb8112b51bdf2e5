/*
 * adios2_abi -- what is called of ADIOS2's C interface, as its library has it: from 2.8 to 2.12 the same.
 *
 * Written down here because the library is loaded when it is first needed (libadios2.h): so nothing of it has
 * to be there to build. tests/support/abi_test.c includes <adios2_c.h> first, and has the compiler compare.
 */
#ifndef SNAG_TRACE_ADIOS2_ABI_H
#define SNAG_TRACE_ADIOS2_ABI_H

#include <stddef.h>

typedef struct adios2_adios adios2_adios;
typedef struct adios2_io adios2_io;
typedef struct adios2_engine adios2_engine;
typedef struct adios2_variable adios2_variable;
typedef struct adios2_attribute adios2_attribute;

#define ADIOS2_ABI_CONSTANTS(take)                                                             \
    take(adios2_error_none, 0) take(adios2_mode_read, 2) take(adios2_mode_sync, 5)             \
        take(adios2_step_mode_read, 2) take(adios2_shapeid_global_array, 1)                    \
            take(adios2_shapeid_local_array, 4) take(adios2_type_string, 0)                    \
                take(adios2_type_int32_t, 7) take(adios2_type_int64_t, 8)                      \
                    take(adios2_type_uint32_t, 11) take(adios2_type_uint64_t, 12)              \
                        take(adios2_step_status_other_error, -1)                               \
                            take(adios2_step_status_not_ready, 1)                              \
                                take(adios2_step_status_end_of_stream, 2)

/* Enumerations, as the compiler sees them: unsigned without a negative value. */
typedef unsigned adios2_abi_choice;
typedef int adios2_abi_signed_choice;

struct adios2_abi_block {
    int writer;
    size_t block;
    size_t *Start, *Count;
    struct {
        long double widest;
    } least, most, value;
};
struct adios2_abi_blocks {
    int Dims;
    size_t *Shape;
    int is_value, is_reversed;
    size_t nblocks;
    struct adios2_abi_block *BlocksInfo;
};

#ifndef ADIOS2_BINDINGS_C_ADIOS2_C_TYPES_H_
#define ABI_CONSTANT(name, value) name = (value),
enum { ADIOS2_ABI_CONSTANTS(ABI_CONSTANT) };
#undef ABI_CONSTANT
typedef struct adios2_abi_blocks adios2_varinfo;
#endif

adios2_adios *adios2_init_serial(void);
adios2_io *adios2_declare_io(adios2_adios *adios, const char *name);
adios2_abi_choice adios2_set_engine(adios2_io *io, const char *type);
adios2_abi_choice adios2_set_parameter(adios2_io *io, const char *key, const char *value);
adios2_engine *adios2_open(adios2_io *io, const char *name, adios2_abi_choice mode);
adios2_abi_choice adios2_close(adios2_engine *engine);
adios2_abi_choice adios2_engine_get_type(char *type, size_t *size, const adios2_engine *engine);
adios2_abi_choice adios2_begin_step(adios2_engine *engine, adios2_abi_choice mode,
                                    float timeout_s, adios2_abi_signed_choice *status);
adios2_abi_choice adios2_end_step(adios2_engine *engine);
adios2_abi_choice adios2_current_step(size_t *step, const adios2_engine *engine);
adios2_abi_choice adios2_inquire_all_attributes(adios2_attribute ***attributes, size_t *n,
                                                adios2_io *io);
adios2_abi_choice adios2_attribute_name(char *name, size_t *size,
                                        const adios2_attribute *attribute);
adios2_abi_choice adios2_attribute_type(adios2_abi_signed_choice *type,
                                        const adios2_attribute *attribute);
adios2_abi_choice adios2_attribute_is_value(adios2_abi_choice *is_value,
                                            const adios2_attribute *attribute);
adios2_abi_choice adios2_attribute_data(void *data, size_t *size,
                                        const adios2_attribute *attribute);
adios2_variable *adios2_inquire_variable(adios2_io *io, const char *name);
adios2_abi_choice adios2_variable_type(adios2_abi_signed_choice *type,
                                       const adios2_variable *variable);
adios2_abi_choice adios2_variable_ndims(size_t *n, const adios2_variable *variable);
adios2_abi_choice adios2_variable_shape(size_t *shape, const adios2_variable *variable);
adios2_abi_choice adios2_variable_shapeid(adios2_abi_signed_choice *id,
                                          const adios2_variable *variable);
adios2_abi_choice adios2_set_selection(adios2_variable *variable, size_t n_dims,
                                       const size_t *start, const size_t *count);
adios2_abi_choice adios2_set_block_selection(adios2_variable *variable, size_t block);
adios2_varinfo *adios2_inquire_blockinfo(adios2_engine *engine, adios2_variable *variable,
                                         size_t step);
void adios2_free_blockinfo(adios2_varinfo *info);
adios2_abi_choice adios2_get(adios2_engine *engine, adios2_variable *variable, void *data,
                             adios2_abi_choice launch);

#endif
