import assert from "node:assert/strict";
import test from "node:test";
import { Outcome } from "../api/types";
import { outcomeWords, shortSlow, slowBesideList } from "./outcome_words";

const outcome: Outcome = {
    length_ns: 10.3e9,
    is_few: false,
    cost_ns: 210e6,
    cost_is_bound: false,
    unknown: null,
    carrying: 47,
    most: {
        rank: 1,
        ranks: 2,
        incidents: 12,
        ns: 180e6,
        what: "step > pair_forces takes longer",
        function: "pair_forces",
        place: "physics.c:234",
        text: "most of that goes back to rank 1: step > pair_forces takes longer (physics.c:234)",
    },
    slow: null,
    text: "without the anomalies the run is shorter",
    growth: null,
};
const slow = {
    place: "rank 0",
    verdict: "slow",
    why: "solve +50 %",
    cost_ns: 5.15e9,
    more: 0,
    is_first: true,
    says: "rank 0 is slow beside the others",
    text: "rank 0 is slow beside the others: solve +50 %",
};
/* "before / behind" */
function said(part: Partial<Outcome>): string {
    const { before, behind } = outcomeWords({ outcome: { ...outcome, ...part } });
    return before === null ? behind : `${before} / ${behind}`;
}

test("who is slow always comes first where that costs more, else last", () => {
    assert.equal(said({}), "Without the anomalies the run is shorter.");
    assert.equal(
        said({ slow }),
        "Rank 0 is slow beside the others: solve +50 %. / Without the anomalies the run is shorter.",
    );
    assert.equal(
        said({ slow: { ...slow, is_first: false } }),
        "Without the anomalies the run is shorter. Rank 0 is slow beside the others: solve +50 %.",
    );
});

test("that somebody slow costs more than all anomalies is said where it is known", () => {
    const beside = (part: Partial<Outcome>) => slowBesideList({ ...outcome, slow, ...part });
    assert.equal(beside({}), "which costs the run 5.15 s: more than all that is listed here");
    const other = "which costs the run 5.15 s; it is not listed here";
    assert.equal(beside({ cost_ns: null }), other);
    assert.equal(beside({ cost_ns: 6e9 }), other);
    assert.equal(beside({ slow: { ...slow, cost_ns: null } }), null);
    const off = { cost_least_ns: 4.2e9, cost_most_ns: 6.1e9 };
    assert.match(beside({ slow: { ...slow, ...off } })!, /costs the run 4.20 to 6.10 s/);
});

test("where nothing stands out, it says so, and says when there is too little to tell", () => {
    const none = { cost_ns: null, carrying: null, most: null, text: null };
    assert.match(said(none), /^None stands out/);
    assert.equal(said({ ...none, is_few: true }), "Too few executions to say what is typical.");
});

test("of several call paths on which somebody is slow the first is said", () => {
    const why =
        "a > b +8.6 % (565 ms, 68 % of its calls since 3.05 s), c +17 % (248 ms), d +38 % (1 ms)";
    assert.equal(
        shortSlow(`Rank 1 is slow: ${why}.`, why),
        "Rank 1 is slow: a > b +8.6 % (565 ms, 68 % of its calls since 3.05 s), and on 2 more call paths.",
    );
    assert.equal(shortSlow("Rank 1 is slow: c +17 %.", "c +17 %"), "Rank 1 is slow: c +17 %.");
});
