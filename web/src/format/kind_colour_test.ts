import assert from "node:assert/strict";
import test from "node:test";
import { kindColour, kindNames } from "./kind_colour";

test("a call never has the colour of its caller, whatever the two are", () => {
    const names = ["main", "solve", "a", "b", "MPI_Recv", "x_solve_", "step"];
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

test("a kind that is not known is drawn as own code", () => {
    assert.deepEqual(kindColour("io", "k", 0), kindColour("user", "k", 0));
    assert.deepEqual(kindColour(undefined, "k", 1), kindColour("user", "k", 1));
});
