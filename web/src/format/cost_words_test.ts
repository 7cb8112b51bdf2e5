import assert from "node:assert/strict";
import test from "node:test";
import { costWords, notKnownWords } from "./cost_words";

const cost = { lost_ns: 2_000_000, cost_ns: 1_200_000, cost_is_bound: false };

test("a bound is said to be one", () => {
    assert.equal(costWords(cost), "costs the run 1.20 ms");
    assert.equal(costWords({ ...cost, cost_is_bound: true }), "costs the run at most 1.20 ms");
    assert.equal(costWords({ lost_ns: 1, cost_ns: 1_200_000 }), "costs the run 1.20 ms");
});

test("nothing that nobody waited for, nothing said of what is not known or not lost", () => {
    assert.equal(
        costWords({ ...cost, cost_ns: 0, cost_is_bound: true }),
        "costs the run nothing",
    );
    assert.equal(costWords({ ...cost, cost_ns: null }), null);
    const none = { ...cost, lost_ns: 0, cost_ns: 0 };
    assert.equal(costWords(none), null);
    assert.equal(costWords({ ...none, verdict: "anomaly" }), "costs the run nothing");
});

test("what cost nobody knows is said with the reason, where there is one", () => {
    assert.equal(notKnownWords({ executions: 0, lost_ns: 0, why: null }), null);
    assert.equal(
        notKnownWords({ executions: 1, lost_ns: 1500, why: null }),
        "What 1 execution that lost 1.50 us cost the run is not known.",
    );
    assert.equal(
        notKnownWords({
            executions: 3,
            lost_ns: 2e6,
            why: "its cost is not known: who waited for whom is not in the trace",
        }),
        "What 3 executions that lost 2.00 ms cost the run is not known: who waited for whom is not in the trace.",
    );
});
