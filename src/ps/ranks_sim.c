/*
 * A sequence names its rank in its lowest bits, so that an answer is known for whose it is on
 * a shared connection. The bodies of the pushes, all but their heads, are made beforehand:
 * first with names, and with indices once the server has said them.
 */
#include "ps/ranks_sim.h"

#include "base/err.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/rng.h"
#include "ps/libzmq.h"
#include "ps/ps_socket.h"
#include "ps/ps_wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#define BODIES 16u /* different steps */
#define CALLS 1000u
#define RANK_BITS 16
#define RESEND_NS 2000000000u

struct sim_rank {
    uint64_t id, step, have, sent_ns;
    bool is_waiting;
};

struct sim {
    struct sim_opts opts;
    struct sim_result *result;
    struct sim_rank *rank; /* [n_ranks] */
    void *zmq;
    void **socket;        /* [n_sockets] */
    zmq_pollitem_t *item; /* [n_sockets] */
    uint32_t n_sockets;
    struct sketch *sketch; /* [BODIES][n_functions] */
    struct pack named[BODIES], indexed[BODIES];
    bool has_indices;
    uint64_t *epoch; /* [n_addresses] 0: it has not said the indices yet, which all share */
    struct pack out;
    struct ps_frame frame;
};

/* --------------------------------------------------------------------------------- setup */

static void draw_steps(struct sim *s)
{
    struct rng rng = {s->opts.seed};
    uint32_t n = s->opts.n_functions;

    s->sketch = mem_alloc((size_t)BODIES * n, sizeof *s->sketch);
    for (uint32_t i = 0; i < BODIES * n; i++) {
        double mean_ns = 1e3 * (1 + i % n);

        sketch_init(&s->sketch[i]);
        for (uint32_t k = 0; k < CALLS; k++)
            sketch_add(&s->sketch[i], (uint64_t)(mean_ns * exp(0.5 * rng_normal(&rng))));
    }
}

/* Not from the seed: whoever has the id of an earlier client repeats what that has said. */
static int draw_ids(struct sim *s)
{
    for (uint32_t r = 0; r < s->opts.n_ranks; r++)
        if (getrandom(&s->rank[r].id, sizeof s->rank[r].id, 0) != sizeof s->rank[r].id)
            return err_set(ERR_IO, "cannot draw a random number: %s", strerror(errno));
    return 0;
}

/* index: the server's, or NULL to say names. */
static void write_bodies(struct sim *s, struct pack body[BODIES], const uint32_t *index)
{
    for (uint32_t b = 0; b < BODIES; b++) {
        for (uint32_t f = 0; f < s->opts.n_functions; f++) {
            const struct sketch *sketch = &s->sketch[b * s->opts.n_functions + f];
            char name[32];

            snprintf(name, sizeof name, "function_%u", f);
            if (index)
                ps_write_entry(&body[b], index[f], sketch);
            else
                ps_write_named(&body[b], "sim", name, sketch);
        }
        ps_write_array(&body[b], 0);
    }
}

static int open_sockets(struct sim *s)
{
    int none = 0, rc = 0;
    struct ps_key key;

    if (s->opts.key_file)
        rc = ps_key_read(&key, s->opts.key_file, false);
    s->zmq = zmq_ctx_new();
    zmq_ctx_set(s->zmq, ZMQ_MAX_SOCKETS, (int)(SIM_MAX_RANKS / SIM_SHARED) + 8);
    s->n_sockets = s->opts.n_addresses; /* each server has as many */
    while (s->n_sockets * SIM_SHARED < s->opts.n_ranks)
        s->n_sockets += s->opts.n_addresses;
    s->epoch = mem_alloc(s->opts.n_addresses, sizeof *s->epoch);
    s->socket = mem_alloc(s->n_sockets, sizeof *s->socket);
    s->item = mem_alloc(s->n_sockets, sizeof *s->item);
    for (uint32_t i = 0; i < s->n_sockets && rc == 0; i++) {
        s->socket[i] = zmq_socket(s->zmq, ZMQ_DEALER);
        if (s->socket[i] == NULL)
            return err_set(ERR_IO, "cannot make a socket: %s", zmq_strerror(errno));
        zmq_setsockopt(s->socket[i], ZMQ_LINGER, &none, sizeof none);
        zmq_setsockopt(s->socket[i], ZMQ_SNDHWM, &none, sizeof none);
        zmq_setsockopt(s->socket[i], ZMQ_RCVHWM, &none, sizeof none);
        s->item[i] = (zmq_pollitem_t){.socket = s->socket[i], .events = ZMQ_POLLIN};
        if (s->opts.key_file)
            rc = ps_key_connect(&key, s->socket[i]);
        if (rc == 0 && zmq_connect(s->socket[i], s->opts.address[i % s->opts.n_addresses]) != 0)
            rc = err_set(ERR_USAGE, "cannot connect to '%s': %s",
                         s->opts.address[i % s->opts.n_addresses], zmq_strerror(errno));
    }
    return rc;
}

static void close_all(struct sim *s)
{
    for (uint32_t i = 0; i < s->n_sockets; i++)
        if (s->socket[i])
            zmq_close(s->socket[i]);
    if (s->zmq)
        zmq_ctx_term(s->zmq);
    for (uint32_t i = 0; s->sketch && i < BODIES * s->opts.n_functions; i++)
        sketch_release(&s->sketch[i]);
    for (uint32_t b = 0; b < BODIES; b++) {
        pack_release(&s->named[b]);
        pack_release(&s->indexed[b]);
    }
    pack_release(&s->out);
    ps_frame_release(&s->frame);
    free(s->sketch);
    free(s->epoch);
    free(s->socket);
    free(s->item);
    free(s->rank);
}

/* -------------------------------------------------------------------------------- playing */

static void send_step(struct sim *s, uint32_t r, bool is_again)
{
    struct sim_rank *rank = &s->rank[r];
    const struct pack *body;
    uint64_t epoch = s->epoch[r % s->opts.n_addresses];
    struct ps_push push = {.client = rank->id, .epoch = epoch, .have = rank->have};

    rank->step += !is_again;
    push.sequence = rank->step << RANK_BITS | r;
    push.n_entries = s->opts.n_functions;
    body = &(epoch ? s->indexed : s->named)[(r + rank->step) % BODIES];
    s->out.n = 0;
    ps_write_push(&s->out, &push);
    ps_write_raw(&s->out, body->data, body->n);
    zmq_send(s->socket[r % s->n_sockets], s->out.data, s->out.n, ZMQ_DONTWAIT);
    s->result->sent_bytes += s->out.n;
    s->result->n_sent++;
    s->result->n_resent += is_again;
    rank->is_waiting = true;
    rank->sent_ns = clock_ns();
}

/* The indices of a server, if it has all of them: the one above it may not have said some. */
static void take_indices(struct sim *s, const struct ps_reply *reply, uint32_t address)
{
    bool is_whole = reply->n_indices == s->opts.n_functions;

    for (uint32_t i = 0; i < reply->n_indices; i++)
        is_whole &= reply->index[i] != PS_NO_INDEX;
    if (!is_whole)
        return;
    if (!s->has_indices)
        write_bodies(s, s->indexed, reply->index);
    s->has_indices = true;
    s->epoch[address] = reply->epoch;
}

static void take_reply(struct sim *s, const struct ps_reply *reply)
{
    uint32_t r = (uint32_t)(reply->sequence & ((1u << RANK_BITS) - 1));
    struct sim_rank *rank = r < s->opts.n_ranks ? &s->rank[r] : NULL;

    if (rank == NULL || !rank->is_waiting || reply->sequence >> RANK_BITS != rank->step)
        return;
    if (s->epoch[r % s->opts.n_addresses] == 0)
        take_indices(s, reply, r % s->opts.n_addresses);
    rank->is_waiting = false;
    rank->have = reply->version;
    s->result->n_answered++;
    s->result->n_models += reply->n_models;
    sketch_add(&s->result->latency_ns, clock_ns() - rank->sent_ns);
    if (s->opts.rate_per_s == 0)
        send_step(s, r, false);
}

static void take_messages(struct sim *s, void *socket)
{
    zmq_msg_t message;

    zmq_msg_init(&message);
    while (zmq_msg_recv(&message, socket, ZMQ_DONTWAIT) >= 0) {
        size_t bytes = zmq_msg_size(&message);

        s->result->received_bytes += bytes;
        if (ps_frame_read(&s->frame, zmq_msg_data(&message), bytes) == 0 &&
            s->frame.kind == PS_REPLY)
            take_reply(s, &s->frame.reply);
        else
            s->result->n_refused++;
    }
    zmq_msg_close(&message);
}

static void wait_messages(struct sim *s, long most_ms)
{
    if (zmq_poll(s->item, (int)s->n_sockets, most_ms) <= 0)
        return;
    for (uint32_t i = 0; i < s->n_sockets; i++)
        if (s->item[i].revents)
            take_messages(s, s->socket[i]);
}

/* Rank r is due again: its next step, the last one again, or nothing. */
static void be_due(struct sim *s, uint32_t r, uint64_t now)
{
    if (!s->rank[r].is_waiting)
        send_step(s, r, false);
    else if (now > s->rank[r].sent_ns + RESEND_NS)
        send_step(s, r, true);
    else
        s->result->n_late += s->opts.rate_per_s > 0;
}

/* Ranks are due in turn, evenly spread; at rate 0 they only look whether an answer was lost. */
static void play(struct sim *s)
{
    double per_s = s->opts.n_ranks * (s->opts.rate_per_s > 0 ? s->opts.rate_per_s : 0.5);
    uint64_t begin = clock_ns(), end = begin + (uint64_t)(1e9 * s->opts.seconds), due = 0, now;

    for (uint32_t r = 0; r < s->opts.n_ranks && s->opts.rate_per_s == 0; r++)
        send_step(s, r, false);
    while ((now = clock_ns()) < end) {
        while ((double)due / per_s * 1e9 <= (double)(now - begin))
            be_due(s, (uint32_t)(due++ % s->opts.n_ranks), now);
        wait_messages(s, 1);
    }
    s->result->wall_s = (double)(clock_ns() - begin) * 1e-9;
}

/* Whether somebody is there, so that the clock starts with a connection. */
static int greet(struct sim *s)
{
    uint64_t end = clock_ns() + 10000000000u;

    send_step(s, 0, false);
    s->rank[0].is_waiting = true;
    while (s->result->n_answered == 0 && clock_ns() < end)
        wait_messages(s, 100);
    if (s->result->n_answered == 0)
        return err_set(ERR_IO, "nobody answers at '%s'", s->opts.address[0]);
    sketch_clear(&s->result->latency_ns);
    *s->result = (struct sim_result){.latency_ns = s->result->latency_ns};
    return 0;
}

int sim_run(const struct sim_opts *opts, struct sim_result *result)
{
    struct sim s = {.opts = *opts, .result = result};
    double rate_per_s = opts->rate_per_s;
    int rc;

    *result = (struct sim_result){0};
    sketch_init(&result->latency_ns);
    if (opts->n_ranks > SIM_MAX_RANKS || opts->n_functions > PS_MAX_FUNCTIONS)
        return err_set(ERR_RANGE, "at most %u ranks and %u functions", SIM_MAX_RANKS,
                       PS_MAX_FUNCTIONS);
    s.rank = mem_alloc(opts->n_ranks, sizeof *s.rank);
    rc = open_sockets(&s);
    if (rc == 0)
        rc = draw_ids(&s);
    if (rc == 0) {
        draw_steps(&s);
        write_bodies(&s, s.named, NULL);
        s.opts.rate_per_s = 1; /* one request, not one after the other */
        rc = greet(&s);
        s.opts.rate_per_s = rate_per_s;
    }
    if (rc == 0)
        play(&s);
    close_all(&s);
    return rc;
}

/* ------------------------------------------------------------------------ a tree of servers */

#define FILES_EACH 24 /* that a server and its client keep open, at most */

static int lay_out(struct tree_sim *t, uint32_t depth, uint32_t fan)
{
    uint64_t n_servers = 0, n_level = 1;

    t->n_levels = depth - 1;
    for (uint32_t l = 0; l < t->n_levels; l++) {
        t->first[l] = (uint32_t)n_servers;
        t->n_lowest = (uint32_t)n_level;
        n_servers += n_level;
        n_level *= fan;
        if (n_servers > TREE_MAX_SERVERS)
            return err_set(ERR_RANGE, "a tree of %ux%u has more than %u servers", depth, fan,
                           TREE_MAX_SERVERS);
    }
    t->first[t->n_levels] = (uint32_t)n_servers;
    return 0;
}

/* So many servers need more files than a process may have by default. */
static void raise_limit(uint32_t n_servers)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur += FILES_EACH * (rlim_t)n_servers;
    if (files.rlim_max != RLIM_INFINITY && files.rlim_cur > files.rlim_max)
        files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static int make_dir(struct tree_sim *t)
{
    int n = snprintf(t->dir, sizeof t->dir, "%s/snag-sim-XXXXXX", fs_temporary_dir());

    if (n >= (int)sizeof t->dir || mkdtemp(t->dir) == NULL) {
        t->dir[0] = '\0';
        return err_set(ERR_IO, "cannot make a directory for snapshots: %s", strerror(errno));
    }
    return 0;
}

static int start(struct tree_sim *t, uint32_t level, uint32_t i, uint32_t fan)
{
    uint32_t number = t->first[level] + i;
    char snapshot[96];
    struct ps_server_opts opts = {
        .store = {.n_workers = level == 0 ? 2 : 1, .snapshot = snapshot}};

    snprintf(snapshot, sizeof snapshot, "%s/%u.ps", t->dir, number);
    if (level > 0)
        opts.upstream = ps_server_address(t->server[t->first[level - 1] + i / fan]);
    return ps_server_open(&t->server[number], &opts);
}

int tree_sim_open(struct tree_sim *t, uint32_t depth, uint32_t fan)
{
    int rc;

    *t = (struct tree_sim){.n_levels = 0};
    if (depth < 2 || depth > TREE_MAX_LEVELS + 1 || fan < 1)
        return err_set(ERR_RANGE, "a tree has 2 to %u levels, that of the ranks among them",
                       TREE_MAX_LEVELS + 1);
    rc = lay_out(t, depth, fan);
    if (rc == 0)
        rc = make_dir(t);
    if (rc < 0) {
        t->n_levels = 0;
        return rc;
    }
    raise_limit(t->first[t->n_levels]);
    t->server = mem_alloc(t->first[t->n_levels], sizeof *t->server);
    for (uint32_t l = 0; l < t->n_levels; l++)
        for (uint32_t i = 0; i < t->first[l + 1] - t->first[l] && rc == 0; i++)
            rc = start(t, l, i, fan);
    t->address = mem_alloc(t->n_lowest, sizeof *t->address);
    for (uint32_t i = 0; i < t->n_lowest && rc == 0; i++)
        t->address[i] = ps_server_address(t->server[t->first[t->n_levels - 1] + i]);
    return rc;
}

struct tree_level tree_sim_level(const struct tree_sim *t, uint32_t level)
{
    struct tree_level sum = {.n_servers = t->first[level + 1] - t->first[level]};

    for (uint32_t i = t->first[level]; i < t->first[level + 1]; i++) {
        struct ps_counts n;

        ps_server_counts(t->server[i], &n);
        sum.n_requests += n.n_requests;
        sum.received_bytes += n.received_bytes;
        sum.sent_bytes += n.sent_bytes;
    }
    return sum;
}

/* From below, so that each has somebody to tell its last words. */
void tree_sim_close(struct tree_sim *t)
{
    for (uint32_t i = t->n_levels > 0 && t->server ? t->first[t->n_levels] : 0; i-- > 0;)
        ps_server_close(t->server[i]);
    free(t->server);
    free(t->address);
    if (t->dir[0])
        fs_remove_tree(t->dir);
    *t = (struct tree_sim){.n_levels = 0};
}
