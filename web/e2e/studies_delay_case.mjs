// Case study 1: a delay that runs along a chain of ranks.
import {
    assert,
    candidates,
    detail,
    inked,
    listed,
    loaded,
    openStrangest,
    selectedId,
    stateOf,
    toFront,
    told,
    until,
} from "./steps.mjs";

export const name = "case 1: the top candidate, why, its messages, label, retrain";

export async function run({ page, server }) {
    await openStrangest(page, server);
    const first = (await listed(page))[0];
    assert.equal(await selectedId(page), first, "the strangest is selected at first");
    assert.match(
        await detail(page).textContent(),
        /anomaly.*typical.*longer than a typical execution with the same calls/s,
    );
    const isMd = server.foi === "MD_NEWTON"; /* md_s1: rank 0 was late, 4, 3, 2 and 1 waited */
    if (isMd) {
        assert.equal(first, "#0-192");
        assert.deepEqual((await listed(page)).slice(0, 5).sort(), [
            "#0-192",
            "#1-192",
            "#2-192",
            "#3-192",
            "#4-192",
        ]);
    }

    const path = page.locator(".paths button").first();
    await path.waitFor();
    assert.doesNotMatch(
        await page.locator(".panel-why").textContent(),
        /\[\{|\(\)|LAMMPS_NS::/,
        "short names only",
    );
    if (isMd) assert.match(await path.textContent(), /\+100 ms.*MD_NEWTON/);
    await path.click();
    await toFront(page, "Structure");
    await page.locator(".icicle .node.marked").first().waitFor();
    await page.waitForFunction(() => /mark=/.test(location.hash));

    // A subtree marks its calls, instead of the path.
    if (isMd) {
        const expected = "MD_NEWTON";
        const subtree = page.locator(".subtrees button", { hasText: expected }).first();
        await subtree.click();
        await page.waitForFunction(() => /calls=/.test(location.hash));
        assert.doesNotMatch(page.url(), /mark=/);
        await page.locator(".icicle .node.marked", { hasText: expected }).first().waitFor();
        assert.equal(await subtree.getAttribute("aria-pressed"), "true");
        await page.reload(); /* the link has it */
        await page.locator(".icicle .node.marked", { hasText: expected }).first().waitFor();
    }

    await page.locator(".timeline-canvas").waitFor();
    await until(
        "the timeline is drawn",
        async () => (await inked(page, ".timeline-canvas")) > 0.05,
    );
    await page.locator(".rank-name").nth(1).waitFor(); /* partner ranks */

    // Down to nanoseconds and out to the whole run, and back to the execution.
    await page.locator(".timeline-canvas").hover();
    for (let i = 0; i < 40; i++) await page.keyboard.press("w");
    await page.waitForFunction(() => {
        const [, begin, end] = /window=(\d+)%2C(\d+)/.exec(location.hash) ?? [];
        return end - begin <= 20; /* ns */
    });
    await page.keyboard.press("f");
    await page.waitForFunction(() => !/window=/.test(location.hash));

    await told(page, /labelled abnormal/, () => page.keyboard.press("b"));
    assert.equal(await stateOf(page, first, "Abnormal"), "true");
    await told(page, /Learnt from 1 label/, () => page.keyboard.press("r"));
    const item = candidates(page).filter({ has: page.locator(`b:text-is("${first}")`) });
    await item.filter({ hasText: "Abnormal" }).waitFor();

    // The chain of causes, from the rank that was late to the one that waited.
    if (isMd) {
        await page.locator(".candidate .pick", { hasText: "#2-192" }).first().click();
        await page.locator(".detail h1", { hasText: "#2-192" }).waitFor();
        await page.locator(".cause li").nth(3).waitFor();
        const ranks = (await page.locator(".cause li").allTextContents()).map((text) =>
            Number(/rank (\d+)/.exec(text)[1]),
        );
        assert.deepEqual(ranks, [0, 4, 3, 2]);
        await page.locator(".candidate .pick", { hasText: first }).first().click();
        await page.locator(".detail h1", { hasText: first }).waitFor();
    }

    // A link restores what is seen.
    await page.keyboard.press("j");
    const second = await selectedId(page);
    await page.waitForFunction(
        (id) => document.querySelector(".detail h1")?.textContent.startsWith(id),
        (await listed(page))[1],
    );
    await page.reload();
    await loaded(page);
    assert.notEqual(await selectedId(page), first);
    assert.ok(second);
    await told(page, /as before/, () => page.keyboard.press("u"));
}
