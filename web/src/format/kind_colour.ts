// Colours of calls by what kind of code they are, and what runs on a GPU: a family of hues each. Own code and
// kernels differ by function, too.
// Even and odd depths have no colour in common, so that a call never looks like its caller.
import { hashName, Rgb } from "./colour";

export const kindNames: Record<string, string> = {
    user: "own code",
    loop: "loops",
    mpi: "MPI",
    openmp: "OpenMP",
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

/* Kinds that have no colours are own code. */
export function kindOf(kind: string | undefined): string {
    return kind !== undefined && kind in families ? kind : "user";
}

export function kindColour(kind: string | undefined, name: string, depth: number): Rgb {
    const shades = families[kindOf(kind)][depth % 2];
    return shades[name ? hashName(name) % shades.length : 0];
}
