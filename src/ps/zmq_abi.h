/*
 * zmq_abi -- what is called of ZeroMQ 4, as its library has it.
 *
 * Written down here because the library is loaded when it is first needed (libzmq.h): so nothing of it has
 * to be there to build. tests/support/abi_test.c includes <zmq.h> first, and has the compiler compare.
 */
#ifndef SNAG_PS_ZMQ_ABI_H
#define SNAG_PS_ZMQ_ABI_H

#include <stddef.h>
#include <stdint.h>

#define ZMQ_ABI_CONSTANTS(take)                                                                \
    take(ZMQ_SNDMORE, 2) take(ZMQ_DONTWAIT, 1) take(ZMQ_POLLIN, 1) take(ZMQ_REQ, 3)            \
        take(ZMQ_REP, 4) take(ZMQ_DEALER, 5) take(ZMQ_ROUTER, 6) take(ZMQ_RCVMORE, 13)         \
            take(ZMQ_LINGER, 17) take(ZMQ_RECONNECT_IVL, 18) take(ZMQ_RECONNECT_IVL_MAX, 21)   \
                take(ZMQ_MAXMSGSIZE, 22) take(ZMQ_SNDHWM, 23) take(ZMQ_RCVHWM, 24)             \
                    take(ZMQ_LAST_ENDPOINT, 32) take(ZMQ_CURVE_SERVER, 47)                     \
                        take(ZMQ_CURVE_PUBLICKEY, 48) take(ZMQ_CURVE_SECRETKEY, 49)            \
                            take(ZMQ_CURVE_SERVERKEY, 50) take(ZMQ_ZAP_DOMAIN, 55)             \
                                take(ZMQ_MAX_SOCKETS, 2)

struct zmq_abi_msg {
    _Alignas(void *) unsigned char bytes[64];
};
struct zmq_abi_pollitem {
    void *socket;
    int fd;
    short events, revents;
};

#ifndef ZMQ_VERSION
#define ABI_CONSTANT(name, value) name = (value),
enum { ZMQ_ABI_CONSTANTS(ABI_CONSTANT) };
#undef ABI_CONSTANT
typedef struct zmq_abi_msg zmq_msg_t;
typedef struct zmq_abi_pollitem zmq_pollitem_t;
#endif

int zmq_bind(void *socket, const char *address);
int zmq_close(void *socket);
int zmq_connect(void *socket, const char *address);
void *zmq_ctx_new(void);
int zmq_ctx_set(void *context, int option, int value);
int zmq_ctx_shutdown(void *context);
int zmq_ctx_term(void *context);
int zmq_curve_keypair(char *z85_public, char *z85_secret);
int zmq_curve_public(char *z85_public, const char *z85_secret);
int zmq_getsockopt(void *socket, int option, void *value, size_t *length);
int zmq_has(const char *capability);
int zmq_msg_close(zmq_msg_t *message);
void *zmq_msg_data(zmq_msg_t *message);
int zmq_msg_init(zmq_msg_t *message);
int zmq_msg_more(const zmq_msg_t *message);
int zmq_msg_recv(zmq_msg_t *message, void *socket, int flags);
int zmq_msg_send(zmq_msg_t *message, void *socket, int flags);
size_t zmq_msg_size(const zmq_msg_t *message);
int zmq_poll(zmq_pollitem_t *items, int n, long timeout_ms);
int zmq_proxy(void *front, void *back, void *capture);
int zmq_recv(void *socket, void *data, size_t bytes, int flags);
int zmq_send(void *socket, const void *data, size_t bytes, int flags);
int zmq_setsockopt(void *socket, int option, const void *value, size_t length);
void *zmq_socket(void *context, int type);
const char *zmq_strerror(int number);
uint8_t *zmq_z85_decode(uint8_t *out, const char *text);

#endif
