/*
 * Velocity Verlet, with forces from neighbour lists. A pair of owned particles is listed once
 * and both get the force; of a pair with a ghost only the owned one does, because the rank that
 * owns the other lists the pair as well. The potential is shifted to be 0 at the cut-off, so
 * that the energy is conserved.
 */
#include "md.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DENSITY 0.8442
#define FIRST_TEMPERATURE 1.44 /* of the crystal; melting halves it */

/* ------------------------------------------------------------------------------ the begin */

/* splitmix64 (Steele, Lea, Flood 2014); uniform in [0, 1). */
NOT_TRACED static double random_real(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* A face-centred crystal of cells x cells x cells cubes with four particles each. */
static void place_crystal(struct md *md, int cells, double edge)
{
    static const double corner[4][DIM] = {{0, 0, 0}, {.5, .5, 0}, {.5, 0, .5}, {0, .5, .5}};

    make_room(md, 4 * cells * cells * cells);
    for (int i = 0; i < cells * cells * cells; i++) {
        int at[DIM] = {i % cells, i / cells % cells, i / cells / cells};

        for (int k = 0; k < 4; k++, md->n++)
            for (int d = 0; d < DIM; d++)
                md->position[md->n][d] = md->low[d] + (at[d] + corner[k][d] + 0.25) * edge;
    }
}

/* Velocities that are random, do not move the whole, and have the temperature asked for. */
static void choose_velocities(struct md *md)
{
    double sum[DIM + 1] = {0}, square = 0, factor;
    uint64_t state = md->opt.seed * 1000003u + (uint64_t)md->rank;

    for (int i = 0; i < md->n; i++)
        for (int d = 0; d < DIM; d++) {
            md->velocity[i][d] = random_real(&state) - 0.5;
            sum[d] += md->velocity[i][d];
        }
    sum[DIM] = md->n;
    MPI_Allreduce(MPI_IN_PLACE, sum, DIM + 1, MPI_DOUBLE, MPI_SUM, md->comm);
    for (int i = 0; i < md->n; i++)
        for (int d = 0; d < DIM; d++) {
            md->velocity[i][d] -= sum[d] / sum[DIM];
            square += md->velocity[i][d] * md->velocity[i][d];
        }
    MPI_Allreduce(MPI_IN_PLACE, &square, 1, MPI_DOUBLE, MPI_SUM, md->comm);
    factor = sqrt(FIRST_TEMPERATURE * DIM * sum[DIM] / square);
    for (int i = 0; i < md->n; i++)
        for (int d = 0; d < DIM; d++)
            md->velocity[i][d] *= factor;
    md->n_total = (long long)sum[DIM];
}

void create_particles(struct md *md)
{
    double edge = cbrt(4 / DENSITY);
    int cells = 2;

    while (4 * cells * cells * cells < md->opt.particles)
        cells++;
    if (cells * edge < REACH)
        fail("a rank's part of the box is smaller than the reach of the forces");
    for (int d = 0; d < DIM; d++) {
        md->box[d] = md->grid[d] * cells * edge;
        md->low[d] = md->place[d] * cells * edge;
        md->high[d] = (md->place[d] + 1) * cells * edge;
        md->side[d][0].shift = md->place[d] == 0 ? md->box[d] : 0;
        md->side[d][1].shift = md->place[d] == md->grid[d] - 1 ? -md->box[d] : 0;
    }
    place_crystal(md, cells, edge);
    choose_velocities(md);
}

/* ------------------------------------------------------------------------------ neighbours */

/* The cell, at least REACH wide, that a particle is in. Ghosts are up to REACH outside. */
NOT_TRACED static void find_cell(const struct md *md, const double x[DIM], int cell[DIM])
{
    for (int d = 0; d < DIM; d++) {
        double width = (md->high[d] - md->low[d] + 2 * REACH) / md->cells[d];
        int at = (int)((x[d] - md->low[d] + REACH) / width);

        cell[d] = at < 0 ? 0 : at >= md->cells[d] ? md->cells[d] - 1 : at;
    }
}

NOT_TRACED static int cell_number(const struct md *md, const int cell[DIM])
{
    return (cell[2] * md->cells[1] + cell[1]) * md->cells[0] + cell[0];
}

static void make_room_for_cells(struct md *md, int n_cells)
{
    md->cell_start = resize(md->cell_start, n_cells + 2, sizeof *md->cell_start);
    memset(md->cell_start, 0, (size_t)(n_cells + 2) * sizeof *md->cell_start);
    if (md->cap == md->cap_cells)
        return;
    md->cap_cells = md->cap;
    md->cell_of = resize(md->cell_of, md->cap, sizeof *md->cell_of);
    md->member = resize(md->member, md->cap, sizeof *md->member);
    md->member_position = resize(md->member_position, md->cap, sizeof *md->member_position);
    md->first_neighbour = resize(md->first_neighbour, md->cap + 1, sizeof *md->first_neighbour);
}

/* A counting sort. The members of cell c are counted in start[c + 2] and placed from
 * start[c + 1] on, which moves that to where the next cell starts. */
static void sort_into_cells(struct md *md)
{
    int n = md->n + md->n_ghosts, n_cells = 1, cell[DIM], *start;

    for (int d = 0; d < DIM; d++) {
        md->cells[d] = (int)((md->high[d] - md->low[d] + 2 * REACH) / REACH);
        n_cells *= md->cells[d];
    }
    make_room_for_cells(md, n_cells);
    start = md->cell_start;
    for (int i = 0; i < n; i++) {
        find_cell(md, md->position[i], cell);
        md->cell_of[i] = cell_number(md, cell);
        start[md->cell_of[i] + 2]++;
    }
    for (int c = 0; c < n_cells; c++)
        start[c + 2] += start[c + 1];
    for (int i = 0; i < n; i++) {
        int at = start[md->cell_of[i] + 1]++;

        md->member[at] = i;
        memcpy(md->member_position[at], md->position[i], sizeof md->position[i]);
    }
}

NOT_TRACED static double distance2(const double a[DIM], const double b[DIM])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];

    return x * x + y * y + z * z;
}

/* Of the members begin .. end - 1, those within reach of particle i that come after it.
 * Returns the new length of the list. */
NOT_TRACED static int list_members(struct md *md, int i, int begin, int end, int n)
{
    const double x = md->position[i][0], y = md->position[i][1], z = md->position[i][2];
    int *list;

    if (n + end - begin > md->cap_neighbours) {
        md->cap_neighbours = 2 * (n + end - begin) + 65536;
        md->neighbour = resize(md->neighbour, md->cap_neighbours, sizeof *md->neighbour);
    }
    list = md->neighbour;
    for (int k = begin; k < end; k++) {
        const double here[DIM] = {x, y, z};

        list[n] = md->member[k]; /* overwritten by the next if it is not one: no branch */
        n += (md->member[k] > i) & (distance2(here, md->member_position[k]) < REACH * REACH);
    }
    return n;
}

/* The cells around that of a particle: three in a row are one run of members. */
static void list_neighbours(struct md *md)
{
    int n = 0, cell[DIM];

    for (int i = 0; i < md->n; i++) {
        md->first_neighbour[i] = n;
        find_cell(md, md->position[i], cell);
        for (int k = 0; k < 9; k++) {
            int y = cell[1] + k % 3 - 1, z = cell[2] + k / 3 - 1;
            int left = cell[0] > 0 ? cell[0] - 1 : 0;
            int right = cell[0] + 1 < md->cells[0] ? cell[0] + 1 : cell[0];

            if (y < 0 || y >= md->cells[1] || z < 0 || z >= md->cells[2])
                continue;
            n = list_members(md, i, md->cell_start[cell_number(md, (int[]){left, y, z})],
                             md->cell_start[cell_number(md, (int[]){right, y, z}) + 1], n);
        }
    }
    md->first_neighbour[md->n] = n;
}

void rebuild_neighbours(struct md *md)
{
    sort_into_cells(md);
    list_neighbours(md);
}

/* ---------------------------------------------------------------------------------- motion */

/* What particle i and its neighbours do to each other, times scale. Returns the potential. */
NOT_TRACED static double force_on(struct md *md, int i, double at_cutoff, double scale)
{
    double sum[DIM] = {0}, potential = 0;

    for (int k = md->first_neighbour[i]; k < md->first_neighbour[i + 1]; k++) {
        int j = md->neighbour[k];
        double r2 = distance2(md->position[i], md->position[j]), over6, strength;
        bool is_owned = j < md->n;

        if (r2 >= CUTOFF * CUTOFF)
            continue;
        over6 = scale / (r2 * r2 * r2);
        strength = 48 * over6 * (over6 - 0.5) / r2;
        potential += scale * (is_owned ? 1 : 0.5) * (4 * over6 * (over6 - 1) - at_cutoff);
        for (int d = 0; d < DIM; d++) {
            double f = strength * (md->position[i][d] - md->position[j][d]);

            sum[d] += f;
            if (is_owned)
                md->force[j][d] -= f;
        }
    }
    for (int d = 0; d < DIM; d++)
        md->force[i][d] += sum[d];
    return potential;
}

/* With --slower the first particles are computed once more, for nothing: times 0. */
void pair_forces(struct md *md)
{
    double r6 = 1 / (CUTOFF * CUTOFF * CUTOFF * CUTOFF * CUTOFF * CUTOFF);
    double at_cutoff = 4 * r6 * (r6 - 1), potential = 0;
    int n = md->n + (int)(md->n * md->opt.slower_percent / 100);

    memset(md->force, 0, (size_t)md->n * sizeof *md->force);
    for (int i = 0; i < n; i++)
        potential += force_on(md, i % md->n, at_cutoff, i < md->n);
    md->potential = potential;
}

void integrate_positions(struct md *md)
{
    for (int i = 0; i < md->n; i++)
        for (int d = 0; d < DIM; d++) {
            md->velocity[i][d] += 0.5 * TIME_STEP * md->force[i][d];
            md->position[i][d] += TIME_STEP * md->velocity[i][d];
        }
}

void integrate_velocities(struct md *md)
{
    for (int i = 0; i < md->n; i++)
        for (int d = 0; d < DIM; d++)
            md->velocity[i][d] += 0.5 * TIME_STEP * md->force[i][d];
}

/* Energy and temperature of all, and whether rank 0 says that it is time to stop. */
void reduce_energy(struct md *md, bool is_time_up)
{
    double sum[4] = {md->potential, 0, md->n, md->rank == 0 && is_time_up};

    for (int i = 0; i < md->n; i++)
        for (int d = 0; d < DIM; d++)
            sum[1] += 0.5 * md->velocity[i][d] * md->velocity[i][d];
    MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_DOUBLE, MPI_SUM, md->comm);
    if ((long long)sum[2] != md->n_total)
        fail("%lld particles became %.0f", md->n_total, sum[2]);
    md->energy = (sum[0] + sum[1]) / sum[2];
    md->temperature = 2 * sum[1] / (DIM * sum[2]);
    md->is_time_up = sum[3] > 0;
}
