import assert from "node:assert/strict";
import { test } from "node:test";
import { foldMiddle, isolate, numbersApart, pieces } from "./name_text";

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

test("a long name may be broken where its words meet, a short one nowhere", () => {
    const broken = (name: string) => pieces(name).join("|");
    assert.equal(broken("pair_forces"), "pair_forces");
    assert.equal(broken("MPI_Waitall@domain.c:122"), "MPI_|Waitall|@domain|.c:122");
    assert.equal(broken("exchange_dimension"), "exchange_|dimension");
    assert.equal(broken("at::native::copy_(float)"), "at::|native::|copy_|(float)");
    assert.equal(broken("cudaStreamSynchronize"), "cuda|Stream|Synchronize");
    assert.equal(broken("DistributedData.forward"), "Distributed|Data|.forward");
    assert.equal(broken("/usr/lib/libnuma.so.1"), "/usr/|lib/|libnuma|.so.1");
    assert.equal(broken("backward_codegen_…ted_fi"), "backward_|codegen_|…|ted_|fi");
    assert.equal(broken("x".repeat(30)), "x".repeat(30));
});

test("in a sentence only its long words are", () => {
    const said = "step > solve, exchange_dimension +56.6 ms (typical: 3.45 us)";
    assert.equal(pieces(said).join("|"), said.replace("exchange_", "exchange_|"));
    assert.equal(pieces(said).join(""), said);
});

test("a number stays with its unit", () => {
    const said = "step +8.6 % (565 ms, 3 steps since 3.05 s); 788 MiB";
    const apart = [
        "step ",
        "+8.6 %",
        " ",
        "(565 ms,",
        " 3 steps since ",
        "3.05 s);",
        " ",
        "788 MiB",
        "",
    ];
    assert.deepEqual(numbersApart(said), apart);
    assert.equal(apart.join(""), said);
});
