// A program that is live: the page grows with it, and stops when paused. It runs for longer than any machine
// needs for this, and ends with the case.
import { assert, inked, until } from "./steps.mjs";

export const name = "live: points grow, and a pause holds them";
export const options = {
    live: {
        program:
            "synth:12000*step(compute@1ms(a 3*b) c@200us >1 <1);ranks=3;jitter=0.1;slow=c/900/40/1",
        args: ["--speed", "0.05", "--step", "0.02", "--foi", "step"],
    },
};

const digits = (text) => Number(text.replace(/\D/g, ""));
const number = async (page, selector) => digits(await page.locator(selector).textContent());
const pointsOf = async (page) => {
    const text = await page.locator(".live-points .sampling").textContent();
    return digits(/^([\d,]+) /.exec(text)[1]);
};

async function grows(page, before) {
    await page.waitForFunction(
        (n) =>
            Number(document.querySelector(".live-calls")?.textContent.replace(/\D/g, "")) > n,
        before,
    );
}

async function whileItRuns(page) {
    await grows(page, 0);
    const first = await number(page, ".live-calls");
    const points = await pointsOf(page);
    await grows(page, first);
    await until("points grow", async () => (await pointsOf(page)) > points);
    await until(
        "points are drawn",
        async () => (await inked(page, ".live-points canvas")) > 0.001,
    );
    assert.match(await page.locator(".live-points .sampling").textContent(), /executions/);
}

/* A second page follows although the first one is paused. */
async function pause(page, other) {
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Resume" }).waitFor();
    for (let i = 0; i < 2; i++)
        await grows(
            other,
            await number(other, ".live-calls"),
        ); /* what was on its way has come */
    const held = await number(page, ".live-calls");
    await grows(other, held);
    await page.getByText("there is more").waitFor();
    assert.equal(await number(page, ".live-calls"), held, "a pause holds what is shown");
    await page.getByRole("button", { name: "Resume" }).click();
    await grows(page, held);
}

export async function run({ page, server, context }) {
    await page.locator(".live-calls").waitFor();
    const other = await context.newPage();
    await other.goto(server.url);
    await other.locator(".live-calls").waitFor();
    await whileItRuns(page);
    await pause(page, other);
}
