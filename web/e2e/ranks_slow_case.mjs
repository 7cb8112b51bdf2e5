// A rank that is slow beside the others: the page opens with who waits for it, says what it does, and lanes that a person
// chose stay.
import { accessible } from "./axe.mjs";
import { assert, candidates, detail, loaded, openAnew, selectedId, until } from "./steps.mjs";

export const name = "a rank that is always slow: who waits for it is seen first";

async function make(snag) {
    const program =
        "synth:120*step(advect@2ms(flux@1ms) solve@1ms |);ranks=6;jitter=0.05;slow=advect/1/1.6/2;slow=solve/67/3/4";
    await snag("analyze", program, "--foi", "step", "-o", "slow.snag", "--quiet");
    return ["slow.snag"];
}

export const options = { serve: make };

const lanes = (page) => page.locator(".panel-timeline .menu.ranks summary");

async function opensWithWhoWaits(page, server) {
    await openAnew(page, server.url);
    await loaded(page);
    const line = page.locator(".run-summary");
    assert.match(
        await line.textContent(),
        /^Rank 2 is slow beside the others: .* shorter \(.* %\); .*advect \+\d+ % \(.*, \d+ % of its calls from the start\)\./,
    );
    const { scrollHeight, clientHeight } = await line.evaluate((e) => ({
        scrollHeight: e.scrollHeight,
        clientHeight: e.clientHeight,
    }));
    assert.ok(scrollHeight <= clientHeight + 1, "it is not cut");
    assert.doesNotMatch(await selectedId(page), /^#2-/);
    await page.locator(".detail .origin", { hasText: /^waits for rank 2: advect/ }).waitFor();
    assert.match(
        await detail(page).textContent(),
        /Rank 2 is slow beside the others\. This execution/,
    );
    await page.locator(".panel-why h3", { hasText: "Whom it waited for" }).waitFor();
    await accessible(page, "who waits for a slow rank");
}

async function lanesStay(page) {
    await lanes(page).click();
    await page.getByRole("button", { name: "All ranks", exact: true }).click();
    await lanes(page).filter({ hasText: "6 ranks shown" }).waitFor();
    const before = await selectedId(page);
    await candidates(page).nth(0).locator(".pick").first().click();
    await until("another is selected", async () => (await selectedId(page)) !== before);
    await lanes(page).filter({ hasText: "6 ranks shown" }).waitFor();
    await lanes(page).click();
    await page.getByRole("button", { name: "Only the ranks" }).click();
    await until("fewer", async () => !(await lanes(page).textContent()).startsWith("6 "));
}

/* The longest call of a function is in another execution than the one above it: that is said, and leads there. */
async function aCallOfAnother(page, server) {
    await openAnew(page, `${server.url}#tree=0&views=regions,timeline,why`);
    await loaded(page);
    const above = await selectedId(page);
    await page.locator(".panel-regions").getByRole("button", { name: "solve" }).click();
    const other = page.locator(".chosen .elsewhere button");
    await other.waitFor();
    const id = await other.textContent();
    assert.notEqual(id, above);
    assert.equal(await selectedId(page), above);
    await other.click();
    await until("it is selected", async () => (await selectedId(page)) === id);
    await other.waitFor({ state: "detached" });
    await page.locator(".chosen", { hasText: "solve" }).first().waitFor();
}

/* The tour stands below all that it speaks of, and covers none of it. */
async function tourStandsAside(page, server) {
    const context = await page
        .context()
        .browser()
        .newContext({ viewport: page.viewportSize() });
    const fresh = await context.newPage();
    await fresh.goto(server.url);
    const tour = fresh.locator(".tour");
    await tour.waitFor();
    await fresh.locator(".panel-why .paths").waitFor();
    for (const at of [".candidates", ".detail", ".panel-overview", ".panel-timeline"]) {
        await until(`${at} is outlined`, () =>
            fresh
                .locator(at)
                .first()
                .evaluate((e) => getComputedStyle(e).outlineWidth === "3px"),
        );
        const [box, ...shown] = await Promise.all(
            [".tour", ".body", ".timeline-scroll"].map((s) => fresh.locator(s).boundingBox()),
        );
        for (const { y, height } of shown) assert.ok(y + height <= box.y, at);
        assert.ok(shown[1].height >= 150, `${shown[1].height} px for lanes`);
        await tour.locator(".primary").click();
    }
    await context.close();
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1280, height: 720 });
    await opensWithWhoWaits(page, server);
    await lanesStay(page);
    await aCallOfAnother(page, server);
    await tourStandsAside(page, server);
}
