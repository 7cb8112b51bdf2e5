/*
 * MPI begins and ends. The trace ends with MPI_Finalize: what runs afterwards is not recorded,
 * and the functions it was called from, main first of all, are taken to end with it.
 */
#include "complain.h"
#include "recorder.h"
#include "session.h"
#include "wrap.h"

#include <unistd.h>

static bool has_begun;

/* The rank is not known yet: what is recorded is kept. */
void session_first_call(void)
{
}

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    struct call call = call_begin(CALL_Init);
    int rc = PMPI_Init(argc, argv);

    has_begun = true;
    if (rc == MPI_SUCCESS)
        session_open();
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct call call = call_begin(CALL_Init_thread);
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    has_begun = true;
    if (rc == MPI_SUCCESS)
        session_open();
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Finalize(void)
{
    struct call call = call_begin(CALL_Finalize);

    session_end_of_run();
    call_end(&call);
    session_close();
    return PMPI_Finalize();
}

EXPORTED int MPI_Abort(MPI_Comm comm, int errorcode)
{
    struct call call = call_begin(CALL_Abort);

    call_end(&call);
    session_abandon();
    return PMPI_Abort(comm, errorcode);
}

/* A program that calls exit without MPI_Finalize, or returns from main; or has no MPI. */
__attribute__((destructor)) static void at_exit(void)
{
    session_abandon();
    if (!has_begun && atomic_load(&recorder_is_on) && recorder_newest() != NULL)
        complain("MPI_Init was not called: the calls of process %d are not recorded",
                 (int)getpid());
}
