import assert from "node:assert/strict";
import test from "node:test";
import { kindColour, kindNames, kindOf, mostModules } from "./kind_colour";

test("a call never has the colour of its caller, whatever the two are", () => {
    const names = [
        "main",
        "solve",
        "a",
        "b",
        "MPI_Recv",
        "read",
        "hipInit",
        "x_solve_",
        "step",
    ];
    const kinds = Object.keys(kindNames);
    const of = (depth: number) => {
        const colours = new Set<string>();
        for (const kind of kinds)
            for (const name of names)
                for (let module = 0; module <= mostModules; module++)
                    colours.add(kindColour(kind, name, depth, module).join());
        return colours;
    };
    const [even, odd] = [of(0), of(1)];
    assert.ok(even.size > 2 * mostModules && odd.size > 2 * mostModules);
    for (const colour of even) assert.ok(!odd.has(colour), colour);
});

test("modules of own code have different colours, whatever their functions are called", () => {
    const seen = new Map<string, number>();
    for (let module = 0; module <= mostModules; module++)
        for (const name of ["a", "b", "solve", "main", "x_solve_"])
            for (const depth of [0, 1]) {
                const colour = kindColour("user", name, depth, module).join();
                assert.equal(seen.get(colour) ?? module, module, colour);
                seen.set(colour, module);
            }
    assert.deepEqual(kindColour("user", "a", 0, 99), kindColour("user", "a", 0, mostModules));
    assert.deepEqual(kindColour("mpi", "MPI_Send", 0, 3), kindColour("mpi", "MPI_Send", 0, 0));
});

test("files and the runtimes of GPUs are told by name, unless something else is known", () => {
    for (const name of ["read", "pwrite64", "fopen", "H5Dwrite", "nc_put_var", "ncmpi_wait"])
        assert.equal(kindOf("user", name), "io", name);
    assert.equal(kindOf("mpi", "MPI_File_write_at"), "io");
    assert.equal(kindOf("mpi", "MPI_Reduce"), "mpi");
    for (const name of ["hipEventSynchronize", "cudaMemcpy", "cuLaunchKernel", "ncclAllReduce"])
        assert.equal(kindOf("user", name), "runtime", name);
    for (const name of ["reader", "cut", "hipster", "Reader::read", "opened", "nclass"])
        assert.equal(kindOf("user", name), "user", name);
    assert.equal(kindOf("loop", "read"), "loop");
    assert.equal(kindOf("gpu", "read"), "gpu");
});

test("a kind that is not known is drawn as own code", () => {
    assert.deepEqual(kindColour("other", "k", 0), kindColour("user", "k", 0));
    assert.deepEqual(kindColour(undefined, "k", 1), kindColour("user", "k", 1));
});
