/* Who may connect is asked by ZeroMQ's authentication protocol, RFC 27: six parts or seven. */
#include "ps/ps_socket.h"

#include "base/err.h"
#include "ps/libzmq.h"
#include "ps/ps_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

LIBRARY(libzmq, "libzmq.so.5", LIBZMQ_FUNCTIONS)

/* ---------------------------------------------------------------------------------- the key */

#define KEY_BYTES 32

static int make(const char *path)
{
    struct ps_key key;
    int fd, n;

    if (zmq_curve_keypair(key.public_part, key.secret_part) != 0)
        return err_set(ERR_UNSUPPORTED, "this ZeroMQ has no CURVE");
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set(ERR_IO, "cannot make '%s': %s", path, strerror(errno));
    n = dprintf(fd, "%s\n%s\n", key.public_part, key.secret_part);
    if (close(fd) != 0 || n != 2 * PS_KEY_TEXT)
        return err_set(ERR_IO, "cannot write '%s'", path);
    return 0;
}

static int parse(struct ps_key *key, FILE *in, const char *path)
{
    unsigned char bytes[KEY_BYTES];
    char derived[PS_KEY_TEXT];

    if (fscanf(in, "%40s %40s", key->public_part, key->secret_part) != 2 ||
        strlen(key->public_part) != 40 || strlen(key->secret_part) != 40 ||
        zmq_z85_decode(bytes, key->public_part) == NULL)
        return err_set(ERR_FORMAT, "not a key file: '%s'", path);
    if (zmq_curve_public(derived, key->secret_part) != 0 ||
        strcmp(derived, key->public_part) != 0)
        return err_set(ERR_FORMAT, "the two keys do not belong together: '%s'", path);
    return 0;
}

int ps_key_read(struct ps_key *key, const char *path, bool may_make)
{
    struct stat info;
    FILE *in;
    int rc = 0;

    *key = (struct ps_key){0};
    if (!zmq_has("curve"))
        return err_set(ERR_UNSUPPORTED, "this ZeroMQ has no CURVE");
    if (may_make && access(path, F_OK) != 0)
        rc = make(path);
    if (rc < 0)
        return rc;
    in = fopen(path, "re");
    if (in == NULL || fstat(fileno(in), &info) != 0)
        rc = err_set(ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    else if (info.st_mode & 077)
        rc = err_set(ERR_RANGE, "others may read '%s': chmod 600 it", path);
    else
        rc = parse(key, in, path);
    if (in)
        fclose(in);
    return rc;
}

static int set(void *socket, int option, const void *value, size_t bytes)
{
    if (zmq_setsockopt(socket, option, value, bytes) != 0)
        return err_set(ERR_IO, "cannot use the key: %s", zmq_strerror(errno));
    return 0;
}

int ps_key_serve(const struct ps_key *key, void *socket)
{
    int yes = 1, rc = set(socket, ZMQ_CURVE_SERVER, &yes, sizeof yes);

    if (rc == 0)
        rc = set(socket, ZMQ_ZAP_DOMAIN, "snag", 4);
    return rc < 0 ? rc : set(socket, ZMQ_CURVE_SECRETKEY, key->secret_part, PS_KEY_TEXT);
}

int ps_key_connect(const struct ps_key *key, void *socket)
{
    int rc = set(socket, ZMQ_CURVE_SERVERKEY, key->public_part, PS_KEY_TEXT);

    if (rc == 0)
        rc = set(socket, ZMQ_CURVE_PUBLICKEY, key->public_part, PS_KEY_TEXT);
    return rc < 0 ? rc : set(socket, ZMQ_CURVE_SECRETKEY, key->secret_part, PS_KEY_TEXT);
}

/* ---------------------------------------------------------------------------------- guard */

/* version, request, domain, address, identity, mechanism, key; more than fits is cut off. */
struct zap_request {
    char part[7][256];
    int length[7];
    int n;
};

/* Returns false when the context is shut down. */
static bool next_question(void *guard, struct zap_request *q)
{
    int more = 1;
    size_t bytes = sizeof more;

    for (q->n = 0; more; q->n++) {
        char rest[256], *part = q->n < 7 ? q->part[q->n] : rest;
        int length;

        do
            length = zmq_recv(guard, part, sizeof rest, 0);
        while (length < 0 && errno == EINTR);
        if (length < 0 || zmq_getsockopt(guard, ZMQ_RCVMORE, &more, &bytes) != 0)
            return false;
        if (q->n < 7)
            q->length[q->n] = length < 256 ? length : 256;
    }
    return true;
}

static bool is_ours(const struct zap_request *q, const unsigned char expected[KEY_BYTES])
{
    return q->n == 7 && q->length[5] == 5 && memcmp(q->part[5], "CURVE", 5) == 0 &&
           q->length[6] == KEY_BYTES && memcmp(q->part[6], expected, KEY_BYTES) == 0;
}

static void answer(void *guard, const struct zap_request *q, bool is_welcome)
{
    int id = q->n > 1 ? q->length[1] : 0;

    zmq_send(guard, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(guard, q->part[1], (size_t)id, ZMQ_SNDMORE);
    zmq_send(guard, is_welcome ? "200" : "400", 3, ZMQ_SNDMORE);
    zmq_send(guard, "", 0, ZMQ_SNDMORE);
    zmq_send(guard, "", 0, ZMQ_SNDMORE);
    zmq_send(guard, "", 0, 0);
}

void ps_key_guard(const struct ps_key *key, void *guard)
{
    unsigned char expected[KEY_BYTES];
    struct zap_request q;

    zmq_z85_decode(expected, key->public_part);
    while (next_question(guard, &q))
        answer(guard, &q, is_ours(&q, expected));
    zmq_close(guard);
}

bool ps_key_is_local(const char *address)
{
    char host[64] = "";
    struct in_addr in;

    if (strncmp(address, "ipc://", 6) == 0 || strncmp(address, "inproc://", 9) == 0)
        return true;
    if (sscanf(address, "tcp://%63[^:]:", host) != 1)
        return strncmp(address, "tcp://[::1]:", 12) == 0;
    return inet_pton(AF_INET, host, &in) == 1 && ntohl(in.s_addr) >> 24 == 127;
}

/* --------------------------------------------------------------------------------- a socket */

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
