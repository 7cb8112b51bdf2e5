/*
 * md -- a small molecular dynamics program: Lennard-Jones particles in a periodic box, cut up
 * among the ranks of MPI.
 *
 * It is a thing to be traced, so it has the shape of the real ones: neighbour lists that are
 * rebuilt now and then, an exchange of ghost particles each step, particles that move to
 * another rank, reductions, and a little output. Units are the reduced ones of the
 * Lennard-Jones fluid: sigma, epsilon and the mass are 1.
 *
 * A rank owns the particles in its part of the box, and keeps copies (ghosts) of those of
 * other ranks that are within reach. In the arrays the ghosts follow the owned ones.
 *
 * Source of the methods: Plimpton. Fast Parallel Algorithms for Short-Range Molecular
 * Dynamics. Journal of Computational Physics 117, 1995 (spatial decomposition).
 */
#ifndef MD_H
#define MD_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIM 3
#define CUTOFF 2.5
#define REACH 2.9       /* the cut-off and a skin, in which particles may move unnoticed */
#define TIME_STEP 0.005 /* of simulated time */

/* For functions too small to be worth a record of their own in a trace. */
#define NOT_TRACED __attribute__((no_instrument_function))

struct options {
    long steps;            /* 0: no end */
    double seconds;        /* 0: no end */
    const char *until;     /* a file that ends it; NULL: none */
    int particles;         /* per rank, at least */
    double pace_ms;        /* shortest duration of a step */
    double slower_percent; /* so much longer pair_forces takes */
    uint64_t seed;
    int rebuild_every, reduce_every, write_every; /* steps */
    const char *output;                           /* file for snapshots, or NULL */
};

/* One of the two directions of a dimension: 0 towards lower coordinates, 1 higher. */
struct side {
    int to, from; /* ranks: where our particles go, whence theirs come */
    double shift; /* to be added to a coordinate that crosses the edge of the box */
    int *send;    /* [n_send] indices of the particles the other rank needs as ghosts */
    int n_send, cap;
    double *buffer; /* what is sent */
    int cap_buffer;
    int first_ghost; /* where what comes from there goes */
    int n_ghosts;
};

struct md {
    struct options opt;
    MPI_Comm comm; /* the grid of ranks */
    int rank, size;
    int grid[DIM], place[DIM];            /* ranks along each dimension; this one's place */
    double box[DIM], low[DIM], high[DIM]; /* the whole box; this rank's part */
    struct side side[DIM][2];

    int n, n_ghosts, cap; /* particles: owned, ghosts, room for */
    double (*position)[DIM];
    double (*velocity)[DIM]; /* of the owned ones, as are the forces */
    double (*force)[DIM];

    int *neighbour;       /* for each owned particle, one after the other */
    int *first_neighbour; /* [n + 1] into neighbour */
    int cap_neighbours;
    int cells[DIM];  /* what the neighbours are searched with */
    int *cell_start; /* [cells + 1] into member */
    int *cell_of;    /* [n + n_ghosts] */
    int *member;     /* [n + n_ghosts] particles, cell by cell */
    double (*member_position)[DIM];
    int cap_cells;

    long step;
    double potential;                         /* this rank's share */
    double energy, first_energy, temperature; /* per particle, of all ranks */
    long long n_total;
    bool is_time_up;
};

/* fail -- print a line and end all ranks. */
void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* resize -- realloc to n objects of width bytes, or fail. */
void *resize(void *old, long n, size_t width);

/* domain.c: who has which particles. */
void domain_init(struct md *md);
void domain_release(struct md *md);
void make_room(struct md *md, int n);
void migrate(struct md *md);
void choose_ghosts(struct md *md);
void exchange_halo(struct md *md);

/* physics.c: what they do. */
void create_particles(struct md *md);
void rebuild_neighbours(struct md *md);
void pair_forces(struct md *md);
void integrate_positions(struct md *md);
void integrate_velocities(struct md *md);
void reduce_energy(struct md *md, bool is_time_up);

#endif
