/* One process, no MPI: blocks of a file are read, packed and kept. */
#include "../truth.h"

static void parse(void)
{
    truth_work("parse", 1.0);
}

static void pack_piece(void)
{
    truth_work("pack_piece", 0.5);
}

static void pack(void)
{
    for (int i = truth_pieces(4); i > 0; i--)
        pack_piece();
}

static void block(int i)
{
    truth_step(i);
    parse();
    pack();
}

int main(void)
{
    int n;

    truth_begin(0, 1);
    n = truth_steps(300);
    for (int i = 0; i < n; i++)
        block(i);
    truth_end();
    return 0;
}
