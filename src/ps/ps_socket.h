/* ps_socket -- a socket of ZeroMQ that talks to a parameter server. */
#ifndef SNAG_PS_PS_SOCKET_H
#define SNAG_PS_PS_SOCKET_H

struct ps_socket {
    void *zmq, *socket; /* its context and itself; NULL, both: closed */
};

/*
 * ps_socket_connect -- does not wait for the server, which need not be there yet.
 *   key_file  of the job (ps_key.h), or NULL
 * Returns 0, ERR_IO, ERR_USAGE for a bad address, or what ps_key_read returns. Close it in any
 * case.
 */
int ps_socket_connect(struct ps_socket *socket, const char *address, const char *key_file);

/* ps_socket_close -- what was not sent yet is not. Twice is harmless. */
void ps_socket_close(struct ps_socket *socket);

#endif
