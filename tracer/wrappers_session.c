/*
 * MPI begins and ends. The trace ends with MPI_Finalize: what runs afterwards is not recorded,
 * and the functions it was called from, main first of all, are taken to end with it.
 */
#include "session.h"
#include "wrap.h"

EXPORTED int MPI_Init(int *argc, char ***argv)
{
    struct call call = call_begin(CALL_Init);
    int rc = PMPI_Init(argc, argv);

    if (rc == MPI_SUCCESS)
        session_open();
    call_end(&call);
    return rc;
}

EXPORTED int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    struct call call = call_begin(CALL_Init_thread);
    int rc = PMPI_Init_thread(argc, argv, required, provided);

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
