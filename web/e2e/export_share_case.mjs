// What is taken away from a run: the link to what is shown, its report, the command that compares it; and finding by words.
import { assert, exactly, loaded, openAnew } from "./steps.mjs";
import { readFile } from "node:fs/promises";

export const name = "share: the link, the report, a comparison; the longest call by its words";

const menu = (page) => page.locator("details.menu", { hasText: "Save" });
const copied = (page) => page.evaluate(() => navigator.clipboard.readText());

async function link(page, context, server) {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await openAnew(page, `${server.url}#views=timeline,why`);
    await loaded(page);
    await page.keyboard.press("h");
    await page.locator(".notice", { hasText: "The link is copied." }).waitFor();
    assert.equal(await copied(page), page.url());
    await page.keyboard.press("j");
    await menu(page).locator("summary").click();
    await page.getByRole("button", { name: "Copy the link to what is shown" }).click();
    await page.waitForFunction(() => location.hash.includes("tree="));
    assert.equal(await copied(page), page.url());
}

/* A setting and at once a zoom: Back undoes the zoom alone. */
async function backAfterBoth(page, server) {
    await openAnew(page, `${server.url}#views=overview,timeline,why`);
    await loaded(page);
    await page.locator(".timeline-canvas[aria-busy=false]").waitFor();
    await page.evaluate(async () => {
        for (const key of ["1", "w"]) {
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            await null; /* each press is done before the next, as a browser does it */
        }
    });
    await page.waitForFunction(() => /window=/.test(location.hash));
    await page.goBack();
    await page.waitForFunction(() => !/window=/.test(location.hash));
    assert.equal(
        new URLSearchParams(new URL(page.url()).hash.slice(1)).get("views"),
        "why,timeline",
    );
    await page.locator(".detail h1").waitFor();
}

async function report(page) {
    await menu(page).locator("summary").click();
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: /^Report of the run/ }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "report.html");
    const text = String(await readFile(await download.path()));
    assert.match(text, /<h1>run<\/h1>/);
    assert.match(text, /What is strange/);
    assert.match(text, /id="answers"/, "its drawings have what they are made of");
}

async function comparison(page) {
    await menu(page).locator("summary").click();
    await page.getByRole("button", { name: "Compare with another run ..." }).click();
    const dialog = page.getByRole("dialog", { name: "Compare with another run" });
    await dialog.getByRole("textbox").fill("last week.snag");
    const command = await dialog.locator("code").nth(1).textContent();
    assert.match(command, /^snag compare 'last week\.snag' \S*run\.snag$/);
    await dialog.getByRole("button", { name: /^Copy: snag compare/ }).click();
    await page.waitForFunction(
        async (text) => (await navigator.clipboard.readText()) === text,
        command,
    );
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
}

const isAt = (page, of) =>
    page
        .getByRole("region", { name: "Selected call" })
        .filter({
            hasText: `duration ${exactly(of.leave_ns - of.enter_ns)}`,
        })
        .filter({ hasText: new RegExp(`on rank ${of.location}`) })
        .waitFor();

/* Of compute, as the server orders its calls. */
const callsOf = (page, query) =>
    page.evaluate(async (more) => {
        const regions = await (await fetch("api/v1/regions")).json();
        const { id } = regions.find((region) => region.name === "compute");
        return (await fetch(`api/v1/search/next?region=${id}&order=longest${more}`)).json();
    }, query);

async function find(page) {
    const field = page.getByRole("combobox", { name: /^Find functions/ });
    const width = async () => (await field.boundingBox()).width;
    const narrow = await width();
    await page.keyboard.press("/");
    assert.ok((await width()) > narrow * 2, "there is room for a sentence");
    const longest = await callsOf(page, "");
    await field.fill("longest compute");
    await field.press("Enter");
    await isAt(page, longest);
    await page.locator(".found-place", { hasText: "1 of 800" }).waitFor();
    const list = page.getByRole("listbox", { name: "Found" });
    assert.equal(await list.count(), 0, "what was found does not lie over what it is");
    await field.press("ArrowDown");
    await list.waitFor();
    await field.press("Enter");
    await list.waitFor({ state: "detached" });
    const second = await callsOf(page, `&from=${longest.location}.${longest.call}`);
    await isAt(page, second);

    await field.fill("longest compute on rank 3");
    await field.press("Enter");
    await isAt(page, await callsOf(page, "&locations=3"));
    await page.locator(".found-place", { hasText: "1 of 200" }).waitFor();

    await field.fill("2nd longest compute");
    await field.press("Enter");
    await isAt(page, second);
    await page.locator(".found-place", { hasText: "2 of 800" }).waitFor();

    await field.fill("shortest compute");
    await field.press("Enter");
    await isAt(page, await callsOf(page, "&step=previous"));
    await page.locator(".found-place", { hasText: "1 of 800" }).waitFor();

    // Where views are below each other, what was found comes into sight.
    const usual = page.viewportSize();
    await page.setViewportSize({ width: 800, height: 600 });
    await page.locator("main.stacked").waitFor();
    await field.fill("longest compute on rank 2");
    await field.press("Enter");
    await isAt(page, await callsOf(page, "&locations=2"));
    await page.waitForFunction(() => {
        const { top, bottom } = document
            .querySelector("#view-timeline")
            .getBoundingClientRect();
        return top >= 0 && top < innerHeight / 2 && bottom > top;
    });
    await page.setViewportSize(usual);
}

/* Opened by its key, it begins with the keys. */
async function help(page) {
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 1000, height: 480 });
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: "Help" });
    await dialog.waitFor();
    const { top, isLong } = await dialog.evaluate((element) => ({
        top: element.scrollTop,
        isLong: element.scrollHeight > element.clientHeight,
    }));
    assert.ok(isLong);
    assert.equal(top, 0);
}

export async function run({ page, server, context }) {
    await loaded(page);
    await link(page, context, server);
    await backAfterBoth(page, server);
    await openAnew(page, server.url);
    await loaded(page);
    await report(page);
    await comparison(page);
    await find(page);
    await help(page);
}
