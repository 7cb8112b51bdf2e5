// What every view owes: it fits, it says how it stands, and a link restores it.
import { assert, candidates, keepRouting, loaded, openAnew, toFront } from "./steps.mjs";

export const name =
    "views: they fit on small and large screens, have all states, and links restore them";

const some = "views=overview,why,structure,timeline";
const all = `${some},ranks,regions,quality,messages,query`;
const sizes = [
    [800, 900],
    [960, 600] /* 1920 x 1200 at 200 % */,
    [1024, 768],
    [1280, 720],
    [1920, 1080],
    [3840, 2160],
];

/* What stands out of what it is in, or is too small to be of use. */
function misfits() {
    const found = [];
    const inside = (element, frame, what) => {
        const [a, b] = [element.getBoundingClientRect(), frame.getBoundingClientRect()];
        if (a.left < b.left - 1 || a.right > b.right + 1)
            found.push(
                `${what}: ${Math.round(a.left)}..${Math.round(a.right)} in ${Math.round(b.left)}..${Math.round(b.right)}`,
            );
    };
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth} wide`);
    for (const item of document.querySelectorAll(".top > *, .top button"))
        inside(item, root, item.textContent);
    for (const panel of document.querySelectorAll(".panel")) {
        const title = panel.querySelector("h2").textContent;
        for (const tool of panel.querySelectorAll(
            ":is(.panel-head, .sampling) :is(button, select, input, output, summary)",
        ))
            inside(tool, panel, `${title}: ${tool.title || tool.textContent}`);
        const rem = parseFloat(getComputedStyle(root).fontSize);
        if (panel.clientHeight < 12 * rem) found.push(`${title} is ${panel.clientHeight} high`);
    }
    for (const svg of document.querySelectorAll(".icicle"))
        for (const label of svg.querySelectorAll(".node text"))
            inside(label, label.parentNode.querySelector("rect"), label.textContent);
    return found;
}

async function open(page, server, hash) {
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
}

async function fits(page, server) {
    const few = sizes.filter((_, i) => process.env.SNAG_LONG || i % 2 === 0);
    for (const [width, height] of few) {
        await page.setViewportSize({ width, height });
        for (const views of ["", "views=why,timeline", all]) {
            await open(page, server, views);
            await page.locator(".timeline-canvas").waitFor();
            assert.deepEqual(
                await page.evaluate(misfits),
                [],
                `${width} x ${height}, ${views}`,
            );
        }
    }
    await page.setViewportSize({ width: 1280, height: 720 });
}

/* At the size of most laptops' windows nothing of a table is cut, beside list and details, nor is a legend. */
async function tablesAreWhole(page, server) {
    await page.setViewportSize({ width: 1280, height: 720 });
    for (const views of ["regions", "messages", "ranks"])
        for (const others of ["", ",why,timeline"]) {
            await open(page, server, `views=${views}${others}&front=${views}`);
            const table = page.locator(`.panel-${views} .table`);
            await table.locator("td").first().waitFor();
            const [wide, room] = await table.evaluate((e) => [e.scrollWidth, e.clientWidth]);
            assert.ok(wide <= room, `${views}${others}: ${wide} in ${room}`);
            for (const legend of await page.locator(`.panel-${views} .legend`).all())
                assert.ok((await legend.boundingBox()).height > 12, `${views}: its legend`);
        }
}

/* Names of the force-directed drawing: some, that of what is strange among them, none on another. */
async function namesAreApart(page, server) {
    await open(page, server, "views=structure&tree-as=force");
    await page.locator(".force .node").first().waitFor();
    const boxes = await page.locator(".node-name").evaluateAll((names) =>
        names.map((name) => {
            const { left, right, top, bottom } = name.getBoundingClientRect();
            return { text: name.textContent, left, right, top: top + 2, bottom: bottom - 2 };
        }),
    );
    assert.ok(boxes.some(({ text }) => text.startsWith("▲")));
    boxes.forEach((a, i) =>
        boxes.slice(i + 1).forEach((b) => {
            const isOver =
                a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            assert.ok(!isOver, `${a.text} and ${b.text}`);
        }),
    );
}

async function moreIsOnlyTheRest(page, server) {
    const asked = [];
    const note = (request) =>
        /candidates\?/.test(request.url()) && asked.push(new URL(request.url()).searchParams);
    page.on("request", note);
    await open(page, server, "list=:::score");
    const { total } = await page.evaluate(async () =>
        (
            await fetch(
                "api/v1/fois/" +
                    (await (await fetch("api/v1/run")).json()).fois[0].id +
                    "/candidates?limit=1",
            )
        ).json(),
    );
    asked.length = 0;
    await page.getByRole("button", { name: /^Show \d+ more/ }).click();
    await page.waitForFunction(() => document.querySelectorAll(".candidate").length > 50);
    assert.deepEqual(
        asked.map((q) => [q.get("offset"), q.get("limit")]),
        [["50", "50"]],
    );
    assert.equal(await candidates(page).count(), Math.min(100, total));
    page.off("request", note);
}

/* Four ranks are compared by what came last how often; a single program with none. A choice of places is in the link. */
async function ranks(page, server) {
    await open(page, server, "views=ranks");
    await page.getByText(/None of 4 (ranks|threads) is slow/).waitFor();
    assert.equal(await page.locator(".panel-ranks tbody tr").count(), 4);
    await page.locator(".panel-ranks .heat").hover();
    await page.getByText(/^rank \d.*, .*(times the typical|no execution begins)$/).waitFor();
    await page.locator(".panel-ranks").getByLabel("by").selectOption("program");
    await page.getByText(/There is only one program, which cannot be compared/).waitFor();
    await page.waitForFunction(() => /places=program/.test(location.hash));
    await open(page, server, "views=ranks&places=node");
    await page.getByText(/The trace does not say on which nodes/).waitFor();
    await page.locator(".panel-ranks").getByLabel("by").selectOption("rank");
    await page.getByText(/None of 4 ranks is slow/).waitFor();
}

async function linksRestore(page, server) {
    await open(page, server, "views=structure,regions");
    await page.getByRole("button", { name: "Calls", exact: true }).click();
    await page.getByRole("searchbox", { name: "Filter functions" }).fill("MPI");
    await page.getByLabel("stretch both").check();
    await page.waitForFunction(
        () => /regions=calls-%3AMPI/.test(location.hash) && /stretch=1/.test(location.hash),
    );
    const link = page.url();
    await page.reload();
    await loaded(page);
    assert.ok(await page.getByLabel("stretch both").isChecked());
    assert.equal(
        await page.getByRole("searchbox", { name: "Filter functions" }).inputValue(),
        "MPI",
    );
    assert.match(await page.locator('th[aria-sort="descending"]').textContent(), /Calls/);
    await page.waitForTimeout(300);
    assert.equal(page.url(), link, "nothing of it is lost");

    // Of views that share a place the one in front, and where the overview was moved to.
    await open(page, server, "views=overview,structure,regions");
    await page.locator(".scatter").hover();
    await page.keyboard.press("w");
    await page.waitForFunction(() => /zoom=/.test(location.hash));
    await toFront(page, "Regions");
    await page.waitForFunction(() => /front=regions/.test(location.hash));
    await page.reload();
    await loaded(page);
    await page.locator(".panel-regions").waitFor();
    assert.equal(await page.locator(".panel-structure").count(), 0);
    assert.match(page.url(), /zoom=/);
    await page.locator(".scatter").hover();
    await page.keyboard.press("f");
    await page.waitForFunction(() => !/zoom=/.test(location.hash));
}

/* A run that cannot be had, one without anomalies, answers that take long, and views that fail. */
async function states(page, server) {
    await keepRouting(page);
    await page.route("**/api/v1/run", (route) => route.fulfill({ status: 500, body: "{}" }));
    await openAnew(page, server.url);
    await page.getByText(/The run cannot be shown/).waitFor();
    await page.unroute("**/api/v1/run");
    await page.route("**/api/v1/run", async (route) => {
        const response = await route.fetch();
        const run = await response.json();
        run.fois[0].anomalies = 0;
        await route.fulfill({ response, json: run });
    });
    await page.getByRole("button", { name: "Try again" }).click();
    await loaded(page);
    await page.getByText("The list begins with what is nearest").waitFor();
    await page.unroute("**/api/v1/run");

    let answer;
    const held = new Promise((done) => (answer = done));
    const slow = /\/(timeline|tree|columns|executions\/\d+)(\?|$)/;
    await page.route(slow, async (route) => {
        await held;
        await route.fulfill({ status: 503, body: '{"detail":"too busy"}' });
    });
    await openAnew(page, `${server.url}#${some}`);
    for (const what of ["executions", "the reasons", "the structure", "the execution"])
        await page.getByText(`Loading ${what}`, { exact: false }).first().waitFor();
    answer();
    for (const view of ["overview", "why", "structure", "timeline"])
        await page.locator(`.panel-${view} .failed`, { hasText: "Too busy" }).waitFor();
    await page.unroute(slow);
    for (const view of ["overview", "why", "structure"])
        await page.locator(`.panel-${view}`).getByRole("button", { name: "Try again" }).click();
    await loaded(page);
    const points = page.locator(".panel-overview");
    await points.locator(".scatter, .failed").waitFor();
    if (await points.locator(".failed").count())
        /* where the points lie failed as well */
        await points.getByRole("button", { name: "Try again" }).click();
    await page.locator(".scatter").waitFor();
    await page.locator(".paths button").first().waitFor();
    await page.locator(".icicle").first().waitFor();
}

export async function run({ page, server }) {
    await fits(page, server);
    await tablesAreWhole(page, server);
    await namesAreApart(page, server);
    await moreIsOnlyTheRest(page, server);
    await ranks(page, server);
    await page.setViewportSize({ width: 1920, height: 1080 }); /* two views beside each other */
    await linksRestore(page, server);
    await states(page, server);
}
