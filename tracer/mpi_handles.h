/*
 * mpi_handles -- handles of MPI as a wrapper is given them, whatever language it was called
 * from.
 *
 * A program of C has them as they are, one of Fortran as integers. What is recorded of an array
 * of them asks for one after the other; only those that are asked for are converted.
 */
#ifndef SNAG_TRACER_MPI_HANDLES_H
#define SNAG_TRACER_MPI_HANDLES_H

#include <mpi.h>
#include <stdint.h>
#include <string.h>

/* One of the two is NULL. */
struct request_list {
    const MPI_Request *c;
    const MPI_Fint *fortran;
};
struct message_list {
    const MPI_Message *c;
    const MPI_Fint *fortran;
};
struct type_list {
    const MPI_Datatype *c;
    const MPI_Fint *fortran;
};
struct status_list {
    const MPI_Status *c;
    const MPI_Fint *fortran;
};

/* Positions in an array; the first is 0 in C, 1 in Fortran. MPICH before 4.1 gives programs of
 * mpi_f08 those of C (pmodels/mpich#6270). */
#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000
#define FIRST_INDEX_F08 0
#else
#define FIRST_INDEX_F08 1
#endif
struct index_list {
    const int *value;
    int first;
};

#define MPI_FINT_STATUS (sizeof(MPI_Status) / sizeof(MPI_Fint)) /* of one status */

/* A request or a matched message: a pointer or an int, as the MPI library likes, and the
 * variable of the program that it is in. */
struct handle_key {
    uint64_t bits;
    const void *where;
};

static inline struct request_list c_request_list(const MPI_Request *list)
{
    return (struct request_list){.c = list};
}

static inline struct request_list f_request_list(const MPI_Fint *list)
{
    return (struct request_list){.fortran = list};
}

static inline struct message_list c_message_list(const MPI_Message *list)
{
    return (struct message_list){.c = list};
}

static inline struct message_list f_message_list(const MPI_Fint *list)
{
    return (struct message_list){.fortran = list};
}

static inline struct type_list c_type_list(const MPI_Datatype *list)
{
    return (struct type_list){.c = list};
}

static inline struct type_list f_type_list(const MPI_Fint *list)
{
    return (struct type_list){.fortran = list};
}

static inline struct status_list c_status_list(const MPI_Status *list)
{
    return (struct status_list){.c = list};
}

static inline struct status_list f_status_list(const MPI_Fint *list)
{
    return (struct status_list){.fortran = list};
}

static inline struct index_list c_index_list(const int *list)
{
    return (struct index_list){list, 0};
}

static inline struct index_list f_index_list(const int *list)
{
    return (struct index_list){list, 1};
}

static inline struct index_list f08_index_list(const int *list)
{
    return (struct index_list){list, FIRST_INDEX_F08};
}

/* index_at -- counted from 0; negative for MPI_UNDEFINED. */
static inline int index_at(struct index_list list, int i)
{
    return list.value[i] == MPI_UNDEFINED ? -1 : list.value[i] - list.first;
}

static inline MPI_Datatype type_at(struct type_list list, int i)
{
    return list.c ? list.c[i] : PMPI_Type_f2c(list.fortran[i]);
}

/* status_at -- own: where it is put if it has to be converted. */
static inline const MPI_Status *status_at(struct status_list list, int i, MPI_Status *own)
{
    if (list.c)
        return &list.c[i];
    PMPI_Status_f2c(&list.fortran[(size_t)i * MPI_FINT_STATUS], own);
    return own;
}

static inline uint64_t request_bits(MPI_Request request)
{
    uint64_t bits = 0;

    memcpy(&bits, &request, sizeof request);
    return bits;
}

/* request_key, message_key -- of the i-th, the only one. */
static inline struct handle_key request_key(struct request_list list, int i)
{
    if (list.c)
        return (struct handle_key){request_bits(list.c[i]), &list.c[i]};
    return (struct handle_key){request_bits(PMPI_Request_f2c(list.fortran[i])),
                               &list.fortran[i]};
}

static inline struct handle_key message_key(struct message_list list)
{
    MPI_Message message = list.c ? *list.c : PMPI_Message_f2c(*list.fortran);
    struct handle_key key = {0, list.c ? (const void *)list.c : list.fortran};

    memcpy(&key.bits, &message, sizeof message);
    return key;
}

#endif
