/*
 * One process: what all have is what it has. There are no communicators, and the trace begins
 * with the first call that is recorded and ends with the process.
 */
#include "communicators.h"
#include "complain.h"
#include "sample.h"
#include "session.h"
#include "team.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

void team_form(void)
{
}

void team_part(void)
{
}

int team_rank(void)
{
    return 0;
}

int team_size(void)
{
    return 1;
}

bool team_is_mpi(void)
{
    return false;
}

bool team_is_spawned(void)
{
    return false;
}

void team_broadcast(void *data, size_t bytes)
{
    (void)data, (void)bytes;
}

void team_barrier(void)
{
}

bool team_all(bool is_true)
{
    return is_true;
}

void team_gather(const void *own, size_t bytes, void *all)
{
    memcpy(all, own, bytes);
}

void team_send(int to, const void *data, size_t bytes)
{
    (void)to, (void)data, (void)bytes; /* there is nobody else */
}

void team_receive(int from, void *data, size_t bytes)
{
    (void)from, (void)data, (void)bytes;
}

/* -------------------------------------------------------------------------- communicators */

void communicators_begin(void)
{
}

uint32_t communicators_from(uint32_t first,
                            void (*each)(void *ctx, const struct communicator *c), void *ctx)
{
    (void)first, (void)each, (void)ctx;
    return 0;
}

void communicators_end(void)
{
}

/* ------------------------------------------------------------------------- begin and end */

void session_first_call(void)
{
    session_open();
}

__attribute__((constructor)) static void at_begin(void)
{
    sample_begin();
}

__attribute__((destructor)) static void at_exit(void)
{
    sample_end();
    if (session_is_open() && dlsym(RTLD_DEFAULT, "MPI_Init") != NULL)
        complain("process %d is of MPI, whose calls are not recorded: that takes "
                 "another library (snag record --tracer openmpi or mpich)",
                 (int)getpid());
    session_close(STATE_EXITED);
}
