/*
 * ps_socket -- a socket of ZeroMQ that talks to a parameter server, and the one key of a job:
 * who has its file may do so.
 *
 * ZeroMQ's CURVE encrypts a connection and shows each side that the other has a certain secret
 * key. Here the server and all clients of a job have the same pair, from one file that only
 * its owner may read, and the server turns away everyone else.
 */
#ifndef SNAG_PS_PS_SOCKET_H
#define SNAG_PS_PS_SOCKET_H

#include <stdbool.h>

#define PS_KEY_TEXT 41 /* 40 characters of Z85 and the end */

struct ps_key {
    char public_part[PS_KEY_TEXT], secret_part[PS_KEY_TEXT];
};

/*
 * ps_key_read -- a key file: two lines, the public and the secret part.
 *   may_make  make the file, with a new key, if it is not there
 * Returns 0; ERR_IO; ERR_FORMAT; ERR_RANGE if others may read the file; ERR_UNSUPPORTED if
 * this ZeroMQ cannot encrypt.
 */
int ps_key_read(struct ps_key *key, const char *path, bool may_make);

/* ps_key_serve, ps_key_connect -- make a socket use the key; before it binds or connects. */
int ps_key_serve(const struct ps_key *key, void *socket);
int ps_key_connect(const struct ps_key *key, void *socket);

/*
 * ps_key_guard -- answer ZeroMQ's questions who may connect, until the context is shut down.
 *   guard  a REP socket bound to PS_KEY_GUARD_ADDRESS before the server is; closed at the end
 */
#define PS_KEY_GUARD_ADDRESS "inproc://zeromq.zap.01"
void ps_key_guard(const struct ps_key *key, void *guard);

/* ps_key_is_local -- nobody but this machine can reach the address. */
bool ps_key_is_local(const char *address);

struct ps_socket {
    void *zmq, *socket; /* its context and itself; NULL, both: closed */
};

/*
 * ps_socket_connect -- does not wait for the server, which need not be there yet.
 *   key_file  of the job, or NULL
 * Returns 0, ERR_IO, ERR_USAGE for a bad address, or what ps_key_read returns. Close it in any
 * case.
 */
int ps_socket_connect(struct ps_socket *socket, const char *address, const char *key_file);

/* ps_socket_close -- what was not sent yet is not. Twice is harmless. */
void ps_socket_close(struct ps_socket *socket);

#endif
