// What is not here yet, or never comes, is said to be so: it is not said to be missing, and nothing waits for ever.
import { assert, keepRouting, loaded, openAnew, until } from "./steps.mjs";

export const name = "waiting: what is not here is not said to be nothing";
export const options = { isOwnNetwork: true };

const nothing = (page) => page.locator(".found-nothing:not([hidden])");
const field = (page) => page.getByRole("combobox", { name: /^Find functions/ });
const broken = (route) =>
    route.fulfill({
        status: 500,
        contentType: "application/problem+json",
        body: JSON.stringify({ title: "Internal Server Error", detail: "the disk is gone" }),
    });

/* Answers to these wait until what this gives is called. */
async function holdBack(page, pattern) {
    let letThrough;
    const held = new Promise((done) => (letThrough = done));
    await page.route(pattern, async (route) => {
        await held;
        await route.continue();
    });
    return letThrough;
}

/* An execution is looked for before the columns that have ids are here. */
async function findWhileLoading(page, server) {
    const columns = "**/columns?names=rank*";
    const letThrough = await holdBack(page, columns);
    await openAnew(page, server.url);
    await loaded(page);
    await field(page).fill("#1-903");
    await nothing(page).filter({ hasText: "Loading what can be found ..." }).waitFor();
    letThrough();
    await nothing(page).filter({ hasText: "Nothing is called “#1-903”." }).waitFor();
    await page.unroute(columns);
    await page.route(columns, broken);
    await openAnew(page, server.url);
    await loaded(page);
    await field(page).fill("#1-903");
    await nothing(page)
        .filter({ hasText: "executions cannot be searched: the disk is gone" })
        .waitFor();
    await page.unroute(columns);
}

async function lanesThatAreNot(page, server) {
    await openAnew(page, `${server.url}#views=timeline&ranks=99`);
    await loaded(page);
    await page.locator(".notice", { hasText: "ranks that this run does not have" }).waitFor();
    await page.locator(".rank-name").first().waitFor();
    await page.waitForFunction(() => !location.hash.includes("ranks="));
}

async function serverAway(page, server) {
    for (const part of ["**/timeline?*", "**/messages?*"]) {
        let asked = 0;
        await page.route(part, (route) => {
            asked++;
            return broken(route);
        });
        await openAnew(page, `${server.url}#views=timeline`);
        await loaded(page);
        const panel = page.locator(".panel-timeline");
        const again = panel.getByRole("button", { name: "Try again" });
        // what changes while the page begins is asked for anew, and loads once more
        await page.waitForFunction(() => {
            const shown = document.querySelector(".panel-timeline");
            return (
                !shown.querySelector(".loading") &&
                [...shown.querySelectorAll(".state")].some((state) =>
                    state.textContent.includes("The disk is gone."),
                )
            );
        });
        const before = asked;
        await again.click();
        await until("it is asked again", () => asked > before);
        await page.unroute(part);
        // where something else has changed meanwhile, what is shown was asked for without the button
        await until("the lanes are here", async () => {
            if (await panel.locator(".rank-name").count()) return true;
            await again.click({ timeout: 500 }).catch(() => {});
            return false;
        });
    }
}

/* Where no calls are known yet, lanes are hatched: not as empty as those that are idle. */
async function lanesOnTheirWay(page, server) {
    await openAnew(page, `${server.url}#views=timeline&ranks=0&window=0,1000000`);
    await loaded(page);
    await page.locator(".timeline-canvas").waitFor();
    await until("calls are here", () =>
        page.evaluate(() => document.querySelector(".timeline-canvas").ariaBusy === "false"),
    );
    const letThrough = await holdBack(page, "**/timeline?*");
    const shares = () =>
        page.evaluate(() => {
            const canvas = document.querySelector(".timeline-canvas");
            const left = Math.round((canvas.width * 110) / canvas.clientWidth);
            const { data } = canvas
                .getContext("2d")
                .getImageData(left, 40, canvas.width - left - 10, 12);
            let inked = 0;
            for (let i = 3; i < data.length; i += 4) if (data[i]) inked++;
            return inked / (data.length / 4);
        });
    for (let k = 0; k < 6; k++) await page.keyboard.press("d");
    await page.locator('.timeline-canvas[aria-busy="true"]').waitFor();
    await until("it is hatched", async () => {
        const share = await shares();
        return share > 0.02 && share < 0.9;
    });
    letThrough();
    await page.locator('.timeline-canvas[aria-busy="false"]').waitFor();
}

/* How the others did comes late: it has its place in Why, and what stands below it does not move. */
async function whyStays(page, server) {
    const columns = "**/columns?names=rank*";
    const letThrough = await holdBack(page, columns);
    await page.setViewportSize({ width: 1280, height: 1400 });
    await openAnew(page, server.url);
    await loaded(page);
    const cell = page.locator(".peer-times td");
    await cell.nth(3).filter({ hasText: "..." }).waitFor();
    const below = page.locator(".standing");
    const { y } = await below.boundingBox();
    letThrough();
    await cell.nth(3).filter({ hasText: /\d/ }).waitFor();
    await page.waitForTimeout(300);
    assert.equal((await below.boundingBox()).y, y);
    await page.unroute(columns);
    await page.setViewportSize({ width: 1280, height: 720 });
}

export async function run({ page, server }) {
    await keepRouting(page);
    await keepRouting(page);
    await loaded(page);
    await findWhileLoading(page, server);
    await lanesThatAreNot(page, server);
    await serverAway(page, server);
    await lanesOnTheirWay(page, server);
    await whyStays(page, server);
}
