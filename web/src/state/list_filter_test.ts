import assert from "node:assert/strict";
import test from "node:test";
import {
    changedFilter,
    filterQuery,
    firstFilter,
    groupQuery,
    isNarrowed,
    passing,
    printFilter,
    readFilter,
    withPart,
} from "./list_filter";

test("a link says nothing of the list as it is at first", () => {
    assert.equal(printFilter(firstFilter), null);
    assert.deepEqual(readFilter(null), firstFilter);
});

test("a link restores the order of the list and what of it is shown", () => {
    for (const filter of [
        { ...firstFilter, order: "score" as const },
        { ...firstFilter, order: "next" as const, rank: 0 },
        {
            rank: 7,
            verdict: "anomaly" as const,
            label: "none" as const,
            time: null,
            order: "incidents" as const,
        },
        { ...firstFilter, time: [2000, 30500] as [number, number] },
    ])
        assert.deepEqual(readFilter(printFilter(filter)), filter);
});

test("a link that somebody broke shows the list as it is at first", () => {
    assert.deepEqual(readFilter("x:strange:odd:fastest"), firstFilter);
    assert.deepEqual(readFilter("1e9:<b>"), firstFilter);
    assert.deepEqual(readFilter("::::9-3"), firstFilter);
    assert.deepEqual(readFilter("::::-3-9"), firstFilter);
});

test("incidents and executions are asked for of their own routes, by the same filters", () => {
    const narrow = { ...firstFilter, rank: 3, verdict: "anomaly" as const };
    assert.equal(filterQuery(narrow, 0, 50), "causes?offset=0&limit=50&rank=3&verdict=anomaly");
    assert.equal(
        filterQuery({ ...narrow, order: "incidents" }, 0, 50),
        "incidents?offset=0&limit=50&rank=3&verdict=anomaly",
    );
    assert.equal(
        groupQuery({ ...firstFilter, rank: 3, label: "none" }, 2, "anomaly", 10),
        "incidents?offset=0&limit=10&rank=3&verdict=anomaly&label=none&group=2",
    );
    assert.equal(
        filterQuery({ ...narrow, order: "score" }, 50, 10),
        "candidates?offset=50&limit=10&order=score&rank=3&verdict=anomaly",
    );
});

test("a time is asked of the server as begin and end", () => {
    const at = { ...firstFilter, time: [10.5, 20.5] as [number, number] };
    assert.equal(filterQuery(at, 0, 50), "causes?offset=0&limit=50&begin=10&end=21");
    assert.equal(isNarrowed(at), true);
});

//  time       0    10        20    30
//  tree 0     [=====]
//  tree 1            [=========]
//  tree 2                           [==]
test("points pass as entries of the list do: by rank, verdict, label, and a part in the time", () => {
    const of = {
        enter_ns: [0, 10, 30],
        duration_ns: [10, 12, 3],
        verdict: [0, 1, 0],
        label: [0, 1, -1],
        rank: [0, 1, 1],
    };
    const all = (filter: Partial<typeof firstFilter>) =>
        [0, 1, 2].filter(passing({ ...firstFilter, ...filter }, of) ?? (() => true));
    assert.equal(passing(firstFilter, of), null);
    assert.deepEqual(all({ rank: 1 }), [1, 2]);
    assert.deepEqual(all({ verdict: "anomaly" }), [1]);
    assert.deepEqual(all({ verdict: "normal" }), [0, 2]);
    assert.deepEqual(all({ label: "none" }), [0]);
    assert.deepEqual(all({ label: "normal" }), [2]);
    assert.deepEqual(all({ time: [10, 30] }), [1]);
    assert.deepEqual(all({ time: [9, 31] }), [0, 1, 2]);
    assert.deepEqual(all({ time: [21, 23], rank: 0 }), []);
});

test("what labels changed is asked of executions, not of incidents", () => {
    const changed = withPart(firstFilter, { verdict: "changed" });
    assert.deepEqual(changed, changedFilter);
    assert.equal(printFilter(changed), ":changed::score");
    assert.deepEqual(readFilter(":changed::score"), changed);
    assert.deepEqual(withPart(changed, { order: "causes" }), firstFilter);
    assert.match(filterQuery(changed, 0, 5), /^candidates\?.*verdict=changed/);
});
