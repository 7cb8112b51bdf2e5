#include "ps/ps_ask.h"

#include "base/err.h"
#include "base/mem.h"
#include "ps/libzmq.h"
#include "ps/ps_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ps_ask_is_address(const char *text)
{
    return strncmp(text, "tcp://", 6) == 0 || strncmp(text, "ipc://", 6) == 0;
}

static void take_function(struct ps_snapshot *s, uint32_t i, const struct ps_entry *e,
                          uint64_t *bins)
{
    size_t n = e->program.n + 1 + e->name.n;
    char *text = mem_alloc(n + 1, 1);

    snprintf(text, n + 1, "%.*s\n%.*s", (int)e->program.n, (const char *)e->program.data,
             (int)e->name.n, (const char *)e->name.data);
    s->function[i] = text;
    if (e->has_sketch) {
        struct sketch sketch = ps_sketch_view(&e->sketch, bins);

        ps_state_add(&s->state, i, &sketch);
    }
}

static void take_state(struct ps_snapshot *s, const struct ps_frame *frame)
{
    const struct ps_push *p = &frame->push;
    uint64_t *bins = mem_alloc(SKETCH_MAX_BINS, sizeof *bins);
    char key[PS_KEY_SIZE];

    s->version = p->have;
    s->round = p->round;
    s->function = mem_alloc(p->n_entries, sizeof *s->function);
    for (; s->n_functions < p->n_entries; s->n_functions++)
        take_function(s, s->n_functions, &p->entry[s->n_functions], bins);
    for (uint32_t i = 0; i < p->n_stats; i++) {
        ps_state_key(&p->stat[i], key);
        ps_state_count(&s->state, key, &p->stat[i].stat);
    }
    free(bins);
}

static int take_answer(struct ps_snapshot *s, const void *data, size_t bytes,
                       uint32_t *n_clients)
{
    struct ps_frame frame = {0};
    int rc = ps_frame_read(&frame, data, bytes);

    if (rc == 0 && frame.kind == PS_STATE) {
        *n_clients = (uint32_t)frame.push.client;
        take_state(s, &frame);
    } else if (rc == 0 && frame.kind == PS_REFUSAL && frame.refusal.code == PS_LARGE) {
        rc = err_set(ERR_RANGE, "it knows more than can be asked for at once; its snapshot has "
                                "it all");
    } else if (rc == 0) {
        rc = err_set(ERR_UNSUPPORTED, "it is a server of another version of snag");
    }
    ps_frame_release(&frame);
    return rc;
}

static int receive(struct ps_socket *s, int timeout_ms, struct ps_snapshot *out,
                   uint32_t *n_clients)
{
    zmq_pollitem_t item = {.socket = s->socket, .events = ZMQ_POLLIN};
    zmq_msg_t message;
    int rc = 0;

    if (zmq_poll(&item, 1, timeout_ms) != 1)
        return err_set(ERR_IO, "nobody answers within %g s", timeout_ms / 1000.0);
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, s->socket, 0) < 0)
        rc = err_set(ERR_IO, "%s", zmq_strerror(errno));
    if (rc == 0)
        rc = take_answer(out, zmq_msg_data(&message), zmq_msg_size(&message), n_clients);
    zmq_msg_close(&message);
    return rc;
}

int ps_ask(const char *address, const char *key_file, int timeout_ms, struct ps_snapshot *out,
           uint32_t *n_clients)
{
    struct ps_socket socket = {0};
    msgpack_sbuffer question = {0};
    int rc = ps_socket_connect(&socket, address, key_file);

    *out = (struct ps_snapshot){0};
    *n_clients = 0;
    ps_write_ask(&question);
    if (rc == 0 && zmq_send(socket.socket, question.data, question.size, 0) < 0)
        rc = err_set(ERR_IO, "%s", zmq_strerror(errno));
    if (rc == 0)
        rc = receive(&socket, timeout_ms, out, n_clients);
    if (rc < 0 && strstr(err_message(), address) == NULL)
        rc = err_set(rc, "cannot ask the server at '%s': %s", address, err_message());
    msgpack_sbuffer_destroy(&question);
    ps_socket_close(&socket);
    return rc;
}

int ps_ask_any(const char *source, const char *key_file, int timeout_ms,
               struct ps_snapshot *out, uint32_t *n_clients)
{
    int rc;

    if (ps_ask_is_address(source))
        return ps_ask(source, key_file, timeout_ms, out, n_clients);
    rc = ps_snapshot_read(out, source);
    *n_clients = out->n_clients;
    return rc;
}
