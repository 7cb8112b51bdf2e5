// The tasks of tasks.md on a run of 24 ranks in which one was late and the others waited.
import { assert, chosen, detail, doTasks, findText, inSight, skipTo } from "./tasks.mjs";
import { openAnew, told } from "./steps.mjs";

export const name = "tasks: find, measure, select, read the cause, by mouse and by keyboard";
export const options = {
    serve: async (snag) => {
        const program =
            "synth:120*step(compute@1ms(a 3*b) >1 <1);ranks=24;jitter=0.05;slow=compute/67/9/2";
        await snag("analyze", program, "--foi", "step", "-o", "chain.snag", "--quiet");
        return ["chain.snag"];
    },
};

const viewport = { width: 1400, height: 900 };

const find = (text) => ({
    mouse: (hand) => findText(hand, "mouse", text),
    keyboard: (hand) => findText(hand, "keyboard", text),
});

const place = (page, text) => page.locator(".found-place", { hasText: text }).waitFor();

async function treeOf(page, id) {
    return page.evaluate(async (name) => {
        const { items } = await (await fetch("api/v1/fois/1/candidates?limit=1000")).json();
        return items.find((item) => item.id.endsWith(name)).tree;
    }, id);
}

/* The middle of the row of a depth in the lane of a rank. */
async function rowOf(page, rank, depth, share) {
    const canvas = await page.locator(".timeline-canvas").boundingBox();
    const lane = await page
        .locator(".rank-name", { hasText: new RegExp(`rank ${rank}$`) })
        .boundingBox();
    return [canvas.x + canvas.width * share, lane.y + 8 + depth * 17];
}

const calculated = (page) => page.getByRole("region", { name: "What the area holds" });

async function table(page) {
    const rows = calculated(page).locator("tbody tr");
    await rows.first().waitFor();
    await inSight(rows.first());
    const names = await calculated(page).locator("tbody th").allTextContents();
    assert.ok(names.includes("compute") && names.includes("MPI_Recv"), String(names));
}

/* The first message of the selected execution: where its arrow is drawn. */
async function arrowMiddle(page) {
    const canvas = await page.locator(".timeline-canvas").boundingBox();
    const { from, to, share } = await page.evaluate(async () => {
        const [it] = (await (await fetch("api/v1/fois/1/candidates?limit=1")).json()).items;
        const { fois } = await (await fetch("api/v1/run")).json();
        const shown = await (
            await fetch(`api/v1/fois/${fois[0].id}/executions/${it.tree}`)
        ).json();
        const margin = shown.duration_ns * 0.08;
        return {
            from: it.rank,
            to: it.rank + 1,
            share: (shown.exit_ns - shown.enter_ns + margin) / (shown.duration_ns + 2 * margin),
        };
    });
    const rem = 92; /* room for the names of ranks */
    const x = canvas.x + rem + share * (canvas.width - rem);
    const [, y0] = await rowOf(page, from, 2, 0.5);
    const [, y1] = await rowOf(page, to, 0, 0.5);
    return [x, (y0 + y1) / 2];
}

/* As if nothing had been labelled, and the page as at first. */
async function forget(page) {
    const answers = await page.evaluate(async () => {
        const headers = { "Content-Type": "application/json" };
        const { items } = await (await fetch("api/v1/fois/1/candidates?label=normal")).json();
        const labels = items.map(({ tree }) => ({ tree, label: "clear" }));
        const post = (path, body) =>
            fetch(`api/v1/fois/1/${path}`, {
                method: "POST",
                headers,
                body: JSON.stringify(body),
            });
        return [
            (await post("retrain/undo", {})).status,
            (await post("labels", { labels })).status,
        ];
    });
    assert.deepEqual(answers, [200, 200]);
    await page.reload();
    await detail(page)
        .locator("h1", { hasText: /^#2-66/ })
        .waitFor();
}

/* Labelled normal and learnt by somebody before this page was loaded. */
async function labelYesterday(page, tree) {
    await page.evaluate(async (of) => {
        const post = (path, body) =>
            fetch(`api/v1/fois/1/${path}`, {
                method: "POST",
                headers: { "Content-Type": "application/json" },
                body: JSON.stringify(body),
            });
        await post("labels", { labels: [{ tree: of, label: "normal" }] });
        await post("retrain", {});
    }, tree);
    await page.reload();
    await detail(page)
        .locator("h1", { hasText: /^#2-66/ })
        .waitFor();
}

export async function run({ page, server, context }) {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.setViewportSize(viewport);
    const end = await treeOf(page, "#17-80");
    const head = await treeOf(page, "#2-66");
    const lane = page.locator(".rank-name");
    await doTasks(page, server, "chain", [
        {
            number: 1,
            answer: async () => {
                const said = await inSight(detail(page).locator(".origin"));
                assert.match(said, /rank 2: compute, 9\.1/);
            },
        },
        {
            number: 2,
            hash: `tree=${end}`,
            answer: async () => {
                assert.match(await inSight(detail(page).locator(".origin")), /rank 2: compute/);
                const links = page.locator(".cause li");
                assert.match(await inSight(links.first()), /rank 2: compute/);
                assert.match(await links.last().textContent(), /rank 17: MPI_Recv/);
                const numbers = () =>
                    links.evaluateAll((all) =>
                        all.filter((li) => li.hasAttribute("value")).map((li) => li.value),
                    );
                assert.deepEqual(await numbers(), [1, 2, 3, 4, 5, 16], "1 is the cause");
                await page.getByRole("button", { name: /10 more ranks between/ }).click();
                assert.equal(await links.count(), 16);
                assert.deepEqual(
                    await numbers(),
                    Array.from({ length: 16 }, (_, k) => k + 1),
                );
            },
        },
        {
            number: 3,
            hash: `tree=${end}`,
            mouse: (hand) => hand.click(detail(page).locator(".origin")),
            keyboard: (hand) => hand.key("g"),
            answer: async () => {
                assert.match(await chosen(page, "compute"), /compute on rank 2/);
                await inSight(lane.filter({ hasText: /rank 2$/ }));
                assert.equal(
                    await lane.filter({ hasText: /rank 2$/ }).getAttribute("aria-expanded"),
                    "true",
                );
            },
        },
        {
            number: 4,
            answer: async () => {
                const entry = await inSight(page.locator(".incident").first());
                assert.match(entry, /24 executions on 24 ranks/);
            },
        },
        {
            number: 5,
            answer: async () => {
                const cost = page.locator(".incident .cost").first();
                assert.match(await inSight(cost), /costs the run 7\.9/);
            },
        },
        {
            number: 6,
            answer: async () => {
                const facts = detail(page).locator(".facts");
                assert.match(await inSight(facts), /typical 1\.\d+ ms \(8\.\d times as long/);
            },
        },
        {
            number: 7,
            answer: async () => {
                const known = (where, text) =>
                    inSight(page.locator(where, { hasText: text }).first());
                await known(".peer-times tr", /median of 119 others on rank 2.*1\.0/);
                await known(".peer-times tr", /execution 66 on 23 other ranks.*1\.0/);
                await known(
                    ".paths .beside",
                    /otherwise on rank 2: \d.*; execution 66 on other ranks: \d/,
                );
            },
        },
        {
            number: 8,
            mouse: (hand) =>
                hand.click(page.getByRole("button", { name: "Trace quality", exact: true })),
            keyboard: (hand) => hand.key("7"),
            answer: () => inSight(page.getByText("The trace is not damaged.")),
        },
        {
            number: 9,
            ...find("b"),
            answer: async () => {
                await place(page, /^1 of 8,640$/);
                assert.match(await chosen(page, /^b/), /^b on rank/);
            },
        },
        {
            number: 10,
            mouse: async (hand) => {
                await findText(hand, "mouse", "b");
                await place(page, /^1 of/);
                hand.steps = 0;
                await hand.click(page.getByRole("button", { name: "Next hit" }));
                await place(page, /^2 of 8,640$/);
                await hand.click(page.getByRole("button", { name: "Hit before" }));
            },
            keyboard: async (hand) => {
                await findText(hand, "keyboard", "b");
                await place(page, /^1 of/);
                hand.steps = 0;
                await hand.key("Enter");
                await place(page, /^2 of 8,640$/);
                await hand.key("Shift+Enter");
            },
            answer: () => place(page, /^1 of 8,640$/),
        },
        {
            number: 11,
            ...find("longest compute"),
            answer: async () => {
                await place(page, /^1 of 2,880$/);
                assert.match(await chosen(page, "compute"), /on rank 2.*duration 9\.1\d{5} ms/);
            },
        },
        {
            number: 12,
            ...find("slowest on rank 7"),
            answer: () =>
                detail(page)
                    .locator("h1", { hasText: /^#7-70/ })
                    .waitFor(),
        },
        {
            number: 13,
            ...find("11-40"),
            answer: () =>
                detail(page)
                    .locator("h1", { hasText: /^#11-40/ })
                    .waitFor(),
        },
        {
            number: 14,
            ...find("nonexist"),
            answer: () =>
                inSight(
                    page.locator(".found-nothing", {
                        hasText: "Nothing is called “nonexist”.",
                    }),
                ),
        },
        {
            number: 15,
            mouse: async (hand) =>
                hand.drag(await rowOf(page, 2, 0, 0.3), await rowOf(page, 3, 1, 0.7)),
            keyboard: (hand) => hand.key("m"),
            answer: async () => {
                await table(page);
                await page.waitForFunction(() => /area=/.test(location.hash));
                assert.match(
                    await page.locator(".chosen").textContent(),
                    /messages? sent .* received/,
                );
            },
        },
        {
            number: 16,
            hash: `tree=${head}&area=69000000,79000000:2,3`,
            mouse: async (hand) => {
                const [file] = await Promise.all([
                    page.waitForEvent("download"),
                    hand.click(page.getByRole("button", { name: "Save as CSV" })),
                ]);
                assert.equal(file.suggestedFilename(), "chain.snag-area.csv");
            },
            keyboard: async (hand) => {
                await table(page);
                await hand.key("Control+c");
            },
            answer: async (_, way) => {
                if (way === "mouse") return;
                const text = await page.evaluate(() => navigator.clipboard.readText());
                assert.match(
                    text,
                    /^function,kind,calls,total_ns,own_ns\r?\ncompute,user,\d+,/,
                );
            },
        },
        {
            number: 17,
            mouse: async (hand) => hand.clickAt(...(await rowOf(page, 2, 1, 0.6))),
            keyboard: (hand) => hand.key("g"),
            answer: async () =>
                assert.match(
                    await chosen(page, "compute"),
                    /duration 9\.\d{6} ms.*begins 69\.\d{6} ms.*ends 78\.\d{6} ms/,
                ),
        },
        {
            number: 18,
            mouse: async (hand) => {
                await page.getByRole("button", { name: "Zoom in" }).click();
                await page.waitForFunction(() => /window=/.test(location.hash));
                await hand.back();
            },
            keyboard: async (hand) => {
                await page.keyboard.press("w");
                await page.waitForFunction(() => /window=/.test(location.hash));
                await hand.key("Backspace");
            },
            answer: async () => {
                await page.waitForFunction(() => !/window=/.test(location.hash));
                assert.match(await detail(page).locator("h1").textContent(), /^#2-66/);
            },
        },
        {
            number: 19,
            mouse: async (hand) => hand.clickAt(...(await arrowMiddle(page))),
            keyboard: (hand) => hand.key("]"),
            answer: async () => {
                const said = page.getByRole("region", { name: "Selected message" });
                assert.match(
                    await inSight(said),
                    /Sender: rank \dReceiver: rank \dbytes 8tag \d/,
                );
                await page.keyboard.press("]");
                assert.match(await chosen(page, "MPI_Recv"), /^MPI_Recv on rank/);
            },
        },
        {
            number: 21,
            hasBoth: true,
            mouse: async (hand) => {
                await hand.click(detail(page).locator(".label-normal"));
                await hand.click(detail(page).getByRole("button", { name: /^Retrain/ }));
                await hand.click(page.getByRole("button", { name: /^Show what changed/ }));
            },
            keyboard: async (hand) => {
                await forget(page);
                await hand.key("n");
                await page.locator(".notice", { hasText: "labelled normal" }).waitFor();
                await hand.key("r");
                await page.getByRole("button", { name: /^Show what changed/ }).waitFor();
                await hand.key("c");
            },
            answer: async () => {
                await page.waitForFunction(() => /list=%3Achanged/.test(location.hash));
                const own = page.locator(".candidate.selected", { hasText: "#2-66" });
                assert.match(await inSight(own.locator(".moved")), /was an anomaly, place 1/);
                assert.ok(
                    (await page.locator(".candidate").count()) > 1,
                    "others went with it",
                );
            },
        },
        {
            number: 22,
            hasBoth: true,
            mouse: async (hand) => {
                await forget(page);
                await labelYesterday(page, head);
                const undo = page.locator(".actions").getByRole("button", { name: "Undo" });
                await told(page, /The ranking is as before/, () => hand.click(undo));
                await told(page, /Label of 1 execution as before/, () => hand.click(undo));
            },
            keyboard: async (hand) => {
                await labelYesterday(page, head);
                await told(page, /The ranking is as before/, () => hand.key("u"));
                await told(page, /Label of 1 execution as before/, () => hand.key("u"));
            },
            answer: async () => {
                const own = detail(page);
                await own.locator("h1", { hasText: /#2-66.*anomaly/s }).waitFor();
                assert.equal(await own.locator('.labels [aria-pressed="true"]').count(), 0);
            },
        },
        {
            number: 20,
            answer: async () => {
                const legend = page.locator(".kinds-legend");
                const text = await inSight(legend);
                assert.match(text, /MPI.*own code.*a message/);
                assert.equal(await legend.locator("svg").count(), 3, "only what is there");
            },
        },
        {
            number: 25,
            hash: "views=regions,timeline",
            mouse: async (hand) => {
                await hand.click(page.getByRole("button", { name: "compute", exact: true }));
                await chosen(page, /^compute.*rank 2.*1 of 2,880 by length/);
                await hand.click(page.getByRole("button", { name: "Shorter" }));
            },
            keyboard: async (hand) => {
                await findText(hand, "keyboard", "longest compute");
                await chosen(page, /^compute.*rank 2/);
                await hand.key("Escape");
                await hand.key(".");
            },
            answer: (_) => chosen(page, /2 of 2,880 by length/),
        },
        {
            number: 29,
            hash: "views=timeline",
            mouse: (hand) => hand.choose(page.getByLabel("Colour calls by"), "excess"),
            keyboard: async (hand) => {
                await skipTo(hand, "To the views");
                await hand.key("Tab");
                await hand.key("End");
            },
            answer: async () => {
                const legend = page
                    .locator(".kinds-legend")
                    .filter({ hasText: "compared with the same rank" });
                assert.match(await inSight(legend), /longer than is typical.*up to .* or more/);
            },
        },
        {
            number: 33,
            mouse: async (hand) => {
                await page.mouse.click(...(await rowOf(page, 2, 1, 0.6)));
                await chosen(page, "compute");
                await hand.shiftClickAt(...(await rowOf(page, 3, 1, 0.6)));
            },
            keyboard: async (hand) => {
                await page.keyboard.press("g");
                await chosen(page, "compute");
                await hand.key("x");
                await hand.key(".");
            },
            answer: async () => {
                const said = page.getByRole("region", { name: "Distance of two calls" });
                await said
                    .filter({ hasText: /(Gap|Both) [\d.]+ (n|u|m|)s.*begins.*ends/ })
                    .waitFor();
                await inSight(said.locator("p"));
            },
        },
        {
            number: 34,
            hash: "window=60000000,70000000",
            mouse: (hand) => hand.click(page.getByRole("button", { name: "Only this window" })),
            keyboard: (hand) => hand.key("o"),
            answer: () => inSight(page.locator(".chip", { hasText: "60.0 ms to 70.0 ms" })),
        },
        {
            number: 35,
            ...find("longest compute on rank 7"),
            answer: async () => {
                await place(page, /^1 of 120$/);
                assert.match(await chosen(page, "compute"), /on rank 7/);
            },
        },
        {
            number: 36,
            hash: `tree=${head}`,
            mouse: async (hand) => {
                await hand.click(page.locator(".actions .menu summary"));
                await hand.click(
                    page.getByRole("button", { name: "Copy the link to what is shown" }),
                );
            },
            keyboard: (hand) => hand.key("h"),
            answer: async () => {
                await page.locator(".notice", { hasText: "The link is copied." }).waitFor();
                assert.equal(
                    await page.evaluate(() => navigator.clipboard.readText()),
                    page.url(),
                );
            },
        },
        {
            number: 30,
            hash: "views=map,timeline",
            mouse: (hand) => hand.choose(page.getByLabel("Coloured by"), "cost"),
            keyboard: async (hand) => {
                await skipTo(hand, "To the views");
                await hand.key("Tab");
                await hand.key("ArrowDown");
            },
            answer: async () => {
                const legend = page.locator(".map-legend", { hasText: "cost to the run" });
                assert.match(
                    await inSight(legend),
                    /^Colour: cost to the run, in .* of a lane\./,
                );
            },
        },
        {
            number: 37,
            hash: "views=messages,timeline",
            mouse: (hand) => hand.choose(page.getByLabel("What is coloured"), "wait_ns"),
            keyboard: async (hand) => {
                await skipTo(hand, "To the views");
                await hand.key("Tab");
                await hand.key("w");
            },
            answer: async () => {
                await page.waitForFunction(() => /messages=wait_ns/.test(location.hash));
                const first = page.locator(".panel-messages tbody tr").first();
                assert.match(await inSight(first), /^rank 22 to rank 23/);
            },
        },
        {
            number: 38,
            hash: "views=query,timeline",
            mouse: (hand) => hand.choose(page.getByLabel("Examples"), "0"),
            keyboard: async (hand) => {
                await skipTo(hand, "To the views");
                await hand.key("Tab");
                await hand.key("ArrowDown");
            },
            answer: async () => {
                const first = page.locator(".panel-query tbody tr").first();
                assert.match(await inSight(first), /^#2-66/);
            },
        },
        {
            number: 39,
            mouse: async (hand) => {
                await hand.click(page.getByRole("button", { name: /^Filter/ }));
                await hand.choose(
                    page.getByRole("combobox", { name: "Function", exact: true }),
                    "compute",
                );
            },
            keyboard: async (hand) => {
                await hand.key("q");
                await page.locator("option", { hasText: /^compute \(/ }).waitFor({
                    state: "attached",
                });
                await hand.key("ArrowDown");
            },
            answer: async () => {
                await inSight(page.locator(".chip", { hasText: "In compute" }));
                await page.locator(".chips", { hasText: /\d of 2,880 executions/ }).waitFor();
            },
        },
    ]);

    // The tooltip is of what is under the pointer, after the keys moved what is there.
    await openAnew(page, server.url);
    await page.locator(".rank-name", { hasText: /rank 3$/ }).waitFor();
    await page.locator(".timeline-canvas[aria-busy=false]").waitFor();
    const [x, y] = await rowOf(page, 3, 1, 0.5);
    await page.mouse.move(x, y);
    await page.locator(".timeline .hover", { hasText: "MPI_Recv" }).waitFor();
    for (let i = 0; i < 6; i++) await page.keyboard.press("d");
    await page.locator(".timeline .hover", { hasText: "compute" }).waitFor();

    // Escape closes one thing after the other.
    await page.keyboard.press("m");
    await page.getByRole("region", { name: "Area", exact: true }).waitFor();
    await page.locator(".actions .menu summary").click();
    await page.keyboard.press("Escape");
    assert.equal(await page.locator(".actions .menu[open]").count(), 0);
    await page.getByRole("region", { name: "Area", exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page
        .getByRole("region", { name: "Area", exact: true })
        .waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Why: larger" }).click();
    await page.locator(".panel-timeline").waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await page.locator(".panel-timeline").waitFor();
}
