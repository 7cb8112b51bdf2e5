// Exceptions that go through functions which are on the stack when MPI is called, whose
// destructors and handlers call it too. Prints "FUNCTION CALLS" of each.
#include <cstdio>
#include <mpi.h>
#include <stdexcept>

#define NOT_INLINED __attribute__((noinline, noclone))

static volatile int sink;

extern "C" NOT_INLINED void talk()
{
    MPI_Barrier(MPI_COMM_SELF);
    sink = sink + 1;
}

struct guard {
    ~guard() { talk(); }
};

extern "C" NOT_INLINED void throws(int i)
{
    guard here;

    talk();
    if (i % 2)
        throw std::runtime_error("odd");
    sink = sink + 1;
}

extern "C" NOT_INLINED void passes(int i)
{
    guard here;

    talk();
    throws(i);
    sink = sink + 1;
}

extern "C" NOT_INLINED int catches(int i)
{
    try {
        passes(i);
        talk();
        return 0;
    } catch (const std::exception &) {
        talk();
        return 1;
    }
}

extern "C" NOT_INLINED void throws_again(int i)
{
    try {
        passes(i);
    } catch (...) {
        talk();
        throw;
    }
}

int main(int argc, char **argv)
{
    int n_caught = 0;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 1000; i++)
        n_caught += catches(i);
    for (int i = 0; i < 100; i++)
        try {
            throws_again(i);
        } catch (const std::exception &) {
            n_caught++;
        }
    MPI_Finalize();
    std::printf("throws 1100\npasses 1100\ncatches 1000\nthrows_again 100\nmain 1\n");
    return n_caught == 550 ? 0 : 1;
}
