import assert from "node:assert/strict";
import test from "node:test";
import {
    ExecutionRows,
    executionsDuring,
    indexOf,
    nearestOf,
    PairChosen,
    printPair,
    readPair,
    rowsOfPair,
    stepPair,
    stepPlace,
    typicalPair,
} from "./compared_pairs";

type Row = [rank: number, index: number, enter: number, duration: number, thread?: number];

function rowsOf(rows: Row[]): ExecutionRows {
    return {
        n: rows.length,
        rank: rows.map((r) => r[0]),
        index: rows.map((r) => r[1]),
        enter_ns: rows.map((r) => r[2]),
        duration_ns: rows.map((r) => r[3]),
        thread: rows.map((r) => r[4] ?? 0),
    };
}

const a = rowsOf([
    [0, 0, 0, 90],
    [0, 1, 100, 50],
    [0, 2, 200, 52],
    [1, 0, 0, 51],
    [1, 1, 100, 70],
    [2, 0, 0, 40],
]);
const b = rowsOf([
    [0, 0, 0, 80],
    [0, 2, 200, 60],
    [1, 0, 0, 61],
    [1, 3, 300, 99],
    [3, 0, 0, 60, 1],
]);
const [A, B] = [indexOf(a), indexOf(b)];
const at = (rank: number, number: number): PairChosen => ({
    by: "same",
    rank,
    thread: 0,
    number,
});

test("a pair in a link is read as it was written, and nothing else is", () => {
    const pairs: PairChosen[] = [
        at(3, 17),
        { by: "same", rank: 3, thread: 1, number: 0 },
        { by: "longest", number: 4 },
        { by: "typical", number: 0 },
    ];
    assert.deepEqual(pairs.map(printPair), [
        "same:3:17",
        "same:3.1:0",
        "longest:4",
        "typical:0",
    ]);
    for (const pair of pairs) assert.deepEqual(readPair(printPair(pair)), pair);
    for (const said of [
        "",
        "same:3",
        "same::3",
        "longest:3:4",
        "same:1:-1",
        "worst:1",
        "same:1.2.3:4",
    ])
        assert.equal(readPair(said), null, said);
});

test("the same rank and number, wherever each run has it; or the same place in the order of each", () => {
    assert.deepEqual(rowsOfPair(at(1, 0), [A, B]), [3, 2]);
    assert.deepEqual(rowsOfPair(at(0, 1), [A, B]), [1, -1], "the other has no such number");
    assert.deepEqual(rowsOfPair({ by: "longest", number: 0 }, [A, B]), [0, 3]);
    assert.deepEqual(rowsOfPair({ by: "longest", number: 1 }, [A, B]), [4, 0]);
    assert.deepEqual(rowsOfPair({ by: "longest", number: 5 }, [A, B]), [5, -1]);
    // The medians are 51 and 61.
    assert.deepEqual(rowsOfPair({ by: "typical", number: 0 }, [A, B]), [3, 2]);
});

test("at first the pair is shown in which both are most like the others of their run", () => {
    assert.deepEqual(typicalPair([a, b], B), at(1, 0));
    const apart = rowsOf([[9, 0, 0, 1]]);
    assert.equal(typicalPair([a, apart], indexOf(apart)), null);
});

test("steps lead to what both runs have, and end there", () => {
    assert.deepEqual(stepPair(at(0, 0), 1, [A, B]), at(0, 2), "1 is in one run alone");
    assert.deepEqual(stepPair(at(0, 2), 1, [A, B]), at(0, 2));
    assert.deepEqual(stepPair(at(0, 2), -1, [A, B]), at(0, 0));
    const third: PairChosen = { by: "longest", number: 3 };
    assert.equal(stepPair(third, 1, [A, B]).number, 4);
    assert.equal(stepPair({ by: "longest", number: 4 }, 1, [A, B]).number, 4, "one has 5 only");
    assert.equal(stepPair({ by: "longest", number: 0 }, -1, [A, B]).number, 0);
});

test("another rank keeps the number as far as it can", () => {
    assert.deepEqual(stepPlace(at(0, 2), 1, [A, B]), at(1, 0));
    assert.deepEqual(stepPlace(at(1, 0), 1, [A, B]), at(1, 0), "rank 2 is in one run alone");
    assert.deepEqual(stepPlace(at(1, 0), -1, [A, B]), at(0, 0));
    assert.deepEqual(nearestOf(at(0, 1), [A, B]), at(0, 0));
    assert.deepEqual(nearestOf(at(7, 1), [A, B]), at(7, 1), "nothing is near");
});

test("on other ranks the execution that has most of the time is shown", () => {
    const during = executionsDuring(a, 40, 130);
    assert.equal(during({ rank: 0, thread: 0 }), 0);
    assert.equal(during({ rank: 1, thread: 0 }), 4);
    assert.equal(during({ rank: 2, thread: 0 }), -1, "it ends when the time begins");
});
