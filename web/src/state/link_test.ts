// The state of the page and the history of the browser: what is a step there, and that Back and Forward make none.
import { history, rest, steps, useBrowser } from "../fake/browser";
import assert from "node:assert/strict";
import { test } from "node:test";
import { select, selectLasso } from "./actions";
import { keepUrl } from "./link";
import { executions, foiId, lassoed, selected, structureKind, timeWindow } from "./store";

async function go(by: number): Promise<void> {
    history.go(by);
    await rest();
}

test("the history of the browser has the states that were there, and keeps them when one goes back", async () => {
    useBrowser();
    keepUrl();
    await rest();
    assert.deepEqual(steps, [""]);

    // A selection is a step; what goes with it is none of its own.
    select(3);
    await rest();
    structureKind.value = "force";
    foiId.value = 2;
    timeWindow.value = [100, 200];
    await rest();
    select(4);
    structureKind.value = "icicle";
    await rest();
    const [zoomed, other] = ["#foi=2&tree=3&window=100%2C200&tree-as=force", "#foi=2&tree=4"];
    assert.deepEqual(steps, ["#tree=3", zoomed, other]);

    // Back over an execution, its window and a setting, and Forward again.
    await go(-1);
    assert.deepEqual(steps, ["#tree=3", zoomed, other]);
    assert.deepEqual([selected.value, structureKind.value], [3, "force"]);
    await go(-1);
    assert.deepEqual([selected.value, foiId.value, timeWindow.value], [3, null, null]);
    await go(2);
    assert.deepEqual([selected.value, foiId.value, structureKind.value], [4, 2, "icicle"]);
    assert.deepEqual(steps, ["#tree=3", zoomed, other]);

    // A lasso is a step with the execution in the middle of it.
    executions.value = { n: 10 } as typeof executions.value;
    selectLasso(Uint32Array.of(5, 6), 5);
    await rest();
    const both = "#foi=2&tree=5&lasso=5%2B1";
    assert.deepEqual(steps, ["#tree=3", zoomed, other, both]);
    await go(-1);
    assert.equal(lassoed.value, null);
    await go(1);
    assert.deepEqual([...lassoed.value!], [5, 6]);
    assert.deepEqual(steps, ["#tree=3", zoomed, other, both]);
});
