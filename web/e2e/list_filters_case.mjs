// The filter: by function, reason, node, rank, verdict and label; list, overview, regions, ranks, map and messages are of what
// passes, the link and Back have it, chips take it away one by one. What cannot follow says so.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { accessible } from "./axe.mjs";
import {
    assert,
    candidates,
    filterBy,
    listedTotal,
    loaded,
    openAnew,
    openFilter,
    told,
    until,
} from "./steps.mjs";

export const name = "filters: function, reason, node and more, which all views follow";

//            step 30        step 61        step 92         4 ranks, 123 steps of 2 ms each,
//   rank 1   a +10 ms       a +10 ms       waits           which send to the next and meet
//   rank 2   waits          waits          b +5 ms         ranks 0 and 1 are on left, the others on right
const steps = "30*step(a@1ms b@1ms >1 <1 |) ";
const lateA = "step(0:a@1ms 1:a@11ms 2:a@1ms 3:a@1ms b@1ms >1 <1 |) ";
const lateB = "step(a@1ms 0:b@1ms 1:b@1ms 2:b@6ms 3:b@1ms >1 <1 |) ";
const program = `synth:main(${steps}${lateA}${steps}${lateA}${steps}${lateB}${steps});ranks=4`;
const each = 123;
const n = 4 * each;

/* A sentence has no nodes: the run is told them. */
const tellNodes =
    'import sqlite3; db = sqlite3.connect("late.snag/run.db"); ' +
    "db.execute(\"UPDATE location SET node = iif(rank < 2, 'left', 'right')\"); db.commit(); db.close()";

export const options = {
    serve: async (snag, place) => {
        await snag("analyze", program, "--foi", "step", "-o", "late.snag", "--quiet");
        await promisify(execFile)("python3", ["-c", tellNodes], { cwd: place });
        return ["late.snag"];
    },
};

const chips = (page) => page.locator(".chip");
const isListed = (page, wanted, what) =>
    until(`${what}: ${wanted} listed`, async () => (await listedTotal(page)) === wanted);

/* Points of others are hidden, and the line beside the chips counts what passes. */
async function isPassed(page, wanted, what) {
    await page.locator(".chips", { hasText: `${wanted} of ${n} executions` }).waitFor();
    await until(what, async () =>
        (await page.locator(".sampling").textContent()).includes(`${n - wanted} points hidden`),
    );
}

/* Calls of a function in Regions; null: it is not there. */
async function callsOf(page, name) {
    const row = page.locator(".panel-regions tbody tr").filter({
        has: page.locator("th", { hasText: new RegExp(`^${name}$`) }),
    });
    return (await row.count()) ? Number(await row.locator("td").nth(1).textContent()) : null;
}
const isCalled = (page, name, calls) =>
    until(`${calls} calls of ${name}`, async () => (await callsOf(page, name)) === calls);

async function open(page, server, hash) {
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
}

async function byFunction(page, server) {
    await open(page, server, "views=overview,regions,timeline&list=:::score");
    await isListed(page, n, "at first");
    assert.equal(await chips(page).count(), 0);
    await openFilter(page);
    const options = page
        .getByRole("combobox", { name: "Function", exact: true })
        .locator("option");
    await until("functions are offered", async () => (await options.count()) === 3);
    assert.deepEqual(await options.allTextContents(), ["Any function", "a (2)", "b (1)"]);
    await accessible(page, "the choices of the filter");
    await filterBy(page, "Function", "a");
    await chips(page).filter({ hasText: "In a" }).waitFor();
    await isListed(page, 2, "a takes longer");
    await isPassed(page, 2, "points in which a takes longer");
    await isCalled(page, "step", 2);
    await page
        .locator(".panel-regions", { hasText: "in the executions that pass the filter" })
        .waitFor();
    assert.equal(await callsOf(page, "main"), null);
    await page.locator(".headline", { hasText: /^Whole run: / }).waitFor();
    await accessible(page, "a filtered page");

    // The link has it, and Back undoes it.
    await page.waitForFunction(() => decodeURIComponent(location.hash).includes(":a"));
    const link = page.url();
    await page.goBack();
    await chips(page).waitFor({ state: "detached" });
    await isListed(page, n, "after Back");
    await page.goForward();
    await isListed(page, 2, "after Forward");
    await openAnew(page, link.replace(/\?n=\d+/, ""));
    await loaded(page);
    await isListed(page, 2, "from the link");
    await isPassed(page, 2, "points from the link");
    await isCalled(page, "step", 2);
}

async function byReasonAndRank(page) {
    await filterBy(page, "Reason", "work");
    await filterBy(page, "Function", "");
    await isListed(page, 3, "a function takes longer");
    await filterBy(page, "Rank", "2");
    await isListed(page, 1, "on rank 2");
    await isPassed(page, 1, "points on rank 2");
    await isCalled(page, "b", 1);
    assert.deepEqual(await chips(page).locator("span").allTextContents(), [
        "Rank 2",
        "A function takes longer",
    ]);
    // One by one.
    await page.getByRole("button", { name: "Any reason" }).click();
    await isListed(page, each, "all of rank 2");
    await isCalled(page, "main", 1);
    await page.getByRole("button", { name: "Clear all" }).click();
    await chips(page).waitFor({ state: "detached" });
    await isListed(page, n, "all");
    await isCalled(page, "main", 4);
    await page.locator(".headline", { hasText: /^\d+ anomal/ }).waitFor();
}

async function byNode(page) {
    await filterBy(page, "Node", "right");
    await isListed(page, 2 * each, "the executions of a node");
    await isPassed(page, 2 * each, "points of a node");
    await isCalled(page, "main", 2);
    await filterBy(page, "Verdict", "anomaly");
    const { total: expected } = await page.evaluate(async () =>
        (await fetch("api/v1/fois/1/candidates?node=right&verdict=anomaly")).json(),
    );
    assert.ok(expected > 0 && expected < 10, String(expected));
    await isListed(page, expected, "anomalies of a node");
    await isPassed(page, expected, "points of these");
    await isCalled(page, "step", expected);
    await page.getByRole("button", { name: "Clear all" }).click();
    await isListed(page, n, "all");
}

async function byLabel(page) {
    await told(page, "labelled abnormal", () => page.keyboard.press("b"));
    await filterBy(page, "Label", "abnormal");
    await isListed(page, 1, "labelled");
    await isPassed(page, 1, "the point that is labelled");
    await isCalled(page, "step", 1);
    await page.getByRole("button", { name: "Clear all" }).click();
    await told(page, "Label of 1 execution as before", () => page.keyboard.press("u"));
}

/* An incident is listed by the reason of its head, and by the places of all that were hit. */
async function causes(page) {
    await page.getByLabel("Order").selectOption("causes");
    await filterBy(page, "Function", "a");
    await isListed(page, 1, "causes of which a is the reason");
    await candidates(page).first().filter({ hasText: "2 times" }).waitFor();
    await filterBy(page, "Reason", "mpi");
    await page.getByText("No incident is like that.").waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await chips(page).waitFor({ state: "detached" });
}

async function ranksAndMaps(page, server) {
    await open(page, server, "views=ranks,map&list=:::::::a");
    const rows = page.locator("table.places tbody tr");
    await until("the rank on which a took longer", async () => (await rows.count()) === 1);
    const cells = await rows.locator("th, td").allTextContents();
    assert.deepEqual([cells[0], cells[2], cells[4]], ["rank 1", "2", "20.0 ms"]);
    await page.locator(".panel-ranks", { hasText: "The rest is of the whole run" }).waitFor();
    const heads = await page.locator("table.places thead th").allTextContents();
    assert.deepEqual([heads[1], heads[5]], ["Verdict (whole run)", ""], "none has a reason");
    await page.locator(".panel-ranks p", { hasText: /^Whole run: / }).waitFor();

    // The map is of what these lost; of calls it cannot tell.
    const [request] = await Promise.all([
        page.waitForRequest(/\/map\?of=cost.*function=a/),
        page.getByTitle("What is coloured").selectOption("cost"),
    ]);
    assert.ok(await request.response());
    await page.getByTitle("What is coloured").selectOption("waiting");
    await page
        .locator(".panel-map .legend", { hasText: "not only those in executions that pass" })
        .waitFor();

    // Which executions does not change it: it is asked for anew when a lane or a time does.
    const asked = [];
    const hear = (request) => /\/map\?/.test(request.url()) && asked.push(request.url());
    page.on("request", hear);
    await openFilter(page);
    await filterBy(page, "Function", "b");
    await filterBy(page, "Verdict", "anomaly");
    await until("the rank on which b took longer", async () =>
        /^rank 2/.test((await rows.first().textContent()) ?? ""),
    );
    assert.deepEqual(asked, []);
    await filterBy(page, "Rank", "2");
    await until("the map of a rank", async () => asked.length === 1);
    assert.match(asked[0], /of=waiting.*rank=2$/);
    page.off("request", hear);

    // Messages with an end on a rank.
    await open(page, server, "views=messages,quality&list=1");
    const pairs = page.locator(".panel-messages tbody th");
    await until("pairs of rank 1", async () => (await pairs.count()) === 2);
    const names = (await pairs.allTextContents()).sort();
    assert.deepEqual(names, ["rank 0 to rank 1", "rank 1 to rank 2"]);
    await page.locator(".panel-quality", { hasText: "Of the whole run." }).waitFor();
    await page.getByRole("button", { name: "All ranks" }).click();
    await until("all pairs", async () => (await pairs.count()) === 4);
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1920, height: 1080 }); /* two views beside each other */
    await byFunction(page, server);
    await byReasonAndRank(page);
    await byNode(page);
    await byLabel(page);
    await causes(page);
    await ranksAndMaps(page, server);
}
