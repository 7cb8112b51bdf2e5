import assert from "node:assert/strict";
import test from "node:test";
import { CauseLink } from "../api/types";
import { causeEnd } from "./cause_end";

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
        explained_ns: 1,
        waits_for: "sender",
        peer: null,
        late: false,
        delay_ns: null,
        guessed: false,
        ...more,
    };
}

test("the rank that was waited for is named though the trace has nothing of it", () => {
    assert.deepEqual(causeEnd([link({ peer: 2 }), link({ peer: 7 })], "no_data"), {
        who: "rank 7 (no data)",
        rank: 7,
        says: "The trace has no events of it.",
    });
    assert.equal(
        causeEnd([link({ waits_for: "collective" })], "no_data")?.who,
        "ranks of the collective (no data)",
    );
});

test("where the chain ends by itself nobody is added", () => {
    assert.equal(causeEnd([link({ waits_for: null })], "not_waiting")?.who, null);
    assert.match(causeEnd([link({ waits_for: "unknown" })], "unknown")!.says, /No record/);
    assert.equal(causeEnd([], null), null);
});
