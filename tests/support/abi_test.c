/*
 * What our headers say of libraries that are loaded when they are needed is what these libraries' own headers
 * say: the compiler compares both declarations of each function, and asserts the rest. Of headers that are not
 * here nothing is compared; when it runs, it says which.
 */
#include <stddef.h>
#include <stdio.h>

#define SAME(name, value) _Static_assert((long)(name) == (long)(value), #name);

#if __has_include(<cblas.h>)
#include <cblas.h>
#define HAS_CBLAS 1
#endif
#if __has_include(<lapacke.h>)
#include <lapacke.h>
#define HAS_LAPACKE 1
#endif
#include "base/blas_abi.h"
#ifdef HAS_CBLAS
CBLAS_ABI_CONSTANTS(SAME)
#endif
#ifdef HAS_LAPACKE
LAPACKE_ABI_CONSTANTS(SAME)
#endif

#if __has_include(<zmq.h>)
#include <zmq.h>
#include "ps/zmq_abi.h"
#define HAS_ZMQ 1
ZMQ_ABI_CONSTANTS(SAME)
SAME(sizeof(struct zmq_abi_msg), sizeof(zmq_msg_t))
SAME(_Alignof(struct zmq_abi_msg), _Alignof(zmq_msg_t))
SAME(sizeof(struct zmq_abi_pollitem), sizeof(zmq_pollitem_t))
SAME(offsetof(struct zmq_abi_pollitem, fd), offsetof(zmq_pollitem_t, fd))
SAME(offsetof(struct zmq_abi_pollitem, events), offsetof(zmq_pollitem_t, events))
SAME(offsetof(struct zmq_abi_pollitem, revents), offsetof(zmq_pollitem_t, revents))
#endif

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#include "postgres/pq_abi.h"
#define HAS_PQ 1
PQ_ABI_CONSTANTS(SAME)
SAME(sizeof(struct pq_abi_option), sizeof(PQconninfoOption))
SAME(offsetof(struct pq_abi_option, val), offsetof(PQconninfoOption, val))
SAME(offsetof(struct pq_abi_option, dispchar), offsetof(PQconninfoOption, dispchar))
SAME(offsetof(struct pq_abi_option, dispsize), offsetof(PQconninfoOption, dispsize))
#endif

#if __has_include(<adios2_c.h>)
#include <adios2_c.h>
#include "trace/tau/adios2_abi.h"
ADIOS2_ABI_CONSTANTS(SAME)
SAME(sizeof(struct adios2_abi_block), sizeof(adios2_blockinfo))
SAME(offsetof(struct adios2_abi_block, Count), offsetof(adios2_blockinfo, Count))
SAME(sizeof(struct adios2_abi_blocks), sizeof(adios2_varinfo))
SAME(offsetof(struct adios2_abi_blocks, nblocks), offsetof(adios2_varinfo, nblocks))
SAME(offsetof(struct adios2_abi_blocks, BlocksInfo), offsetof(adios2_varinfo, BlocksInfo))
#endif

#define SKIPPED 77

int main(void)
{
    const char *missing = "";

#ifndef HAS_CBLAS
    missing = "OpenBLAS";
#endif
#ifndef HAS_LAPACKE
    missing = "LAPACKE";
#endif
#ifndef HAS_ZMQ
    missing = "ZeroMQ";
#endif
#ifndef HAS_PQ
    missing = "libpq";
#endif
    if (missing[0] == '\0')
        return 0;
    printf("skipped: headers of %s were not here when this was built\n", missing);
    return SKIPPED;
}
