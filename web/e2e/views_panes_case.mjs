// Views and the list have borders that are dragged, by mouse, touch and keys; each layout keeps its own, if the
// browser lets it. Pictures are as sharp as the screen afterwards. Links skip the header; the list is one stop.
import {
    assert,
    candidates,
    detail,
    loaded,
    openAnew,
    selectedId,
    toFront,
    until,
} from "./steps.mjs";

export const name = "panes: borders can be dragged, links skip, the list is one stop of Tab";

const divider = (page, name) => page.getByRole("separator", { name, exact: true });
const boxOf = (page, view) => page.locator(`.panel-${view}`).boundingBox();

async function open(page, server, hash = "") {
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
    await page.locator(".timeline-canvas").waitFor();
}

async function drag(page, border, by) {
    const { x, y, width, height } = await border.boundingBox();
    const [fromX, fromY] = [x + width / 2, y + height / 2];
    await page.mouse.move(fromX, fromY);
    await page.mouse.down();
    await page.mouse.move(fromX + by[0], fromY + by[1], { steps: 4 });
    await page.mouse.up();
}

const isNear = (a, b) => Math.abs(a - b) <= 2;

async function grows(page, view, side, by, act) {
    const before = (await boxOf(page, view))[side];
    await act();
    await until(`${view}: ${side} ${before} and ${by}`, async () =>
        isNear((await boxOf(page, view))[side], before + by),
    );
}

/* As many pixels as the screen has for the box it is drawn in. */
async function isSharp(page, selector) {
    await until(`${selector} is as sharp as the screen`, () =>
        page.evaluate((of) => {
            const canvas = document.querySelector(of);
            const { width, height } = canvas.getBoundingClientRect();
            return (
                Math.abs(canvas.width - width * devicePixelRatio) <= 2 &&
                Math.abs(canvas.height - height * devicePixelRatio) <= 2
            );
        }, selector),
    );
}

async function byMouse(page, server) {
    await open(page, server);
    const low = divider(page, "Height of Overview, Structure");
    await grows(page, "timeline", "height", 60, () => drag(page, low, [0, -60]));
    const beside = divider(page, "Width of Overview");
    await grows(page, "overview", "width", -80, () => drag(page, beside, [-80, 0]));
    const details = divider(page, "Width of Overview, Structure, Timeline");
    await grows(page, "why", "width", 40, () => drag(page, details, [-40, 0]));
    for (const canvas of [".scatter canvas", ".timeline-canvas"]) await isSharp(page, canvas);

    // No view becomes too small to be seen.
    await drag(page, beside, [2000, 0]);
    assert.ok((await boxOf(page, "structure")).width > 150);
    await grows(page, "overview", "width", 0, () => drag(page, beside, [0, 0]));

    // The list; and all of it is there again after a reload.
    const list = divider(page, "Width of the list");
    const before = (await page.locator(".candidates").boundingBox()).width;
    await drag(page, list, [70, 0]);
    await until("the list is wider", async () =>
        isNear((await page.locator(".candidates").boundingBox()).width, before + 70),
    );
    const kept = await Promise.all(["overview", "why", "timeline"].map((v) => boxOf(page, v)));
    await page.reload();
    await loaded(page);
    await page.locator(".timeline-canvas").waitFor();
    const again = await Promise.all(["overview", "why", "timeline"].map((v) => boxOf(page, v)));
    assert.deepEqual(again, kept);

    // Another layout has sizes of its own.
    const regions = page.getByLabel("Views").getByRole("button", { name: "Regions" });
    await regions.click();
    await page.locator(".panel-regions").waitFor();
    const [a, b] = [await boxOf(page, "overview"), await boxOf(page, "regions")];
    assert.ok(isNear(a.width, b.width), `${a.width} and ${b.width}`);
    await regions.click();
    assert.deepEqual(await boxOf(page, "overview"), kept[0]);

    // A double click makes it as it was.
    await beside.dblclick();
    await until("both are as wide as before", async () =>
        isNear((await boxOf(page, "overview")).width, (await boxOf(page, "structure")).width),
    );
    await list.dblclick();
    await until("the list is as wide as before", async () =>
        isNear((await page.locator(".candidates").boundingBox()).width, before),
    );
}

async function byKeys(page, server) {
    await open(page, server);
    const beside = divider(page, "Width of Overview");
    await beside.focus();
    assert.equal(await beside.getAttribute("aria-orientation"), "vertical");
    await page.keyboard.press("Enter");
    const now = async () => Number(await beside.getAttribute("aria-valuenow"));
    const usual = await now();
    await grows(page, "overview", "width", 52, async () => {
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("ArrowRight");
    });
    assert.equal(await now(), usual + 52);
    await page.keyboard.press("Home");
    await until(
        "the least",
        async () => (await beside.getAttribute("aria-valuemin")) === String(await now()),
    );
    await page.keyboard.press("End");
    await until(
        "the most",
        async () => (await beside.getAttribute("aria-valuemax")) === String(await now()),
    );
    assert.ok(isNear((await boxOf(page, "overview")).width, await now()));
    await page.keyboard.press("Enter");
    await until("as it was", async () => (await now()) === usual);
    const low = divider(page, "Height of Overview, Structure");
    await low.focus();
    await grows(page, "timeline", "height", 26, () => page.keyboard.press("ArrowUp"));
    await page.keyboard.press("Enter");
}

/* Where views stand one below the other the page scrolls, and each can be made higher. */
async function stacked(page, server, width, height) {
    await page.setViewportSize({ width, height });
    await open(page, server);
    const border = divider(page, "Height of Overview");
    await border.scrollIntoViewIfNeeded();
    const below = (await boxOf(page, "structure")).height;
    await grows(page, "overview", "height", 90, () => drag(page, border, [0, 90]));
    assert.ok(isNear((await boxOf(page, "structure")).height, below), "what is below moved on");
    const last = divider(page, "Height of Timeline");
    await last.scrollIntoViewIfNeeded();
    await last.focus();
    await grows(page, "timeline", "height", 26, () => page.keyboard.press("ArrowDown"));
    await isSharp(page, ".timeline-canvas");
    await page.keyboard.press("Enter");
}

async function byTouch(browser, server) {
    const context = await browser.newContext({
        viewport: { width: 1280, height: 720 },
        hasTouch: true,
    });
    const page = await context.newPage();
    // Nothing can be kept: neither sizes nor that the tour was seen.
    await page.addInitScript(() => {
        for (const name of ["getItem", "setItem"])
            Storage.prototype[name] = () => {
                throw new DOMException("refused", "SecurityError");
            };
    });
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    await open(page, server);
    const client = await context.newCDPSession(page);
    const { x, y, width, height } = await divider(page, "Height of Overview").boundingBox();
    const touch = (type, at) =>
        client.send("Input.dispatchTouchEvent", {
            type,
            touchPoints: at === null ? [] : [{ x: x + width / 2, y: y + height / 2 + at }],
        });
    await grows(page, "timeline", "height", 50, async () => {
        await touch("touchStart", 0);
        for (const at of [-10, -30, -50]) await touch("touchMove", at);
        await touch("touchEnd", null);
    });
    assert.deepEqual(complaints, []);
    await context.close();
}

const focused = (page) =>
    page.evaluate(() => {
        const { activeElement: e } = document;
        return `${e.tagName}.${e.className} ${e.id}`;
    });

async function links(page, server) {
    await open(page, server, "list=:::score");
    const link = (name) => page.getByRole("link", { name });
    await page.keyboard.press("Tab");
    await until("it is seen", async () => {
        const box = await link("To the list").boundingBox();
        return box.x >= 0 && box.width > 40 && box.height > 15;
    });
    assert.equal(await link("To the list").evaluate((e) => e === document.activeElement), true);
    const at = page.url();
    await page.keyboard.press("Enter");
    assert.match(await focused(page), /^BUTTON.pick/);

    // Down, along a line, back; Enter chooses. One more Tab is behind the list.
    const second = candidates(page).nth(1).locator(".pick");
    await page.keyboard.press("ArrowDown");
    assert.ok(await second.evaluate((e) => e === document.activeElement));
    await page.keyboard.press("ArrowRight");
    assert.match(await focused(page), /label-abnormal/);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    const id = await second.locator("b").textContent();
    await until("the second is selected", async () => (await selectedId(page)) === id);
    await page.keyboard.press("End");
    assert.equal(await page.locator('#list [tabindex="0"]').count(), 1);
    await page.keyboard.press("Home");
    await page.keyboard.press("Tab");
    assert.match(await focused(page), /divider/);
    await page.keyboard.press("Shift+Tab");
    assert.match(await focused(page), /^BUTTON.pick/);

    // Another order, other lines; one of them is the stop.
    await page.getByLabel("Order").selectOption("incidents");
    await page.locator(".incident").first().waitFor();
    await until(
        "one stop",
        async () => (await page.locator('#list [tabindex="0"]').count()) === 1,
    );

    await page.evaluate(() => document.activeElement?.blur());
    await link("To the views").focus();
    await page.keyboard.press("Enter");
    assert.match(await focused(page), /views/);
    await link("To the timeline").focus();
    await page.keyboard.press("Enter");
    assert.match(await focused(page), /timeline-scroll/);
    assert.ok(!/#(list|views|view-timeline)$/.test(page.url()), `${at}: the state stays`);
    await page.getByRole("button", { name: "Timeline", exact: true }).click();
    await until(
        "no way to what is not there",
        async () => (await link("To the timeline").count()) === 0,
    );
    await detail(page).locator("h1").waitFor();
}

const heightOfLanes = async (page) =>
    (await page.locator(".timeline-scroll").boundingBox()).height;

/* Where the window is a laptop's: whatever is open, lanes have their height, and what is chosen is beside them. */
async function lanesHaveRoom(page, server) {
    for (const [width, height] of [
        [1280, 720],
        [1366, 768],
        [1920, 1080],
        [2560, 1440],
    ]) {
        await page.setViewportSize({ width, height });
        await open(page, server, "views=overview,why,structure,timeline,ranks,regions,map");
        const before = await heightOfLanes(page);
        await page.keyboard.press("g");
        await page.getByRole("region", { name: "Selected call" }).waitFor();
        await page.keyboard.press("m");
        await page.locator(".area-table tbody tr").first().waitFor();
        const scale = await page.evaluate(
            () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 13,
        );
        const lanes = await heightOfLanes(page);
        assert.equal(lanes, before, `${width}: what is chosen takes nothing from lanes`);
        console.log(`        ${width} x ${height}: lanes ${Math.round(lanes)} pixels high`);
        assert.ok(lanes / scale >= 200, `${width} x ${height}: ${lanes}`);
    }
}

/* Views that share a place; columns that are folded; one column on a telephone. */
async function tabsAndFolds(page, server) {
    await page.setViewportSize({ width: 1280, height: 720 });
    await open(page, server);
    const wide = (await boxOf(page, "timeline")).width;
    const seen = (selector) => page.locator(selector).isVisible();
    assert.ok((await seen(".panel-overview")) && !(await seen(".panel-structure")));
    await toFront(page, "Structure");
    await page.locator(".icicle").first().waitFor();
    assert.ok(!(await seen(".panel-overview")));
    await page.keyboard.press("1"); /* what is behind comes to the front */
    await page.locator(".scatter").waitFor();
    await page.keyboard.press("1"); /* and closes when it is there */
    await page.locator(".icicle").first().waitFor();
    await page.waitForFunction(() => /views=why/.test(location.hash));
    await page.keyboard.press("1");
    await page.locator(".scatter").waitFor();

    // Both columns at the sides; a reload leaves them folded, a call that is chosen brings the details back.
    await page.keyboard.press("i");
    await page.keyboard.press("e");
    await until(
        "nearly all the width is for lanes",
        async () => (await boxOf(page, "timeline")).width > 1200,
    );
    await page.reload();
    await page.locator(".timeline-canvas").waitFor();
    assert.ok(!(await seen(".candidates")) && !(await seen(".details")));
    await page.getByRole("button", { name: "List", exact: true }).click();
    await candidates(page).first().waitFor();
    await page.keyboard.press("g");
    await page.getByRole("region", { name: "Selected call" }).waitFor();
    await until("as it was", async () => isNear((await boxOf(page, "timeline")).width, wide));
    await toFront(page, "Why");
    await page.locator(".why-list").waitFor();
    await toFront(page, "Call");
    await page.getByRole("region", { name: "Selected call" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".why-list").waitFor();
    assert.equal(await page.locator(".panel-why .tabs").count(), 0);

    await page.setViewportSize({ width: 390, height: 844 });
    await open(page, server);
    const list = await page.locator(".candidates").boundingBox();
    const one = await detail(page).boundingBox();
    assert.ok(list.width > 370 && one.width > 370, `${list.width}, ${one.width}`);
    assert.ok(one.y >= list.y + list.height, "the execution is below the list");
    await page.locator(".timeline-canvas").scrollIntoViewIfNeeded();
    assert.ok((await page.locator(".timeline-canvas").boundingBox()).y < 844);
}

/* As browsers count what moves though nobody asked for it: the details keep their height, whichever is selected. */
async function nothingShifts(page, server) {
    await page.setViewportSize({ width: 1280, height: 720 });
    await open(page, server);
    // Names of lanes are not counted: where an answer is late, they stand a moment after the key where other lanes were.
    await page.evaluate(() => {
        window.shifts = [];
        // By place, as a name that was taken away since has no node any more.
        const isLane = ({ previousRect: rect }) => {
            const lanes = document.querySelector(".timeline-scroll").getBoundingClientRect();
            return (
                rect.left >= lanes.left && rect.right <= lanes.right && rect.top >= lanes.top
            );
        };
        const note = (list) =>
            window.shifts.push(
                ...list
                    .getEntries()
                    .filter((e) => !e.hadRecentInput && !e.sources.every(isLane))
                    .map((e) => ({
                        value: e.value,
                        of: e.sources.map(
                            (s) =>
                                `${s.node?.outerHTML ?? s.node?.nodeValue} ` +
                                [s.previousRect, s.currentRect].map((r) => JSON.stringify(r)),
                        ),
                    })),
            );
        new PerformanceObserver(note).observe({ type: "layout-shift" });
    });
    const top = (await boxOf(page, "why")).y;
    const before = await selectedId(page);
    for (let i = 0; i < 6; i++) await page.keyboard.press("j");
    await until("another is selected", async () => (await selectedId(page)) !== before);
    await page.locator(".timeline-canvas[aria-busy=false]").waitFor();
    assert.equal((await boxOf(page, "why")).y, top, "Why stays where it was");
    assert.deepEqual(await page.evaluate(() => window.shifts), []);
}

export async function run({ page, server, context }) {
    await nothingShifts(page, server);
    await lanesHaveRoom(page, server);
    await tabsAndFolds(page, server);
    await page.setViewportSize({ width: 1920, height: 1080 });
    await byMouse(page, server);
    await byKeys(page, server);
    await stacked(page, server, 800, 900);
    await stacked(page, server, 700, 520);
    await page.setViewportSize({ width: 1280, height: 720 });
    await byTouch(context.browser(), server);
    await links(page, server);
}
