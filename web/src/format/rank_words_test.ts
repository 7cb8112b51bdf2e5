import assert from "node:assert/strict";
import test from "node:test";
import { Place, Ranks, TeamThread } from "../api/types";
import {
    byInterest,
    headline,
    operationsWords,
    ownOfThread,
    pathWords,
    placeWords,
    sumsOfPlaces,
    teamsWords,
    threadsOf,
    threadWords,
    waitedFor,
} from "./rank_words";

const path = {
    path: "step > compute",
    stage: null,
    kind: "slower" as const,
    factor: 1.051,
    kernel: null,
    places: 1,
    kernel_on: null,
    kernel_factor: null,
    excess_ns: 29_500_000,
    share: 0.98,
    since_ns: 0,
    share_of: "calls" as const,
    is_from_start: true,
    is_sure: true,
};
const place = (verdict: Place["verdict"], rank: number): Place => ({
    place: `rank ${rank}`,
    program: 0,
    rank,
    thread: 0,
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
        "step > compute +5.1 % (29.5 ms, 98 % of its calls from the start)",
    );
    assert.equal(
        pathWords({ ...path, is_from_start: false, since_ns: 1_200_000_000 }),
        "step > compute +5.1 % (29.5 ms, 98 % of its calls since 1.20 s)",
    );
    assert.match(pathWords({ ...path, stage: 2 }), /^step > compute of stage 2 \+5\.1 %/);
    assert.match(
        pathWords({ ...path, kernel: "sgemm", kernel_on: "GPU", kernel_factor: 1.4 }),
        /^step > compute \+5\.1 %, on its GPU sgemm \+40 % \(/,
    );
    assert.equal(
        pathWords({ ...path, kind: "more to do", factor: null, is_sure: false }),
        "step > compute only here (29.5 ms) perhaps",
    );
    assert.match(
        pathWords({ ...path, kind: "more to do", factor: null, places: 2 }),
        /^step > compute only here and on 1 other \(/,
    );
    assert.equal(placeWords(place("waits", 1)), "for rank 5");
    assert.match(placeWords(place("slow", 1)), /; costs the run 1.00 ms$/);
    const off = { cost_least_ns: 700_000, cost_most_ns: 1_300_000 };
    assert.match(
        placeWords({ ...place("slow", 1), ...off }),
        /; costs the run 700 us to 1.30 ms$/,
    );
});

test("who is to blame comes first, then who waits longest", () => {
    const places = [place("usual", 0), place("waits", 1), place("waits", 2), place("slow", 3)];
    assert.deepEqual(
        places.sort(byInterest).map((p) => p.rank),
        [3, 2, 1, 0],
    );
});

const said = (places: Place[]) => headline({ places, by: "rank" });

test("the headline counts, and says when there is nothing to compare", () => {
    const usual = [0, 1, 2, 3, 4].map((rank) => place("usual", rank));
    assert.equal(said(usual), "None of 5 ranks is slow again and again.");
    assert.equal(
        said([...usual, place("slow", 5), place("waits", 6)]),
        "Of 7 ranks: 1 slow, 1 that waits.",
    );
    assert.equal(said(usual.slice(1)), "None of 4 ranks is slow again and again.");
    const four = [place("slow", 0), place("waits", 1), place("waits", 2), place("waits", 3)];
    assert.equal(said(four), "Of 4 ranks: 1 slow, 3 that wait.");
    const unsure = [place("unsure", 0), place("unsure", 1)];
    assert.equal(
        said(unsure),
        "Too few executions that all 2 ranks have in common to compare them.",
    );
    assert.equal(
        said([place("unsure", 0)]),
        "There is only one rank, which cannot be compared.",
    );
});

test("threads in teams are said as snag ranks prints them", () => {
    const thread: TeamThread = {
        ...{ place: "rank 0 thread 1", rank: 0, thread: 1, verdict: "slow", factor: 1.4 },
        ...{ excess_ns: 4e6, why: "loop > sweep +40 %", cost_ns: 3e6 },
    };
    const teams = { compared: 240, threads: 4, slow: [thread] };
    assert.equal(
        headline({ places: [place("unsure", 0)], by: "thread", teams }),
        "There is only one thread, which cannot be compared. " +
            "Of up to 4 threads in 240 teams, one is slower again and again.",
    );
    assert.match(teamsWords({ ...teams, slow: [] }), /none is slower again and again\.$/);
    assert.match(
        teamsWords({ ...teams, slow: [thread, thread] }),
        /some are slower again and again\.$/,
    );
    assert.equal(threadWords(thread), "loop > sweep +40 %; costs the run 3.00 ms");
    assert.equal(threadWords({ ...thread, cost_ns: null }), "loop > sweep +40 %");
    assert.equal(
        threadWords({ ...thread, cost_least_ns: 0, cost_most_ns: 3e6 }),
        "loop > sweep +40 %; costs the run at most 3.00 ms",
    );
    assert.ok(Math.abs(ownOfThread(thread) - 14e6) < 1);
});

test("operations are said as snag ranks prints them", () => {
    const of = { slowdown: 1.973, operations: [{ name: "f", slowdown: 1.5, time_ns: 1 }] };
    assert.match(operationsWords(of as Ranks)!, /49\.3 % shorter \(actual \/ ideal = 1\.973\)/);
    const bound = { ...of, slowdown_is_bound: true };
    assert.match(operationsWords(bound as Ranks)!, /at most 49\.3 % shorter/);
    assert.equal(
        operationsWords({ ...of, operations: [] as Ranks["operations"] } as Ranks),
        null,
    );
    assert.equal(operationsWords({ ...of, slowdown: null } as Ranks), null);
});

test("a rank has its own threads, those of another program with its number not", () => {
    const thread = (program: number, rank: number, thread: number): Place => ({
        ...place(thread === 1 ? "slow" : "usual", rank),
        program,
        thread,
    });
    const all = [thread(0, 1, 0), thread(0, 1, 1), thread(1, 1, 2), thread(0, 2, 0)];
    assert.deepEqual(
        threadsOf(place("usual", 1), all).map((t) => t.thread),
        [1, 0],
    );
});

//  location   0 1 2 3      ranks 0, 0, 1, and a stream that is in no place
test("what passes a filter is summed by the places of its locations", () => {
    const ranks = {
        places: [{ place: "rank 0" }, { place: "rank 1" }] as Place[],
        of_location: [0, 0, 1, null],
    };
    const by = {
        executions: [2, 1, 0, 9],
        duration_ns: [20, 10, 0, 9],
        lost_ns: [5, 0, 0, 9],
    };
    const sums = sumsOfPlaces(ranks, by);
    assert.deepEqual(
        ranks.places.map((place) => sums.get(place)),
        [
            { executions: 3, duration_ns: 30, lost_ns: 5 },
            { executions: 0, duration_ns: 0, lost_ns: 0 },
        ],
    );
});

test("whom others wait for is counted by its name, and says so", () => {
    const of = (name: string, whom: string | null) =>
        ({ place: name, waits_for: whom }) as Place;
    const many = waitedFor([
        of("rank 0", "rank 2"),
        of("rank 1", "rank 2"),
        of("rank 2", "rank 2"),
    ]);
    assert.deepEqual([...many], [["rank 2", 2]]);
    assert.equal(placeWords(place("usual", 2), 2), "2 wait for it");
});
