/* Also a program that calls exit without MPI_Finalize, or returns from main; or has no MPI. */
#include "run.h"

#include "complain.h"
#include "python.h"
#include "recorder.h"
#include "sample.h"
#include "session.h"

#include <unistd.h>

static bool has_begun;

/* The rank is not known yet: what is recorded is kept. */
void session_first_call(void)
{
}

void run_begun(bool is_good)
{
    has_begun = true;
    if (is_good)
        session_open();
    if (is_good)
        sample_begin();
}

void run_ends(struct call *call)
{
    sample_end();
    session_end_of_run();
    call_end(call);
    session_close(STATE_FINALIZED);
}

void run_aborted(struct call *call)
{
    call_end(call);
    session_close(STATE_ABORTED);
}

__attribute__((destructor)) static void at_exit(void)
{
    session_close(STATE_EXITED);
    /* a program in Python may well run others without MPI */
    if (!has_begun && !python_is_recorded() && atomic_load(&recorder_switch.is_on) &&
        recorder_newest() != NULL)
        complain("MPI_Init was not called: the calls of process %d are not recorded",
                 (int)getpid());
}
