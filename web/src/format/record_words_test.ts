import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordBody } from "../api/live_types";
import { oneIn, whyOf } from "./record_words";

const record: RecordBody = {
    event_id: "0:12:3600",
    hostname: "",
    func: "MPI_Wait",
    runtime_total: 8285.562,
    runtime_exclusive: 8285.562,
    outlier_severity: 8285.372,
    p: 5e-6,
    is_pruned: false,
    call_stack: [{ func: "MPI_Wait" }, { func: "CommSync(Domain&)" }, { func: "main" }],
    counter_events: [],
    cause: null,
    gpu_parent: null,
    node_state: null,
};
const anomaly = { isAnomaly: true, isInclusive: false };
const normal = { isAnomaly: false, isInclusive: false };
const nameOf = (func: string) => func.replace(/\(.*/, "");

test("an anomaly: what it took, what is typical, how rare, who called", () => {
    const { what, reason, more, cause } = whyOf(record, anomaly, nameOf);
    assert.equal(what, "MPI_Wait itself took 8.29 ms, typical 190 ns: 8.29 ms were lost.");
    assert.deepEqual(more, [
        "As strange as this: about 1 in 200,000 normal calls.",
        "Called by CommSync, called by main.",
    ]);
    assert.deepEqual(cause, []);
    assert.equal(reason, null);
});

test("where whole times were judged, the whole time is compared", () => {
    const outer = { ...record, runtime_total: 98900, runtime_exclusive: 1210 };
    const said = (isAnomaly: boolean, lost: number) =>
        whyOf({ ...outer, outlier_severity: lost }, { isAnomaly, isInclusive: true }, nameOf)
            .what;
    assert.equal(
        said(true, 97700),
        "MPI_Wait took 98.9 ms, typical 1.20 ms: 97.7 ms were lost.",
    );
    assert.equal(said(false, 0), "MPI_Wait took 98.9 ms, which is typical.");
});

test("of a call that was too short it is not known what is typical", () => {
    const short = { ...record, runtime_exclusive: 19.7, outlier_severity: 0 };
    assert.equal(
        whyOf(short, anomaly, nameOf).what,
        "MPI_Wait itself took 19.7 us, less than is typical.",
    );
});

test("what it cost is said where it is known", () => {
    const said = (cost_ns: number | null, cost_is_bound: boolean | null) =>
        whyOf({ ...record, cost_ns, cost_is_bound }, anomaly, nameOf).more[1];
    assert.equal(said(1.2e6, false), "It costs the run 1.20 ms.");
    assert.equal(said(1.2e6, true), "It costs the run at most 1.20 ms.");
    assert.equal(said(0, false), "It costs the run nothing.");
    assert.equal(said(null, null), "Called by CommSync, called by main.");
});

test("the chain names whom it waited for, and ends where the time was spent", () => {
    const link = { thread: 0, begin_ns: 0, end_ns: 0 };
    const { cause } = whyOf(
        {
            ...record,
            cause: [
                { ...link, rank: 0, function: "MPI_Wait", waits_for: "sender", time_ns: 8e6 },
                { ...link, rank: 3, function: "f(int)", waits_for: null, time_ns: 7e6 },
            ],
        },
        anomaly,
        nameOf,
    );
    assert.deepEqual(cause, [
        "rank 0, MPI_Wait, 8.00 ms: waited for its sender, rank 3.",
        "rank 3, f, 7.00 ms: here the time was spent.",
    ]);
});

test("an execution has its own reason; a normal call none", () => {
    const execution = {
        id: "#0-5",
        index: 5,
        calls: 12,
        messages: 1,
        why: "7 ms beyond what is typical of its calls",
        threshold: 5,
        typical_ns: 1e6,
    };
    const { what, reason } = whyOf({ ...record, execution }, anomaly, nameOf);
    assert.equal(
        what,
        "This MPI_Wait took 8.29 ms, typical 1.00 ms, with 12 calls and 1 message inside.",
    );
    assert.equal(reason, "7 ms beyond what is typical of its calls.");
    assert.equal(
        whyOf(record, normal, nameOf).what,
        "MPI_Wait itself took 8.29 ms, which is typical.",
    );
});

test("what counters, the node and the device say is said", () => {
    const { more } = whyOf(
        {
            ...record,
            p: null,
            is_pruned: true,
            hostname: "n1",
            call_stack: [],
            counter_events: [{ counter_name: "L2 misses", counter_value: 1234 }],
            gpu_parent: { call_stack: [{ func: "launch" }] },
            node_state: { data: [{ field: "Memory free", value: 17 }] },
        },
        anomaly,
        nameOf,
    );
    assert.deepEqual(more, [
        "The final model, which has seen all calls, takes it for normal.",
        "Runs on a GPU, started by launch.",
        "Counters meanwhile: L2 misses 1,234.",
        "The node then: Memory free 17.",
        "On n1.",
    ]);
});

test("how rare, in words", () => {
    assert.equal(oneIn(0.001), "about 1 in 1,000 normal calls");
    assert.equal(oneIn(0.9), "most normal calls");
    assert.equal(oneIn(1e-26), "less than 1 in a billion normal calls");
    assert.equal(oneIn(0), "no normal call");
});
