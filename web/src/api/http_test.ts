// Whether the server can be reached, from answers that come in any order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError, getJson, goOffline, isOnline, postJson } from "./http";

test("an answer to what was asked before the server went away does not bring it back", async () => {
    const come: ((response: Response) => void)[] = [];
    globalThis.location = { search: "" } as Location;
    globalThis.fetch = () => new Promise((done) => come.push(done));
    const early = getJson("/run");
    goOffline();
    come[0](new Response("1"));
    assert.equal(await early, 1);
    assert.equal(isOnline.value, false);
    const late = getJson("/run");
    come[1](new Response("2"));
    assert.equal(await late, 2);
    assert.equal(isOnline.value, true);
});

const busy = (after?: string) =>
    new Response('{"detail":"busy"}', {
        status: 503,
        headers: after ? { "Retry-After": after } : {},
    });

test("a busy server is asked again when it wants to be, until the question is given up", async () => {
    const answers = [busy("0"), busy("0"), new Response("3")];
    let nAsked = 0;
    globalThis.fetch = async () => answers[nAsked++];
    assert.equal(await getJson("/run"), 3);
    assert.equal(nAsked, 3);

    const is503 = (error: Error) => error instanceof ApiError && error.status === 503;
    globalThis.fetch = async () => (nAsked++, busy());
    nAsked = 0;
    await assert.rejects(getJson("/run"), is503);
    assert.equal(nAsked, 1, "it does not say when");

    globalThis.fetch = async () => (nAsked++, busy("0"));
    nAsked = 0;
    await assert.rejects(getJson("/run"), is503);
    assert.equal(nAsked, 5, "not for ever");
    nAsked = 0;
    await assert.rejects(postJson("/labels", {}), is503);
    assert.equal(nAsked, 1, "a label is not given twice");

    const abort = new AbortController();
    globalThis.fetch = async () => busy("10");
    const asked = getJson("/run", abort.signal);
    await new Promise((done) => setTimeout(done, 0));
    abort.abort();
    await assert.rejects(asked, { name: "AbortError" });
});
