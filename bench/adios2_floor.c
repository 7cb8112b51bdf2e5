/*
 * adios2_floor FILE -- reads every step of a file of TAU's through ADIOS2 and does nothing with
 * it: its tables, each whole, into memory that is used again. Prints
 *
 *     steps 40 rows 1241938 bytes 62000000 wall_s 0.0642 cpu_s 0.0633 peak_bytes 6373376
 */
#include <adios2_c.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* One table of the step into *memory; returns its rows. */
static size_t read_table(adios2_io *io, adios2_engine *engine, const char *name,
                         uint64_t **memory, size_t *bytes)
{
    adios2_variable *variable = adios2_inquire_variable(io, name);
    size_t shape[2] = {0, 0}, start[2] = {0, 0};

    if (variable == NULL || adios2_variable_shape(shape, variable) != adios2_error_none ||
        shape[0] == 0)
        return 0;
    if (shape[0] * shape[1] * sizeof **memory > *bytes) {
        *bytes = shape[0] * shape[1] * sizeof **memory;
        *memory = realloc(*memory, *bytes);
    }
    adios2_set_selection(variable, 2, start, shape);
    if (*memory == NULL ||
        adios2_get(engine, variable, *memory, adios2_mode_sync) != adios2_error_none) {
        fprintf(stderr, "adios2_floor: cannot read %s\n", name);
        exit(1);
    }
    return shape[0];
}

int main(int argc, char **argv)
{
    static const char *const tables[] = {"event_timestamps", "comm_timestamps",
                                         "counter_values"};
    adios2_step_status status;
    adios2_adios *adios = adios2_init_serial();
    adios2_io *io = adios2_declare_io(adios, "tau");
    double begin_s = now_s();
    adios2_engine *engine = argc > 1 ? adios2_open(io, argv[1], adios2_mode_read) : NULL;
    size_t n_steps = 0, n_rows = 0, cap = 0;
    uint64_t *memory = NULL;
    struct rusage usage;

    if (engine == NULL) {
        fprintf(stderr, "usage: adios2_floor FILE\n");
        return 2;
    }
    while (adios2_begin_step(engine, adios2_step_mode_read, 0, &status) == adios2_error_none &&
           status == adios2_step_status_ok) {
        n_steps++;
        for (int i = 0; i < 3; i++)
            n_rows += read_table(io, engine, tables[i], &memory, &cap);
        adios2_end_step(engine);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("steps %zu rows %zu wall_s %.4f cpu_s %.4f peak_bytes %ld\n", n_steps, n_rows,
           now_s() - begin_s, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime),
           usage.ru_maxrss * 1024L);
    return 0;
}
