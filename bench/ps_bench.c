/*
 * ps_bench CLIENTS FUNCTIONS SECONDS -- requests per second that a parameter server answers, in
 * one process: CLIENTS threads with a connection each push deltas of 1,000 calls (about 200
 * bins that are not empty) of every function, and wait for the answer.
 *
 *     ps_bench: push_per_s 12345 whole_per_s 2345 delta_bytes 17000 models_bytes 19000
 *
 * push: answers hold the models that changed, so most hold none. whole: every answer holds the
 * models of all functions, as Chimbuko's do.
 */
#include "base/mem.h"
#include "ps/libzmq.h"
#include "ps/ps_server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sample_ps.h"

#define MAX_CLIENTS 256
#define CALLS 1000

struct client {
    const char *address;
    uint32_t index, n_functions;
    double seconds;
    bool is_whole;
    pthread_t thread;
    uint64_t n_answered, sent_bytes, received_bytes;
};

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* All of a push but its head; named at first, then by the indices of the answer. */
static void write_body(struct pack *out, uint32_t n, const struct sketch *sketch,
                       const uint32_t *index)
{
    char name[16];

    out->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (index)
            ps_write_entry(out, index[i], &sketch[i]);
        else
            ps_write_named(out, "bench", sample_name(i, name), &sketch[i]);
    ps_write_array(out, 0);
}

static void exchange(struct client *c, void *socket, const struct ps_push *push,
                     const struct pack *body, struct ps_frame *answer)
{
    struct pack out = {0};
    zmq_msg_t message;

    ps_write_push(&out, push);
    ps_write_raw(&out, body->data, body->n);
    zmq_send(socket, out.data, out.n, 0);
    zmq_msg_init(&message);
    if (zmq_msg_recv(&message, socket, 0) < 0 ||
        ps_frame_read(answer, zmq_msg_data(&message), zmq_msg_size(&message)) < 0 ||
        answer->kind != PS_REPLY) {
        fputs("ps_bench: no good answer\n", stderr);
        exit(1);
    }
    c->n_answered++;
    c->sent_bytes += out.n;
    c->received_bytes += zmq_msg_size(&message);
    zmq_msg_close(&message);
    pack_release(&out);
}

static void *run(void *arg)
{
    struct client *c = arg;
    struct ps_push push = {.client = c->index + 1, .n_entries = c->n_functions};
    struct sketch *sketch = mem_alloc(c->n_functions, sizeof *sketch);
    void *zmq = zmq_ctx_new(), *socket = zmq_socket(zmq, ZMQ_DEALER);
    struct rng rng = {c->index};
    struct ps_frame answer = {0};
    struct pack body = {0};
    double end_s;

    for (uint32_t i = 0; i < c->n_functions; i++) {
        sketch_init(&sketch[i]);
        sample_calls(&sketch[i], &rng, CALLS, 1e3 * (i + 1));
    }
    zmq_connect(socket, c->address);
    write_body(&body, c->n_functions, sketch, NULL);
    push.sequence = (uint64_t)time(NULL) << 32;
    exchange(c, socket, &push, &body, &answer);
    write_body(&body, c->n_functions, sketch, answer.reply.index);
    push.epoch = answer.reply.epoch;
    c->n_answered = c->sent_bytes = c->received_bytes = 0;
    for (end_s = now_s() + c->seconds; now_s() < end_s;) {
        push.sequence++;
        push.have = c->is_whole ? 0 : answer.reply.version;
        exchange(c, socket, &push, &body, &answer);
    }
    for (uint32_t i = 0; i < c->n_functions; i++)
        sketch_release(&sketch[i]);
    free(sketch);
    pack_release(&body);
    ps_frame_release(&answer);
    zmq_close(socket);
    zmq_ctx_term(zmq);
    return NULL;
}

struct total {
    double per_s, sent_bytes, received_bytes; /* bytes of one request, one answer */
};

static struct total measure(uint32_t n_clients, uint32_t n_functions, double seconds,
                            bool is_whole)
{
    struct ps_server_opts opts = {.interval_ms = is_whole ? 100 : 1000};
    static struct client client[MAX_CLIENTS];
    struct total total = {0};
    struct ps_server *server;
    uint64_t n = 0;

    if (ps_server_open(&server, &opts) < 0)
        exit(1);
    for (uint32_t i = 0; i < n_clients; i++) {
        client[i] = (struct client){.address = ps_server_address(server),
                                    .index = i,
                                    .n_functions = n_functions,
                                    .seconds = seconds,
                                    .is_whole = is_whole};
        pthread_create(&client[i].thread, NULL, run, &client[i]);
    }
    for (uint32_t i = 0; i < n_clients; i++) {
        pthread_join(client[i].thread, NULL);
        n += client[i].n_answered;
        total.sent_bytes += (double)client[i].sent_bytes;
        total.received_bytes += (double)client[i].received_bytes;
    }
    ps_server_close(server);
    total.per_s = (double)n / seconds;
    total.sent_bytes /= (double)n;
    total.received_bytes /= (double)n;
    return total;
}

int main(int argc, char **argv)
{
    uint32_t n_clients = argc == 4 ? (uint32_t)atoi(argv[1]) : 0;
    uint32_t n_functions = argc == 4 ? (uint32_t)atoi(argv[2]) : 0;
    double seconds = argc == 4 ? atof(argv[3]) : 0;
    struct total push, whole;

    if (n_clients < 1 || n_clients > MAX_CLIENTS || n_functions < 1 || seconds <= 0) {
        fputs("usage: ps_bench CLIENTS FUNCTIONS SECONDS\n", stderr);
        return 2;
    }
    push = measure(n_clients, n_functions, seconds, false);
    whole = measure(n_clients, n_functions, seconds, true);
    printf("ps_bench: push_per_s %.0f whole_per_s %.0f delta_bytes %.0f models_bytes %.0f\n",
           push.per_s, whole.per_s, push.sent_bytes, whole.received_bytes);
    return 0;
}
