import assert from "node:assert/strict";
import test from "node:test";
import { Incident } from "../api/types";
import { chanceWords, incidentSentence } from "./incident_words";

const incident = {
    id: 3,
    head: "PairEAM::compute#1-387",
    lost_ns: 88_300_000,
    members: ["#0-387", "#1-387", "#2-387", "#3-387"],
    ranks: [0, 1, 2, 3],
    turns: 1,
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
        "incident: head #1-387, 1 execution on 1 rank, 0 ns lost",
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
