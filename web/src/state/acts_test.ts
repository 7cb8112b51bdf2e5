// Acts in the order in which they were done, however late their answers come.
import { signal } from "@preact/signals";
import assert from "node:assert/strict";
import { test } from "node:test";
import { giveUp, goOn, instead, keepOrder, underWay } from "./acts";

/* An answer that comes when it is told to. */
function answer<T>() {
    let come: (value: T) => void = () => undefined;
    let fail: (error: Error) => void = () => undefined;
    const promise = new Promise<T>((done, failed) => ((come = done), (fail = failed)));
    return { promise, come, fail };
}

const soon = () => new Promise((done) => setTimeout(done, 0));

const place = signal(0); /* where one is, in a row of places */

test("ten presses lead ten places on, though each has to ask from where the one before led", async () => {
    place.value = 0;
    const asked: (() => void)[] = [];
    for (let press = 0; press < 10; press++)
        goOn(async () => {
            const from = place.value;
            await new Promise<void>((come) => asked.push(come));
            return () => (place.value = from + 1);
        });
    for (let k = 0; k < 10; k++) {
        await soon();
        assert.equal(asked.length, k + 1, "one question at a time");
        asked[k]();
    }
    await soon();
    assert.equal(place.value, 10);
    assert.equal(underWay.value, 0);
});

test("an act that asks nothing waits for the ones before it, and is done at once where there are none", async () => {
    place.value = 1;
    goOn(() => void (place.value *= 10));
    assert.equal(place.value, 10);
    const late = answer<number>();
    goOn(async () => {
        const by = await late.promise;
        return () => (place.value += by);
    });
    goOn(() => void (place.value *= 10));
    assert.equal(place.value, 10);
    late.come(5);
    await soon();
    assert.equal(place.value, 150);
});

test("a choice anew gives up what is under way and what waits", async () => {
    place.value = 0;
    const late = answer<number>();
    let aborted = false;
    goOn(async (abort) => {
        abort.addEventListener("abort", () => (aborted = true));
        const to = await late.promise;
        return () => (place.value = to);
    });
    goOn(() => void (place.value = 7));
    instead(async () => () => (place.value = 3));
    assert.ok(aborted);
    late.come(9);
    await soon();
    assert.equal(place.value, 3);
    assert.equal(underWay.value, 0);
});

test("what is chosen by hand gives up what is under way; what an act chooses does not", async () => {
    const chosen = signal("a");
    const errors: string[] = [];
    const end = keepOrder([chosen], (error) => errors.push(error.message));
    const late = answer<string>();
    goOn(async () => {
        const to = await late.promise;
        return () => (chosen.value = to);
    });
    goOn(async () => () => (chosen.value += "!"));
    late.come("b");
    await soon();
    assert.equal(chosen.value, "b!", "the second waited, and was not given up by the first");

    const later = answer<string>();
    goOn(async () => {
        const to = await later.promise;
        return () => (chosen.value = to);
    });
    chosen.value = "by hand";
    later.come("late");
    await soon();
    assert.equal(chosen.value, "by hand");
    end();
});

test("an error is told, and the acts behind it are done all the same", async () => {
    const errors: string[] = [];
    const end = keepOrder([], (error) => errors.push(error.message));
    place.value = 1;
    const late = answer<number>();
    goOn(async () => {
        await late.promise;
    });
    goOn(() => void (place.value = 2));
    goOn(() => {
        throw new Error("at once");
    });
    late.fail(new Error("the server is away"));
    await soon();
    assert.deepEqual(errors, ["the server is away", "at once"]);
    assert.equal(place.value, 2);
    assert.equal(underWay.value, 0);

    const given = answer<number>();
    goOn(async () => {
        await given.promise;
    });
    giveUp();
    given.fail(new Error("nobody asks any more"));
    await soon();
    assert.equal(errors.length, 2);
    end();
});
