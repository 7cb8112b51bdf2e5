import assert from "node:assert/strict";
import test from "node:test";
import { kindColour, kindNames, kindOf } from "./kind_colour";

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
    for (const kind of kinds)
        for (const other of kinds)
            for (const name of names)
                for (const child of names)
                    for (const depth of [0, 1])
                        assert.notDeepEqual(
                            kindColour(kind, name, depth),
                            kindColour(other, child, depth + 1),
                        );
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
