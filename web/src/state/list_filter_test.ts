import assert from "node:assert/strict";
import test from "node:test";
import {
    changedFilter,
    filterQuery,
    firstFilter,
    groupQuery,
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
            order: "incidents" as const,
        },
    ])
        assert.deepEqual(readFilter(printFilter(filter)), filter);
});

test("a link that somebody broke shows the list as it is at first", () => {
    assert.deepEqual(readFilter("x:strange:odd:fastest"), firstFilter);
    assert.deepEqual(readFilter("1e9:<b>"), firstFilter);
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

test("what labels changed is asked of executions, not of incidents", () => {
    const changed = withPart(firstFilter, { verdict: "changed" });
    assert.deepEqual(changed, changedFilter);
    assert.equal(printFilter(changed), ":changed::score");
    assert.deepEqual(readFilter(":changed::score"), changed);
    assert.deepEqual(withPart(changed, { order: "causes" }), firstFilter);
    assert.match(filterQuery(changed, 0, 5), /^candidates\?.*verdict=changed/);
});
