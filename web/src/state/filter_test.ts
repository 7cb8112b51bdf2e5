import assert from "node:assert/strict";
import test from "node:test";
import { Location } from "../api/types";
import {
    changedFilter,
    choosesExecutions,
    conditionsOf,
    Filter,
    filterParameters,
    filterQuery,
    firstFilter,
    groupQuery,
    isNarrowed,
    lanesIn,
    ofPlaces,
    printFilter,
    readFilter,
    without,
    withoutFilter,
    withPart,
} from "./filter";

test("a link says nothing of the list as it is at first", () => {
    assert.equal(printFilter(firstFilter), null);
    assert.deepEqual(readFilter(null), firstFilter);
});

test("a link restores the order of the list and what of it is shown", () => {
    const filters: Partial<Filter>[] = [
        { order: "score" },
        { order: "next", rank: 0 },
        { rank: 7, verdict: "anomaly", label: "none", order: "incidents" },
        { time: [2000, 30500] },
        { kind: "mpi" },
        { node: "node 1:2 %", function: "ns::f<a, b>(c) 50 %" },
        { function: "solve", time: [1, 2], rank: 3 },
    ];
    for (const part of filters) {
        const filter = { ...firstFilter, ...part };
        assert.deepEqual(readFilter(printFilter(filter)), filter);
    }
    assert.equal(printFilter({ ...firstFilter, time: [2000, 30500] }), "::::2000-30500");
});

test("a link that somebody broke shows the list as it is at first", () => {
    assert.deepEqual(readFilter("x:strange:odd:fastest"), firstFilter);
    assert.deepEqual(readFilter("1e9:<b>"), firstFilter);
    assert.deepEqual(readFilter("::::9-3"), firstFilter);
    assert.deepEqual(readFilter("::::-3-9"), firstFilter);
    assert.deepEqual(readFilter(":::::odd:%E0%A4:%"), firstFilter);
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

test("a condition is taken away by itself, or all are", () => {
    const now: Filter = {
        ...firstFilter,
        rank: 3,
        function: "solve",
        kind: "work",
        order: "score",
    };
    assert.deepEqual(conditionsOf(firstFilter), []);
    assert.deepEqual(conditionsOf(now), ["rank", "kind", "function"]);
    assert.deepEqual(conditionsOf(without(now, "rank")), ["kind", "function"]);
    assert.deepEqual(without(now, "function"), { ...now, function: "" });
    assert.deepEqual(withoutFilter(now), { ...firstFilter, order: "score" });
});

test("every route is asked with the same parameters", () => {
    const now: Filter = {
        ...firstFilter,
        time: [1, 9],
        node: "n 1",
        function: "A::b<c>",
        kind: "mpi",
    };
    const asked = String(filterParameters(now));
    assert.equal(asked, "begin=1&end=9&kind=mpi&node=n+1&function=A%3A%3Ab%3Cc%3E");
    assert.equal(filterQuery(now, 0, 50), `causes?offset=0&limit=50&${asked}`);
    assert.equal(
        groupQuery(now, 2, "anomaly", 10),
        `incidents?offset=0&limit=10&verdict=anomaly&begin=1&end=9&kind=mpi&node=n+1&function=A%3A%3Ab%3Cc%3E&group=2`,
    );
    assert.equal(String(filterParameters(firstFilter)), "");
});

test("rank and node leave their lanes", () => {
    const lane = (id: number, rank: number, node: string) =>
        ({ id, rank, node }) as unknown as Location;
    const all = [lane(0, 0, "a"), lane(1, 1, "a"), lane(2, 1, "a"), lane(3, 2, "b")];
    assert.deepEqual(lanesIn(firstFilter, all), [0, 1, 2, 3]);
    assert.deepEqual(lanesIn({ ...firstFilter, rank: 1 }, all), [1, 2]);
    assert.deepEqual(lanesIn({ ...firstFilter, node: "a" }, all), [0, 1, 2]);
    assert.deepEqual(lanesIn({ ...firstFilter, node: "b", rank: 1 }, all), []);
});

test("where and when say which part of the trace, the rest which executions", () => {
    for (const part of [{ rank: 1 }, { node: "a" }, { time: [1, 2] as [number, number] }])
        assert.equal(choosesExecutions({ ...firstFilter, ...part }), false);
    for (const part of [
        { function: "a" },
        { kind: "mpi" as const },
        { label: "none" as const },
    ])
        assert.equal(choosesExecutions({ ...firstFilter, ...part }), true);
    const where: Filter = { ...firstFilter, rank: 1, node: "a", time: [1, 2] };
    const all: Filter = {
        ...where,
        function: "a",
        kind: "mpi",
        label: "none",
        verdict: "normal",
    };
    assert.deepEqual(ofPlaces(all), where);
});

test("what labels changed is asked of executions, not of incidents", () => {
    const changed = withPart(firstFilter, { verdict: "changed" });
    assert.deepEqual(changed, changedFilter);
    assert.equal(printFilter(changed), ":changed::score");
    assert.deepEqual(readFilter(":changed::score"), changed);
    assert.deepEqual(withPart(changed, { order: "causes" }), firstFilter);
    assert.match(filterQuery(changed, 0, 5), /^candidates\?.*verdict=changed/);
});
