// Whether the server can be reached, from answers that come in any order.
import assert from "node:assert/strict";
import { test } from "node:test";
import { getJson, goOffline, isOnline } from "./http";

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
