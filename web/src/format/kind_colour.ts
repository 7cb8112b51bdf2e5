// Colours of calls by what kind of code they are, and what runs on a GPU: a family of hues each. Own code differs by
// module, and in a module a little by function, as kernels do.
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
type Family = [Rgb[], Rgb[]];

/* Of modules of own code; the last is of all others. */
const modules: Family[] = [
    [
        [86, 180, 233],
        [60, 150, 205],
    ],
    [
        [0, 158, 115],
        [0, 132, 96],
    ],
    [
        [132, 178, 60],
        [112, 156, 44],
    ],
    [
        [150, 105, 75],
        [128, 88, 62],
    ],
    [
        [64, 186, 190],
        [46, 160, 166],
    ],
    [
        [118, 118, 52],
        [98, 98, 40],
    ],
    [
        [120, 140, 165],
        [100, 120, 146],
    ],
].map((even) => [even as Rgb[], even.map((shade) => lighter(shade as Rgb))]);

export const mostModules = modules.length - 1; /* with a hue of their own */

function lighter(colour: Rgb): Rgb {
    return colour.map((c) => Math.round(c + (255 - c) * 0.55)) as Rgb;
}

const families: Record<string, Family> = {
    user: modules[0],
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
    if (kind === "device") return "runtime";
    const known = kind !== undefined && kind in families ? kind : "user";
    if (storingLibrary.test(name) || (known === "user" && storing.test(name))) return "io";
    return known === "user" && gpuRuntime.test(name) ? "runtime" : known;
}

/* module: of own code, the place of its module among them. */
export function kindColour(
    kind: string | undefined,
    name: string,
    depth: number,
    module = 0,
): Rgb {
    const known = kindOf(kind, name);
    const family = known === "user" ? modules[Math.min(module, mostModules)] : families[known];
    const shades = family[depth % 2];
    return shades[name ? hashName(name) % shades.length : 0];
}
