import assert from "node:assert/strict";
import { test } from "node:test";
import { CauseLink, Incident } from "../api/types";
import { blameOf, shownCause, slowRank } from "./blame";

const link = (rank: number) => ({ rank, thread: 0, function: "solve" }) as CauseLink;
const one = {
    verdict: "normal" as const,
    lost_ns: 0,
    open_ns: null,
    incident: null,
    cause: [link(5)],
    cause_end: "not_waiting",
    rank: 5,
};
const slow = (place: string) => ({
    slow: {
        place,
        verdict: "slow",
        why: "",
        cost_ns: 1,
        more: 0,
        is_first: true,
        says: "",
        text: "",
    },
});

test("an execution that is no anomaly blames nobody", () => {
    assert.equal(blameOf(one, null), null);
    assert.equal(blameOf({ ...one, lost_ns: 9 }, null), null);
    assert.deepEqual(shownCause(one, null), [], "nor is its call marked");
    const waited = [link(5), link(2)];
    assert.deepEqual(shownCause({ ...one, cause: waited }, null), waited);
});

test("who lost time by an anomaly, its own or that of its incident, does", () => {
    assert.equal(blameOf({ ...one, verdict: "anomaly", lost_ns: 9 }, null), "anomaly");
    const incident = { verdict: "anomaly" } as Incident;
    assert.equal(blameOf({ ...one, lost_ns: 9, incident }, null), "anomaly");
    assert.equal(blameOf({ ...one, incident }, null), null, "it lost nothing");
    assert.equal(blameOf({ ...one, verdict: "anomaly" }, null), null, "it takes less");
    assert.equal(blameOf({ ...one, verdict: "anomaly", open_ns: 5 }, null), "anomaly");
});

test("who waits for a rank that is always slow says so, and nobody else does", () => {
    const waits = { ...one, cause: [link(5), link(1)] };
    assert.equal(blameOf(waits, slow("rank 1")), "slow");
    assert.equal(blameOf(waits, slow("rank 2")), null);
    assert.equal(blameOf({ ...one, rank: 1, cause: [link(1)] }, slow("rank 1")), null);
    assert.equal(slowRank(slow("rank 1, thread 2")), null, "no whole rank");
    assert.equal(slowRank({ slow: null }), null);
});
