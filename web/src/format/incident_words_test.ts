import assert from "node:assert/strict";
import test from "node:test";
import { Incident } from "../api/types";
import {
    amountWords,
    causedBy,
    chanceWords,
    comesBack,
    incidentReason,
    incidentSentence,
    shortAmount,
} from "./incident_words";

const incident = {
    id: 3,
    head: "PairEAM::compute#1-387",
    lost_ns: 88_300_000,
    members: ["#0-387", "#1-387", "#2-387", "#3-387"],
    ranks: [0, 1, 2, 3],
    turns: 1,
    alike: 1,
    period: 0,
} as Incident;

test("an incident in a sentence is what snag show prints", () => {
    assert.equal(
        incidentSentence(incident),
        "incident 3: head #1-387, 4 executions on 4 ranks, 88.3 ms lost",
    );
});

test("what only labels made an incident has no number and is alone", () => {
    const alone = { ...incident, id: null, members: ["#1-387"], ranks: [1], lost_ns: 0 };
    assert.equal(
        incidentSentence(alone as Incident),
        "incident: head #1-387, 1 execution on 1 rank, nothing lost",
    );
});

test("an amount is said once: what it cost, and what was lost where that is another", () => {
    const words = (lost_ns: number, cost_ns: number | null, cost_unknown = 0) =>
        amountWords({ lost_ns, cost_ns, cost_unknown, incidents: [1, 2, 3] })?.words;
    assert.equal(words(177e6, 59e6), "costs the run 59.0 ms (each removed alone)");
    assert.equal(words(20.41e6, 20.4e6), "costs the run 20.4 ms (each removed alone)");
    assert.equal(words(14.1e6, null), "14.1 ms lost");
    assert.equal(words(9.73e6, 0), "9.73 ms lost, costs the run nothing");
    assert.equal(
        words(71e6, 49e3, 2),
        "71.0 ms lost; 1 costs the run 49.0 us, of 2 that is not known",
    );
    assert.equal(words(0, 0), undefined);
    assert.equal(
        amountWords({ verdict: "anomaly", lost_ns: 0, cost_ns: 0 })?.words,
        "nothing lost",
    );
    assert.match(amountWords({ lost_ns: 1, cost_ns: null })!.help, /not known/);
});

test("where it may be several numbers, what an incident cost is a range, or at most so much", () => {
    const said = (cost_ns: number | null, cost_least_ns: number, cost_most_ns: number) => {
        const of = { lost_ns: 50e6, cost_ns, cost_least_ns, cost_most_ns };
        return [amountWords(of)?.words, shortAmount(of)];
    };
    assert.deepEqual(said(36.4e6, 29.2e6, 36.4e6), [
        "costs the run 29.2 to 36.4 ms",
        "29.2 to 36.4 ms",
    ]);
    assert.deepEqual(said(1.2e6, 950e3, 1.2e6)[1], "950 us to 1.20 ms");
    assert.deepEqual(said(36.4e6, 36e6, 36.4e6)[0], "costs the run 36.4 ms");
    assert.deepEqual(said(36.4e6, 0, 36.4e6)[1], "≤ 36.4 ms");
    assert.deepEqual(said(null, 0, 5e6), [
        "costs the run at most 5.00 ms, perhaps nothing",
        "≤ 5.00 ms",
    ]);
    assert.deepEqual(said(null, 2e6, 5e6)[1], "2.00 to 5.00 ms");
    const several = { lost_ns: 2e6, cost_ns: 1e6, cost_least_ns: 0 };
    assert.equal(
        amountWords(several, true)?.words,
        "costs the run at most 1.00 ms in all, perhaps nothing",
    );
    const group = { lost_ns: 189e6, cost_ns: 104e6, cost_least_ns: 0, incidents: [1, 2] };
    assert.equal(
        amountWords(group)?.words,
        "costs the run at most 104 ms, perhaps nothing (each removed alone)",
    );
    assert.deepEqual(said(0, 0, 0), ["50.0 ms lost, costs the run nothing", "no cost"]);
});

test("in a line of many it is what it cost, or that nobody knows what", () => {
    const short = (lost_ns: number, cost_ns: number | null) =>
        shortAmount({ lost_ns, cost_ns });
    assert.equal(short(40.6e6, 13.5e6), "13.5 ms");
    assert.equal(short(40.6e6, null), "40.6 ms lost");
    assert.equal(short(40.6e6, 0), "no cost");
    assert.equal(short(0, null), "nothing lost");
});

test("what comes back says how often, and how far apart", () => {
    assert.equal(comesBack({ turns: 9, period: 30 }), "9 times, once in 30 executions");
    assert.equal(comesBack({ turns: 1, period: 0 }), null);
});

test("the rank of the cause is said where it is not that of the head", () => {
    assert.equal(causedBy({ caused_by: null }), null);
    assert.equal(causedBy({ caused_by: 0 }), "caused by rank 0");
});

test("the reason of an entry has no amount: what is lost is said beside it", () => {
    const reason = (cause: string, what: string | null) =>
        incidentReason({ cause, what, alike: 1 });
    assert.equal(
        reason("step > solve +5.04 ms", "step > solve takes longer"),
        "step > solve takes longer",
    );
    assert.equal(
        reason("+88 ns in all", "all calls together take longer"),
        "all calls together take longer",
    );
    assert.equal(
        reason("9 calls of extra (typical: none)", "more calls of extra"),
        "9 calls of extra (typical: none)",
    );
    assert.equal(reason("step > solve +5.04 ms", null), "step > solve +5.04 ms");
    assert.equal(
        incidentReason({
            cause: "6 ranks: step > solve +5.04 ms",
            what: "step > solve takes longer",
            alike: 6,
        }),
        "6 ranks: step > solve takes longer",
    );
});

test("a probability is said as what a run like this shows by chance", () => {
    const of = (p: number) => chanceWords(p, 1000);
    assert.equal(of(0), "fewer than 1 in 10,000 runs would show this by chance");
    assert.equal(of(9e-8), "fewer than 1 in 10,000 runs would show this by chance");
    assert.equal(of(1e-6), "about 1 in 1,000 runs would show this by chance");
    assert.equal(of(3.1e-5), "about 1 in 33 runs would show this by chance");
    assert.equal(of(4e-4), "about 1 in 3 runs would show this by chance");
    assert.equal(of(1e-3), "some executions are so strange by chance");
    assert.equal(of(1), "some executions are so strange by chance");
});
