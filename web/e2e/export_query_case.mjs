// SQL in the page: it is written, run, shown as a table and a chart, saved, and restored by a link; what is wrong with it
// is said; what would change something is refused. By mouse and by keyboard.
import { accessible } from "./axe.mjs";
import { assert, loaded, openAnew, savedBy, selectedId, until } from "./steps.mjs";

export const name = "query: SQL about the run, as a table and a chart; it only reads";

const panel = (page) => page.getByRole("region", { name: "Query", exact: true });
const field = (page) => page.getByRole("textbox", { name: "SQL about this run" });
const count = (page) => panel(page).locator(".query-count").first();
const rows = (page) =>
    page.getByRole("region", { name: "Rows of the query" }).locator("tbody tr");

async function open(page, server, hash) {
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
}

/* By the keyboard alone: written, run, and an execution of the answer is chosen. */
async function byKeys(page, server) {
    await open(page, server, "views=why");
    await page.keyboard.press("0");
    await field(page).focus();
    await page.keyboard.type("SELECT '#' || rank || '-' || idx AS id, duration_ns, tree ");
    await page.keyboard.press("Enter"); /* a line, and not yet a query */
    assert.equal(await rows(page).count(), 0);
    await page.keyboard.type("FROM execution WHERE rank = 2 ORDER BY idx");
    await page.keyboard.press("Control+Enter");
    await count(page).getByText("200 rows.").waitFor();
    assert.deepEqual(await panel(page).locator("thead th").allTextContents(), [
        "id",
        "duration_ns",
        "tree",
    ]);
    const button = rows(page).nth(5).getByRole("button", { name: "#2-5", exact: true });
    await rows(page).first().getByRole("button").first().focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowDown");
    assert.ok(await button.evaluate((e) => e === document.activeElement));
    await page.keyboard.press("Enter");
    await until("it is selected", async () => (await selectedId(page)) === "#2-5");
    assert.match(await rows(page).nth(5).locator("td").nth(1).textContent(), /^[\d.]+ ms$/);
    assert.match(
        await rows(page).nth(5).locator("td").nth(1).getAttribute("title"),
        /^\d{7}$/,
        "the number itself",
    );

    // By the number of its tree.
    await rows(page).nth(7).getByRole("button").nth(1).click();
    await until("the other one", async () => (await selectedId(page)) === "#2-7");
}

/* The query is in the link, and Back leads to the one before only where something was selected. */
async function linkRestores(page, server) {
    await open(page, server, "views=query");
    await field(page).fill("SELECT 'a+b&c=d#' AS t, 1 AS n UNION ALL SELECT 'é', 2");
    await panel(page).getByRole("button", { name: "Run", exact: true }).click();
    await count(page).getByText("2 rows.").waitFor();
    await panel(page).getByLabel("Shown as").selectOption("chart");
    await panel(page).locator(".query-chart svg").waitFor();
    await page.waitForFunction(
        () => /sql=/.test(location.hash) && /sql-as=chart/.test(location.hash),
    );
    const link = page.url();
    await page.reload();
    await loaded(page);
    await panel(page).locator(".query-chart svg").waitFor();
    assert.equal(
        await field(page).inputValue(),
        "SELECT 'a+b&c=d#' AS t, 1 AS n UNION ALL SELECT 'é', 2",
    );
    assert.equal(await panel(page).locator(".query-bar").count(), 2);
    await page.waitForTimeout(300);
    assert.equal(page.url(), link);
}

/* What was written stays when another view is in front, and is not asked anew. */
async function staysBehind(page, server) {
    await page.setViewportSize({ width: 1280, height: 720 });
    await open(page, server, "views=query,ranks,timeline&sql=SELECT 1 AS one&front=query");
    await count(page).getByText("1 row.").waitFor();
    const asked = [];
    page.on("request", (request) => /\/query\?/.test(request.url()) && asked.push(1));
    await field(page).fill("SELECT half a query");
    await page.keyboard.press("Escape");
    await page.locator(".tabs").getByRole("button", { name: "Ranks" }).click();
    await page.locator(".panel-ranks table").first().waitFor();
    assert.equal(await field(page).count(), 0);
    await page.locator(".tabs").getByRole("button", { name: "Query" }).click();
    await count(page).getByText("1 row.").waitFor();
    assert.equal(await field(page).inputValue(), "SELECT half a query");
    assert.deepEqual(asked, []);
}

/* Bars are as long as their numbers. */
async function charts(page, server) {
    await open(
        page,
        server,
        "views=query&sql-as=chart&sql=SELECT 'x' AS name, 10 AS n UNION ALL SELECT 'y', 5",
    );
    const wide = (i) =>
        panel(page)
            .locator(".query-bar")
            .nth(i)
            .evaluate((bar) => bar.getBoundingClientRect().width);
    await panel(page).locator(".query-bar").nth(1).waitFor();
    assert.ok((await wide(0)) > 100);
    assert.ok(Math.abs((await wide(0)) / (await wide(1)) - 2) < 0.02);
    await accessible(page, "a chart");

    const sql = "SELECT enter_ns, duration_ns FROM execution WHERE rank = 1 ORDER BY enter_ns";
    await field(page).fill(sql);
    await field(page).press("Control+Enter");
    await panel(page).locator(".query-line").waitFor();
    assert.equal(await panel(page).locator(".query-point").count(), 200);

    await field(page).fill("SELECT 'one row alone' AS t, 1");
    await field(page).press("Control+Enter");
    await panel(page)
        .getByText(/^A chart takes two rows or more/)
        .waitFor();
    await panel(page).getByRole("cell", { name: "one row alone" }).waitFor();
}

/* Of very many rows some are shown and counted; more are saved. */
async function many(page, server) {
    await open(page, server, "views=query&sql=SELECT a.tree FROM execution a, execution b");
    await count(page)
        .getByText("500 of 640,000 rows. As CSV up to 10,000 are saved.")
        .waitFor();
    assert.equal(await rows(page).count(), 500);
    await page.locator(".actions .menu summary").click();
    const csv = String(await savedBy(page, "Query as CSV"));
    assert.equal(csv.trim().split("\r\n").length, 10001);
    await accessible(page, "a table");
}

/* What is wrong is said as SQLite says it; the field keeps what was written. */
async function refusals(page, server) {
    await open(page, server, "views=query");
    for (const [sql, said] of [
        ["SELEC 1", /Bad SQL: near "SELEC": syntax error\./],
        ["SELECT nowhere FROM execution", /Bad SQL: no such column: nowhere\./],
        ["DELETE FROM label", /Query only reads: 'DELETE FROM label' would change something\./],
        ["ATTACH '/tmp/x' AS x", /Query only reads: /],
        ["SELECT 1; SELECT 2", /One SQL statement at a time/],
        ["SELECT abs(-9223372036854775807 - 1)", /The query failed: integer overflow\./],
        [`SELECT '${"x".repeat(9000)}'`, /The query is too long/],
    ]) {
        await field(page).fill(sql);
        await field(page).press("Control+Enter");
        await panel(page).locator(".failed", { hasText: said }).waitFor();
        assert.equal(await field(page).inputValue(), sql);
    }
    await field(page).fill("SELECT 1 AS one");
    await field(page).press("Control+Enter");
    await count(page).getByText("1 row.").waitFor();
    assert.equal(await panel(page).locator(".failed").count(), 0);
}

/* What takes long can be stopped, and nothing else waits for it. */
async function stops(page, server, isFar) {
    const endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    await open(page, server, "views=why,query");
    await field(page).fill(endless);
    await field(page).press("Control+Enter");
    await panel(page).getByText("Loading the rows ...").waitFor();
    await page.locator(".candidate .pick").nth(1).click(); /* answered meanwhile */
    await page.locator(".panel-why .paths button").first().waitFor();
    await panel(page).getByRole("button", { name: "Stop" }).click();
    await panel(page).getByText("Loading the rows ...").waitFor({ state: "detached" });
    assert.equal(await field(page).inputValue(), endless);

    // The next one need not wait until its ten seconds are over. (Answers that are held back are asked for by the
    // browser's driver, which gives nothing up.)
    if (isFar) return;
    const begin = Date.now();
    await field(page).fill("SELECT 1 AS one");
    await field(page).press("Control+Enter");
    await count(page).getByText("1 row.").waitFor();
    assert.ok(Date.now() - begin < 8000, `${Date.now() - begin} ms`);
}

/* Where nothing was asked, what can be asked about is there, and queries to begin with. */
async function beginning(page, server) {
    await open(page, server, "views=query");
    const tables = panel(page).getByRole("table", { name: "Tables" });
    await tables.getByRole("row", { name: /^execution foi, tree, .* duration_ns,/ }).waitFor();
    const some = panel(page).getByRole("list", { name: "To begin with" }).getByRole("button");
    assert.equal(await some.count(), 3);
    await some.first().click();
    await count(page).waitFor();
    assert.match(await field(page).inputValue(), /WHERE verdict = 'anomaly'/);
    assert.equal(await tables.count(), 0);
}

/* Each example finds something, or that there is nothing; none fails. */
async function examples(page, server) {
    await open(page, server, "views=query");
    const choice = panel(page).getByLabel("Examples");
    const n = await choice.locator("option").count();
    assert.ok(n > 8);
    for (let i = 0; i < n - 1; i++) {
        await choice.selectOption(String(i));
        await page.waitForFunction(
            (text) => decodeURIComponent(location.hash.replace(/\+/g, " ")).includes(text),
            (await field(page).inputValue()).slice(0, 30),
        );
        await count(page).waitFor();
        await until("it is answered", async () => {
            assert.equal(await panel(page).locator(".failed").count(), 0, `example ${i}`);
            return !(await panel(page).getByRole("button", { name: "Stop" }).count());
        });
    }
    await panel(page).getByRole("cell", { name: "execution", exact: true }).waitFor();
}

export async function run({ page, server, isFar }) {
    await byKeys(page, server);
    await linkRestores(page, server);
    await staysBehind(page, server);
    await charts(page, server);
    await many(page, server);
    await refusals(page, server);
    await stops(page, server, isFar);
    await beginning(page, server);
    await examples(page, server);
}
