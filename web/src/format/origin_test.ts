import assert from "node:assert/strict";
import test from "node:test";
import { CauseLink } from "../api/types";
import { numberedCauses, originOf } from "./origin";

function link(more: Partial<CauseLink>): CauseLink {
    return {
        rank: 0,
        thread: 0,
        call: 0,
        function: "MPI_Recv",
        path: ["MPI_Recv"],
        begin_ns: 0,
        end_ns: 1,
        time_ns: 1,
        calls: 1,
        waits_for: "sender",
        peer: null,
        late: false,
        delay_ns: null,
        guessed: false,
        ...more,
    };
}

test("the rank that was waited for is named though the trace has nothing of it", () => {
    assert.deepEqual(originOf([link({ peer: 2 }), link({ peer: 7 })], "no_data"), {
        rank: 7,
        thread: 0,
        link: null,
        who: "rank 7",
        says: "The trace has no events of rank 7.",
    });
    assert.equal(
        originOf([link({ waits_for: "collective" })], "no_data")?.who,
        "ranks of the collective",
    );
});

test("where the time was spent is where it goes back to", () => {
    const last = link({ rank: 3, thread: 2, function: "solve", waits_for: null });
    const origin = originOf([link({}), last], "not_waiting")!;
    assert.equal(origin.who, "rank 3, thread 2");
    assert.equal(origin.link, last);
    assert.match(origin.says, /solve waits for nothing that the trace shows/);
});

test("of an operation that itself took long it says who was there in time, and which operation", () => {
    const last = link({ rank: 4, function: "MPI_Allreduce", waits_for: "collective", peer: 2 });
    const origin = originOf([last], "in_time")!;
    assert.equal(origin.link, last);
    assert.equal(
        origin.says,
        "Rank 2 was there in time: MPI_Allreduce on rank 4 itself took long.",
    );
    const send = { rank: 4, function: "MPI_Send", waits_for: "receiver", peer: 2, delay_ns: 0 };
    assert.equal(
        originOf([link(send)], "in_time")!.says,
        "It did not wait for rank 2: MPI_Send on rank 4 itself took long.",
    );
});

test("of two that wait for each other it goes back to who was stopped", () => {
    const last = link({ rank: 1, function: "MPI_Send", waits_for: "receiver", peer: 0 });
    const origin = originOf([link({}), last], "stopped")!;
    assert.equal(origin.rank, 1);
    assert.match(origin.says, /^Rank 1 was in MPI_Send before rank 0 came/);
});

test("in a circle nobody is first", () => {
    const origin = originOf([link({ rank: 1, peer: 2 })], "cycle")!;
    assert.equal(origin.rank, null);
    assert.equal(origin.who, "rank 1 and rank 2 wait for each other");
});

test("without a chain there is nothing to go back to", () => {
    assert.equal(originOf([], null), null);
    assert.equal(originOf(null, "not_waiting"), null);
});

test("a chain is numbered from what it goes back to", () => {
    const numbers = numberedCauses([link({ rank: 5 }), link({ rank: 7 })]);
    assert.deepEqual(
        numbers.map((of) => [of.number, of.link.rank]),
        [
            [1, 7],
            [2, 5],
        ],
    );
    assert.deepEqual(numberedCauses(null), []);
});
