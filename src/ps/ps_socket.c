#include "ps/ps_socket.h"

#include "base/err.h"
#include "ps/libzmq.h"
#include "ps/ps_key.h"
#include "ps/ps_wire.h"

#include <errno.h>

#define MAX_WAITING 8 /* frames */

int ps_socket_connect(struct ps_socket *s, const char *address, const char *key_file)
{
    int most = MAX_WAITING, linger = 0, reconnect = 50, reconnect_most = 1000;
    int64_t most_bytes = PS_MAX_FRAME_BYTES;
    struct ps_key key;
    int rc = 0;

    s->zmq = zmq_ctx_new();
    s->socket = s->zmq ? zmq_socket(s->zmq, ZMQ_DEALER) : NULL;
    if (s->socket == NULL)
        return err_set(ERR_IO, "cannot start ZeroMQ: %s", zmq_strerror(errno));
    zmq_setsockopt(s->socket, ZMQ_SNDHWM, &most, sizeof most);
    zmq_setsockopt(s->socket, ZMQ_RCVHWM, &most, sizeof most);
    zmq_setsockopt(s->socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(s->socket, ZMQ_RECONNECT_IVL, &reconnect, sizeof reconnect);
    zmq_setsockopt(s->socket, ZMQ_RECONNECT_IVL_MAX, &reconnect_most, sizeof reconnect_most);
    zmq_setsockopt(s->socket, ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
    if (key_file)
        rc = ps_key_read(&key, key_file, false);
    if (rc == 0 && key_file)
        rc = ps_key_connect(&key, s->socket);
    if (rc == 0 && zmq_connect(s->socket, address) != 0)
        rc = err_set(ERR_USAGE, "cannot connect to '%s': %s", address, zmq_strerror(errno));
    return rc;
}

void ps_socket_close(struct ps_socket *s)
{
    if (s->socket)
        zmq_close(s->socket);
    if (s->zmq)
        zmq_ctx_term(s->zmq);
    *s = (struct ps_socket){0};
}
