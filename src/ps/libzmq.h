/*
 * libzmq -- ZeroMQ, loaded when first asked for (base/library.h).
 *
 * Its functions are called by their own names.
 */
#ifndef SNAG_PS_LIBZMQ_H
#define SNAG_PS_LIBZMQ_H

#include "base/library.h"
#include "ps/zmq_abi.h"

/* What is used of it: a word here, and a line below. */
#define LIBZMQ_FUNCTIONS(take)                                                                 \
    take(zmq_bind) take(zmq_close) take(zmq_connect) take(zmq_ctx_new) take(zmq_ctx_set)       \
        take(zmq_ctx_shutdown) take(zmq_ctx_term) take(zmq_curve_keypair)                      \
            take(zmq_curve_public) take(zmq_getsockopt) take(zmq_has) take(zmq_msg_close)      \
                take(zmq_msg_data) take(zmq_msg_init) take(zmq_msg_more) take(zmq_msg_recv)    \
                    take(zmq_msg_send) take(zmq_msg_size) take(zmq_poll) take(zmq_proxy)       \
                        take(zmq_recv) take(zmq_send) take(zmq_setsockopt) take(zmq_socket)    \
                            take(zmq_strerror) take(zmq_z85_decode)

struct libzmq {
    LIBZMQ_FUNCTIONS(LIBRARY_MEMBER)
};

/* libzmq -- its functions. The first call, of any thread, loads it: some milliseconds. */
const struct libzmq *libzmq(void);

#define zmq_bind (libzmq()->zmq_bind)
#define zmq_close (libzmq()->zmq_close)
#define zmq_connect (libzmq()->zmq_connect)
#define zmq_ctx_new (libzmq()->zmq_ctx_new)
#define zmq_ctx_set (libzmq()->zmq_ctx_set)
#define zmq_ctx_shutdown (libzmq()->zmq_ctx_shutdown)
#define zmq_ctx_term (libzmq()->zmq_ctx_term)
#define zmq_curve_keypair (libzmq()->zmq_curve_keypair)
#define zmq_curve_public (libzmq()->zmq_curve_public)
#define zmq_getsockopt (libzmq()->zmq_getsockopt)
#define zmq_has (libzmq()->zmq_has)
#define zmq_msg_close (libzmq()->zmq_msg_close)
#define zmq_msg_data (libzmq()->zmq_msg_data)
#define zmq_msg_init (libzmq()->zmq_msg_init)
#define zmq_msg_more (libzmq()->zmq_msg_more)
#define zmq_msg_recv (libzmq()->zmq_msg_recv)
#define zmq_msg_send (libzmq()->zmq_msg_send)
#define zmq_msg_size (libzmq()->zmq_msg_size)
#define zmq_poll (libzmq()->zmq_poll)
#define zmq_proxy (libzmq()->zmq_proxy)
#define zmq_recv (libzmq()->zmq_recv)
#define zmq_send (libzmq()->zmq_send)
#define zmq_setsockopt (libzmq()->zmq_setsockopt)
#define zmq_socket (libzmq()->zmq_socket)
#define zmq_strerror (libzmq()->zmq_strerror)
#define zmq_z85_decode (libzmq()->zmq_z85_decode)

#endif
