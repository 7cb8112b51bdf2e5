import assert from "node:assert/strict";
import { test } from "node:test";
import { foldMiddle, isolate } from "./name_text";

test("a name that fits stays as it is", () => {
    assert.equal(foldMiddle("MPI_Waitall"), "MPI_Waitall");
    assert.equal(foldMiddle("x".repeat(56)), "x".repeat(56));
});

test("of a long one there are the beginning and the end", () => {
    const folded = foldMiddle(`Kokkos::parallel_for<${"A".repeat(300)}, int>`);
    assert.equal([...folded].length, 56);
    assert.match(folded, /^Kokkos::parallel_for<A+…A+, int>$/);
});

test("letters that take two places are not cut in half", () => {
    const folded = foldMiddle("𝛼".repeat(100), 9);
    assert.equal(folded, "𝛼𝛼𝛼𝛼𝛼…𝛼𝛼𝛼");
});

test("a name from right to left stands by itself, other texts stay as they are", () => {
    assert.equal(
        isolate("step > \u05d0\u05d1_2 +700 us"),
        "step > \u2068\u05d0\u05d1_2\u2069 +700 us",
    );
    assert.equal(isolate("step > solve +700 us"), "step > solve +700 us");
});
