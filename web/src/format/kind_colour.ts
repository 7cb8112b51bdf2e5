// Colours of calls by what kind of code they are, and what runs on a GPU: a family of hues each. Own code and
// kernels differ by function, too.
// Even and odd depths have no colour in common, so that a call never looks like its caller.
import { hashName, Rgb } from "./colour";

export const kindNames: Record<string, string> = {
    user: "own code",
    loop: "loops",
    mpi: "MPI",
    openmp: "OpenMP",
    io: "I/O",
    gpu: "on a GPU",
    runtime: "runtime",
    tracer: "tracer",
};

/* Of even, and of odd depths. */
const families: Record<string, [Rgb[], Rgb[]]> = {
    user: [
        [
            [86, 180, 233],
            [150, 206, 240],
            [60, 150, 205],
        ],
        [
            [0, 158, 115],
            [110, 200, 175],
            [60, 180, 145],
        ],
    ],
    loop: [[[0, 114, 178]], [[60, 85, 130]]],
    mpi: [[[230, 159, 0]], [[245, 200, 100]]],
    openmp: [[[204, 121, 167]], [[228, 180, 208]]],
    io: [[[176, 160, 120]], [[214, 202, 170]]],
    gpu: [
        [
            [170, 150, 225],
            [150, 128, 210],
        ],
        [
            [205, 192, 245],
            [190, 174, 235],
        ],
    ],
    runtime: [[[240, 228, 66]], [[247, 240, 160]]],
    tracer: [[[150, 150, 150]], [[195, 195, 195]]],
};

/* Of the C library and of the libraries that programs store with. Whoever has a function of that name means the same. */
const storing =
    /^(f?open|f?close|p?readv?|p?writev?|f?read|f?write|lseek|fseeko?|f?sync|fdatasync|ftruncate|fflush|fgets|fputs|fprintf|fscanf|creat|openat)(64)?$/;
const storingLibrary = /^(P?MPI_File_|H5[A-Z]+[a-z_]|nc(mpi)?_|adios2?_)/;
const gpuRuntime = /^(cuda|cu|hip|nccl|rccl)[A-Z]/;

/* What calls of a function are drawn as: own code, where it is of no kind that has colours. What it does is told by its
   name where the trace does not say: files are of MPI, or of nothing, for who recorded them. */
export function kindOf(kind: string | undefined, name = ""): string {
    const known = kind !== undefined && kind in families ? kind : "user";
    if (storingLibrary.test(name) || (known === "user" && storing.test(name))) return "io";
    return known === "user" && gpuRuntime.test(name) ? "runtime" : known;
}

export function kindColour(kind: string | undefined, name: string, depth: number): Rgb {
    const shades = families[kindOf(kind, name)][depth % 2];
    return shades[name ? hashName(name) % shades.length : 0];
}
