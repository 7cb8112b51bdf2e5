// A program that is live: the page grows with it, stops when paused, and stays when it is over.
import { assert, inked } from "./steps.mjs";

export const name = "live: points grow, a pause holds them, the finished run stays";
export const options = {
    live: {
        program:
            "synth:12000*step(compute@1ms(a 3*b) c@200us >1 <1);ranks=3;jitter=0.1;slow=c/80/30/1",
        args: ["--speed", "2", "--step", "0.1"],
    },
};

const number = async (page, selector) =>
    Number((await page.locator(selector).textContent()).replace(/\D/g, ""));
const pointsOf = (page) => number(page, ".live-points .live-note");

async function grows(page, before) {
    await page.waitForFunction(
        (n) =>
            Number(document.querySelector(".live-calls")?.textContent.replace(/\D/g, "")) > n,
        before,
    );
}

export async function run({ page, server, context }) {
    await page.locator(".live-calls").waitFor();
    await grows(page, 0);
    const first = await number(page, ".live-calls");
    const points = await pointsOf(page);
    await grows(page, first);
    assert.ok((await pointsOf(page)) > points, "points grow");
    assert.ok((await inked(page, ".live-points canvas")) > 0.001, "points are drawn");
    await page.getByRole("button", { name: "rank 1", exact: true }).waitFor();

    // A second page follows although the first one is paused.
    await page.getByRole("button", { name: "Pause" }).click();
    await page.waitForTimeout(300);
    const held = await number(page, ".live-calls");
    const other = await context.newPage();
    await other.goto(server.url);
    await other.locator(".live-calls").waitFor();
    await grows(other, held);
    await page.getByText("there is more").waitFor();
    assert.equal(await number(page, ".live-calls"), held, "a pause holds what is shown");
    await page.getByRole("button", { name: "Resume" }).click();
    await grows(page, held);

    // What is strange is found by its region; a click at a point shows the call.
    await page
        .getByRole("combobox", { name: "Function", exact: true })
        .selectOption({ label: "c" });
    await page.getByRole("combobox", { name: "Statistic" }).selectOption("anomalies.maximum");
    await page.locator(".live-model .histogram").waitFor();

    // The end: both pages show the same, and go on showing it.
    for (const one of [page, other])
        await one.locator(".live-state", { hasText: "over" }).waitFor({ timeout: 60000 });
    const totals = await Promise.all(
        [page, other].map((one) => one.locator(".headline").textContent()),
    );
    assert.equal(totals[0], totals[1]);
    assert.match(totals[0], /[1-9]\d* anomal/);
    assert.ok((await inked(page, ".heat")) > 0, "the history is drawn");

    const box = await page.locator(".live-points .scatter").boundingBox();
    const looked = page.locator(".live-looked h3");
    for (let i = 0; i < 400 && !(await looked.count()); i++)
        await page.mouse.click(
            box.x + 60 + ((i % 20) / 20) * (box.width - 70),
            box.y + 10 + (Math.floor(i / 20) / 20) * (box.height - 40),
        );
    assert.match(await looked.textContent(), /^c on rank \d/);

    // Its record has what happened around it.
    await page.locator(".live-query td button").first().click();
    await page.locator(".live-looked .lanes rect.this").waitFor();
    await page.getByText("It lost").waitFor();
    await other.close();
}
