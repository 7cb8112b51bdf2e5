import assert from "node:assert/strict";
import test from "node:test";
import { moduleName, moduleOf, program } from "./module";

const named = (short_name: string, file: string | null = null) => ({
    name: short_name,
    short_name,
    file,
});

test("a function is of its file, else of its class or namespace, else of the program", () => {
    assert.equal(moduleOf(named("PairEAM::compute", "/src/pair_eam.cpp")), "/src/pair_eam.cpp");
    assert.equal(moduleOf(named("PairEAM::compute")), "PairEAM");
    assert.equal(moduleOf(named("a::b::c")), "a::b");
    assert.equal(moduleOf(named("aten::add_")), "aten");
    assert.equal(
        moduleOf(named("autograd::engine::evaluate_function: a::b")),
        "autograd::engine",
    );
    assert.equal(moduleOf(named("nn/linear.py(114): forward")), "nn/linear.py");
    assert.equal(moduleOf(named("solve")), program);
    assert.equal(moduleOf(named("operator<< (std::ostream)")), program);
    assert.equal(moduleOf(named("::solve")), program);
});

test("files that are called alike are shown with their folders", () => {
    const all = ["/a/x/main.c", "/a/y/main.c", "/a/y/solve.c", "A::B"];
    assert.deepEqual(
        all.map((module) => moduleName(module, all)),
        ["x/main.c", "y/main.c", "solve.c", "A::B"],
    );
});
