// What is shown while questions are asked, and which answer wins.
import { signal } from "@preact/signals";
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../api/http";
import { hasServer, Query, queryOf, timesBack, when } from "./query";

interface Sent {
    to: string;
    abort: AbortSignal;
    come: (value: string) => void;
    fail: (error: Error) => void;
}

/* A server that answers when it is told to. */
function server() {
    const sent: Sent[] = [];
    const ask = (to: string) => (abort: AbortSignal) =>
        new Promise<string>((come, fail) => sent.push({ to, abort, come, fail }));
    return { sent, ask };
}

const soon = () => new Promise((done) => setTimeout(done, 0));
const seen = ({ answer }: Query<string>) => {
    const { value, error, isLoading } = answer.value;
    return [value, error, isLoading];
};

test("nothing is asked, loading, there", async () => {
    const { sent, ask } = server();
    const query = new Query<string>();
    assert.deepEqual(seen(query), [null, null, false]);
    query.ask({ about: "a", ask: ask("a") });
    assert.deepEqual(seen(query), [null, null, true]);
    query.ask({ about: "a", ask: ask("a") });
    assert.equal(sent.length, 1, "the same question is not asked twice");
    sent[0].come("of a");
    await soon();
    assert.deepEqual(seen(query), ["of a", null, false]);
    query.ask(null);
    assert.deepEqual(seen(query), [null, null, false]);
});

test("the newest question wins, in whichever order answers come", async () => {
    for (const order of [
        [0, 1, 2],
        [2, 1, 0],
        [1, 2, 0],
    ]) {
        const { sent, ask } = server();
        const query = new Query<string>();
        for (const about of ["a", "b", "c"]) query.ask({ about, ask: ask(about) });
        assert.deepEqual(
            sent.map(({ abort }) => abort.aborted),
            [true, true, false],
        );
        for (const i of order) {
            sent[i].come(`of ${sent[i].to}`);
            await soon();
            const [value] = seen(query);
            assert.ok(value === null || value === "of c", String(value));
        }
        assert.deepEqual(seen(query), ["of c", null, false]);
    }
});

test("an older answer stays only while the same thing is asked about", async () => {
    const { sent, ask } = server();
    const query = new Query<string>();
    query.ask({ about: "a", version: 1, ask: ask("a1") });
    sent[0].come("a1");
    await soon();
    query.ask({ about: "a", version: 2, ask: ask("a2") });
    assert.deepEqual(seen(query), ["a1", null, true]);
    query.ask({ about: "b", version: 2, ask: ask("b2") });
    assert.deepEqual(seen(query), [null, null, true], "no number of a under the name of b");
    sent[2].fail(new Error("no such thing"));
    await soon();
    assert.deepEqual(seen(query), [null, "no such thing", false]);
    query.answer.value.retry();
    assert.deepEqual(seen(query), [null, null, true]);
    sent[3].come("b2");
    await soon();
    assert.deepEqual(seen(query), ["b2", null, false]);
});

test("versions that come faster than answers do not starve them", async () => {
    const { sent, ask } = server();
    const query = new Query<string>();
    const version = (n: number) =>
        query.ask({ about: "a", version: n, ask: ask(String(n)), isPatient: true });
    for (let n = 1; n <= 5; n++) version(n);
    assert.deepEqual(
        sent.map(({ to }) => to),
        ["1"],
    );
    sent[0].come("1");
    await soon();
    assert.deepEqual(seen(query), ["1", null, true]);
    assert.deepEqual(
        sent.map(({ to }) => to),
        ["1", "5"],
        "then the newest alone",
    );
    sent[1].come("5");
    await soon();
    assert.deepEqual(seen(query), ["5", null, false]);
    version(6);
    query.ask({ about: "b", ask: ask("b"), isPatient: true });
    assert.ok(sent[2].abort.aborted, "of something else it does not wait");
});

test("a question that follows signals, and waiting for its answer of now", async () => {
    const { sent, ask } = server();
    const chosen = signal<string | null>("a");
    hasServer.value = true;
    const query = queryOf<string>(() =>
        chosen.value === null ? null : { about: chosen.value, ask: ask(chosen.value) },
    );
    let settled: string | null | undefined;
    query.settled().then((value) => (settled = value));
    chosen.value = "b";
    sent[0].come("of a");
    await soon();
    assert.equal(settled, undefined);
    sent[1].come("of b");
    await soon();
    assert.equal(settled, "of b");
    chosen.value = null;
    assert.equal(await query.settled(), null);
});

test("what could not be asked is asked again when the server is back", async () => {
    const { sent, ask } = server();
    hasServer.value = true;
    const query = queryOf<string>(() => ({ about: "a", ask: ask("a") }));
    sent[0].fail(new ApiError("the server does not answer", 0));
    await soon();
    assert.deepEqual(seen(query), [null, "the server does not answer", false]);
    timesBack.value++;
    assert.equal(sent.length, 2);
    sent[1].fail(new ApiError("there is none", 404));
    await soon();
    timesBack.value++;
    assert.equal(sent.length, 2, "that was an answer");
});

test("what was there stays while it is asked for again", async () => {
    const { sent, ask } = server();
    hasServer.value = true;
    const version = signal(1);
    const query = queryOf<string>(() => ({
        about: "a",
        version: version.value,
        ask: ask("a"),
    }));
    sent[0].come("of a");
    await soon();
    version.value = 2;
    const away = () => new ApiError("the server does not answer", 0);
    sent[1].fail(away());
    await soon();
    assert.deepEqual(seen(query), ["of a", "the server does not answer", false]);
    timesBack.value++;
    assert.deepEqual(seen(query), ["of a", null, true]);
    sent[2].fail(away());
    await soon();
    assert.deepEqual(seen(query), ["of a", "the server does not answer", false]);
});

test("when waits until it is so, once", async () => {
    const n = signal(0);
    let times = 0;
    when(() => n.value > 1).then(() => times++);
    n.value = 1;
    await soon();
    assert.equal(times, 0);
    n.value = 2;
    n.value = 3;
    await soon();
    assert.equal(times, 1);
    await when(() => n.value === 3);
});
