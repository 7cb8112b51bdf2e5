// Colours of calls by what kind of code they are, and what runs on a GPU: a family of hues each. Own code differs by
// module, and in a module a little by function, as kernels do.
// Even and odd depths have no colour in common, so that a call never looks like its caller.
import { hashName } from "./colour";
import { families, modules, Rgb } from "./palette";

export const kindNames: Record<string, string> = {
    user: "own code",
    loop: "loops",
    mpi: "MPI",
    openmp: "threads",
    io: "I/O",
    gpu: "on a GPU",
    runtime: "runtime",
    tracer: "tracer",
};

export const mostModules = modules.length - 1; /* with a hue of their own */

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
