// Methods, templates and lambdas that are inlined around calls of MPI, also where an exception
// goes through them. Prints "FUNCTION CALLS".
#include <cstdio>
#include <mpi.h>

namespace {

volatile int sink; // written after a call, which then is no jump

struct Halo {
    int width;

    inline __attribute__((always_inline)) void send() const
    {
        MPI_Barrier(MPI_COMM_SELF);
        sink = sink + width;
    }
    template <typename Number> inline __attribute__((always_inline)) void wait(Number n) const
    {
        MPI_Barrier(MPI_COMM_SELF);
        sink = sink + int(n);
        if (sink % 7 == 100)
            throw n;
    }
};

__attribute__((noinline)) void step(const Halo &halo)
{
    halo.send();
    halo.wait(1.5);
    halo.wait(2);
}

struct Guard {
    inline __attribute__((always_inline)) ~Guard()
    {
        MPI_Barrier(MPI_COMM_SELF);
        sink = sink + 1;
    }
};

__attribute__((noinline)) void fails(int i)
{
    Guard guard;

    MPI_Barrier(MPI_COMM_SELF);
    if (i % 2)
        throw i;
}

} // namespace

int main(int argc, char **argv)
{
    Halo halo{1};
    int caught = 0;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100; i++)
        step(halo);
    for (int i = 0; i < 20; i++)
        try {
            fails(i);
        } catch (int) {
            caught++;
        }
    MPI_Finalize();
    std::printf("(anonymous namespace)::Halo::send() const 100\n");
    std::printf("void (anonymous namespace)::Halo::wait<double>(double) const 100\n");
    std::printf("void (anonymous namespace)::Halo::wait<int>(int) const 100\n");
    return caught == 10 ? 0 : 1;
}
