import assert from "node:assert/strict";
import test from "node:test";
import { Outcome } from "../api/types";
import { outcomeWords, slowBesideList } from "./outcome_words";

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
};
const slow = {
    place: "rank 0",
    verdict: "slow",
    why: "solve +50 %",
    cost_ns: 5.15e9,
    more: 0,
    is_first: true,
};
/* "before / behind" */
function said(part: Partial<Outcome>, anomalies = 91): string {
    const { before, behind } = outcomeWords({ outcome: { ...outcome, ...part }, anomalies });
    return before === null ? behind : `${before} / ${behind}`;
}

test("what the anomalies cost, how many carry it, and what most of it goes back to", () => {
    assert.equal(
        said({}),
        "Without them the replayed run is 210 ms of 10.3 s (2.04 %) shorter; " +
            "most of that goes back to rank 1: step > pair_forces takes longer (physics.c:234); " +
            "47 of the 91 carry nine tenths of the 210 ms.",
    );
});

test("all of few carry all: that is not said", () => {
    assert.doesNotMatch(said({ carrying: 3 }, 3), /nine tenths/);
    assert.match(said({ carrying: 1 }, 3), /; 1 of the 3 carries nine tenths/);
});

test("a cost that is not known is not guessed, and why is said", () => {
    const text = said({
        cost_ns: null,
        carrying: null,
        unknown: "clocks disagree",
        most: null,
    });
    assert.equal(text, "What they cost the run is not known: clocks disagree.");
    const one = said({ cost_ns: null, carrying: null, most: null }, 1);
    assert.equal(one, "What it cost the run is not known.");
});

test("what labels left is a bound, and why is said", () => {
    const unknown = "labels have changed since which executions are anomalies";
    assert.match(
        said({ cost_is_bound: true, carrying: null, unknown, most: null }),
        /^Without them the replayed run is at most 210 ms of 10.3 s \(2.04 %\) shorter: labels have changed since which executions are anomalies\.$/,
    );
});

test("what costs nothing is no share of anything", () => {
    assert.match(
        said({ cost_ns: 0, carrying: 0 }),
        /^Without them the replayed run is not shorter/,
    );
});

test("who is slow always comes first where that costs more, else last", () => {
    assert.match(
        said({ slow }),
        /^Rank 0 is slow beside the others: if it were like them, the replayed run would be 5.15 s of 10.3 s \(50 %\) shorter; solve \+50 %. \/ Without them the/,
    );
    const off = { cost_least_ns: 4.12e9, cost_most_ns: 6.18e9 };
    assert.match(
        said({ slow: { ...slow, ...off } }),
        /would be 4.12 to 6.18 s of 10.3 s \(40 to 60 %\) shorter; solve/,
    );
    assert.match(
        said({ slow: { ...slow, is_first: false } }),
        /^Without .* Rank 0 is slow beside the others: if it were .* 5.15 s of/,
    );
    assert.match(
        said({ slow: { ...slow, cost_ns: null, is_first: false } }),
        /^Without .* Rank 0 is slow beside the others: what that costs the run is not known; solve \+50 %.$/,
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
    const none = { cost_ns: null, carrying: null, most: null };
    assert.match(said(none, 0), /^None stands out/);
    assert.equal(
        said({ ...none, is_few: true }, 0),
        "Too few executions to say what is typical.",
    );
});
