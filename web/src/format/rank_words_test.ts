import assert from "node:assert/strict";
import test from "node:test";
import { Place } from "../api/types";
import { byInterest, headline, pathWords, placeWords } from "./rank_words";

const path = {
    path: "step > compute",
    kind: "slower" as const,
    factor: 1.051,
    excess_ns: 29_500_000,
    share: 0.98,
    since_ns: 0,
    is_sure: true,
};
const place = (verdict: Place["verdict"], rank: number): Place => ({
    place: `rank ${rank}`,
    rank,
    verdict,
    executions: 10,
    own_ns: 100,
    wait_ns: rank,
    slowdown: 1,
    cost_ns: verdict === "slow" ? 1_000_000 : null,
    paths: verdict === "slow" ? [path] : [],
    waits_for: verdict === "waits" ? "rank 5" : null,
});

test("a path is said as snag ranks prints it", () => {
    assert.equal(
        pathWords(path),
        "step > compute +5.1 % (29.5 ms, 98 % of its calls since 0 ns)",
    );
    assert.equal(
        pathWords({ ...path, kind: "more to do", factor: null, is_sure: false }),
        "step > compute only here (29.5 ms) perhaps",
    );
    assert.equal(placeWords(place("waits", 1)), "for rank 5");
    assert.match(placeWords(place("slow", 1)), /; costs the run 1.00 ms$/);
});

test("who is to blame comes first, then who waits longest", () => {
    const places = [place("usual", 0), place("waits", 1), place("waits", 2), place("slow", 3)];
    assert.deepEqual(
        places.sort(byInterest).map((p) => p.rank),
        [3, 2, 1, 0],
    );
});

test("the headline counts, and says when there is nothing to compare", () => {
    const usual = [0, 1, 2, 3, 4].map((rank) => place("usual", rank));
    assert.equal(headline(usual), "None of 5 ranks is slow.");
    assert.equal(
        headline([...usual, place("slow", 5), place("waits", 6)]),
        "Of 7 ranks: 1 slow, 1 that wait.",
    );
    assert.equal(headline(usual.slice(1)), "Too few ranks to compare them: it takes five.");
});
