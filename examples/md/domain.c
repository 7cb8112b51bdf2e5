/*
 * The box is a grid of ranks, and everything crosses one dimension at a time: what came from
 * the left and right is passed on upwards and downwards, so that six messages reach all 26
 * neighbours. With one or two ranks along a dimension some of the messages go to the rank
 * itself, or both to the same one; tags keep them apart.
 *
 *     choose_ghosts    which of our particles each neighbour needs, anew
 *     exchange_halo    where those are now
 *     migrate          who left our part of the box goes to its new owner
 */
#include "md.h"

#include <stdlib.h>

#define TAG_COUNT 0 /* + the direction */
#define TAG_GHOSTS 2
#define TAG_MOVERS 4
#define MOVER (2 * DIM) /* numbers that describe a particle that moves: where and how fast */

void domain_init(struct md *md)
{
    MPI_Comm_size(MPI_COMM_WORLD, &md->size);
    MPI_Dims_create(md->size, DIM, md->grid);
    MPI_Cart_create(MPI_COMM_WORLD, DIM, md->grid, (int[]){1, 1, 1}, 0, &md->comm);
    MPI_Comm_rank(md->comm, &md->rank);
    MPI_Cart_coords(md->comm, md->rank, DIM, md->place);
    for (int d = 0; d < DIM; d++) {
        struct side *low = &md->side[d][0], *high = &md->side[d][1];

        MPI_Cart_shift(md->comm, d, -1, &low->from, &low->to);
        MPI_Cart_shift(md->comm, d, 1, &high->from, &high->to);
    }
}

void domain_release(struct md *md)
{
    for (int d = 0; d < DIM; d++)
        for (int i = 0; i < 2; i++) {
            free(md->side[d][i].send);
            free(md->side[d][i].buffer);
        }
    MPI_Comm_free(&md->comm);
}

/* Room for n particles, owned and ghosts. */
NOT_TRACED void make_room(struct md *md, int n)
{
    if (n <= md->cap)
        return;
    md->cap = n + n / 2;
    md->position = resize(md->position, md->cap, sizeof *md->position);
    md->velocity = resize(md->velocity, md->cap, sizeof *md->velocity);
    md->force = resize(md->force, md->cap, sizeof *md->force);
}

NOT_TRACED static double *room_to_send(struct side *s, int n)
{
    if (n > s->cap_buffer) {
        s->cap_buffer = n + n / 2;
        s->buffer = resize(s->buffer, s->cap_buffer, sizeof *s->buffer);
    }
    return s->buffer;
}

/* Tell the rank on one side how much comes, and hear how much comes from the other. */
static int exchange_counts(const struct md *md, const struct side *s, int direction, int n)
{
    int other;

    MPI_Sendrecv(&n, 1, MPI_INT, s->to, TAG_COUNT + direction, &other, 1, MPI_INT, s->from,
                 TAG_COUNT + direction, md->comm, MPI_STATUS_IGNORE);
    return other;
}

/* ---------------------------------------------------------------------------------- ghosts */

static void list_ghosts(struct md *md, int d, int direction, int n)
{
    struct side *s = &md->side[d][direction];

    s->n_send = 0;
    for (int i = 0; i < n; i++) {
        double x = md->position[i][d];

        if (direction == 0 ? x >= md->low[d] + REACH : x < md->high[d] - REACH)
            continue;
        if (s->n_send == s->cap) {
            s->cap = 2 * s->cap + 256;
            s->send = resize(s->send, s->cap, sizeof *s->send);
        }
        s->send[s->n_send++] = i;
    }
}

static void pack_ghosts(const struct md *md, struct side *s, int d)
{
    double *out = room_to_send(s, DIM * s->n_send);

    for (int i = 0; i < s->n_send; i++)
        for (int e = 0; e < DIM; e++)
            *out++ = md->position[s->send[i]][e] + (e == d ? s->shift : 0);
}

/* Ghosts of one dimension, both ways. */
static void exchange_dimension(struct md *md, int d)
{
    MPI_Request request[4];

    for (int i = 0; i < 2; i++) {
        struct side *s = &md->side[d][i];

        MPI_Irecv(md->position[s->first_ghost], DIM * s->n_ghosts, MPI_DOUBLE, s->from,
                  TAG_GHOSTS + i, md->comm, &request[i]);
    }
    for (int i = 0; i < 2; i++) {
        struct side *s = &md->side[d][i];

        pack_ghosts(md, s, d);
        MPI_Isend(s->buffer, DIM * s->n_send, MPI_DOUBLE, s->to, TAG_GHOSTS + i, md->comm,
                  &request[2 + i]);
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

void choose_ghosts(struct md *md)
{
    md->n_ghosts = 0;
    for (int d = 0; d < DIM; d++) {
        int n = md->n + md->n_ghosts;

        for (int i = 0; i < 2; i++) {
            struct side *s = &md->side[d][i];

            list_ghosts(md, d, i, n);
            s->n_ghosts = exchange_counts(md, s, i, s->n_send);
            s->first_ghost = md->n + md->n_ghosts;
            md->n_ghosts += s->n_ghosts;
        }
        make_room(md, md->n + md->n_ghosts + 1);
        exchange_dimension(md, d);
    }
}

void exchange_halo(struct md *md)
{
    for (int d = 0; d < DIM; d++)
        exchange_dimension(md, d);
}

/* ------------------------------------------------------------------------------- migration */

/* Put those who left towards one side into its buffer, and take them out of the arrays. */
static int pack_movers(struct md *md, struct side *s, int d, int direction)
{
    int n = 0;

    for (int i = 0; i < md->n;) {
        double x = md->position[i][d];
        double *out;

        if (direction == 0 ? x >= md->low[d] : x < md->high[d]) {
            i++;
            continue;
        }
        out = room_to_send(s, MOVER * (n + 1)) + MOVER * (long)n;
        for (int e = 0; e < DIM; e++) {
            out[e] = md->position[i][e] + (e == d ? s->shift : 0);
            out[DIM + e] = md->velocity[i][e];
        }
        n++;
        md->n--;
        for (int e = 0; e < DIM; e++) {
            md->position[i][e] = md->position[md->n][e];
            md->velocity[i][e] = md->velocity[md->n][e];
        }
    }
    return n;
}

static void unpack_movers(struct md *md, const double *in, int n)
{
    make_room(md, md->n + n);
    for (int i = 0; i < n; i++, in += MOVER, md->n++)
        for (int e = 0; e < DIM; e++) {
            md->position[md->n][e] = in[e];
            md->velocity[md->n][e] = in[DIM + e];
        }
}

/* Nobody moves further than one rank between two rebuilds, so each particle needs to be
 * looked at once in each dimension. */
void migrate(struct md *md)
{
    for (int d = 0; d < DIM; d++) {
        int n[2], other[2];
        double *in[2];

        for (int i = 0; i < 2; i++)
            n[i] = pack_movers(md, &md->side[d][i], d, i);
        for (int i = 0; i < 2; i++) {
            struct side *s = &md->side[d][i];

            other[i] = exchange_counts(md, s, i, n[i]);
            in[i] = resize(NULL, MOVER * (long)other[i], sizeof **in);
            MPI_Sendrecv(s->buffer, MOVER * n[i], MPI_DOUBLE, s->to, TAG_MOVERS + i, in[i],
                         MOVER * other[i], MPI_DOUBLE, s->from, TAG_MOVERS + i, md->comm,
                         MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < 2; i++) {
            unpack_movers(md, in[i], other[i]);
            free(in[i]);
        }
    }
}
