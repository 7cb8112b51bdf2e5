// What can be saved, and a server that goes away and comes back.
import { readFile } from "node:fs/promises";
import { assert, loaded, openAnew, picturesAreRight, told } from "./steps.mjs";

export const name = "saving: labels, pictures, tables; the page says when the server is away";

const all =
    "views=overview,why,structure,timeline,ranks,regions,quality,messages,query&sql=SELECT 'rank ' || rank AS rank, sum(lost_ns) AS lost_ns FROM execution GROUP BY 1";

async function saved(page, what) {
    await page.locator(".actions .menu summary").click();
    const menu = page.locator(".actions .menu");
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        menu
            .getByRole("link", { name: what })
            .or(menu.getByRole("button", { name: what, exact: true }))
            .click(),
    ]);
    return readFile(await download.path());
}

/* What each shows, its axis and its legend among it; words of an SVG are text. */
const pictures = [
    [
        "Overview",
        /<path d="M[\d. -]+a[^>]*fill="rgb.*>time since the start →<.*>normal execution<.*>anomaly \(outlined\)</s,
    ],
    ["Why", /height="12" fill.*>time lost, beyond what is typical →</s],
    [
        "Structure",
        /<svg[^>]*viewBox.*<rect[^>]*fill="rgb.*>time in calls →<.*what most executions call/s,
    ],
    ["Timeline", /<clipPath.*<rect[^>]*fill="rgb.*>rank \d+<.*>MPI<.*>own code<.*time since/s],
    [
        "Ranks",
        />rank 0<.*>rank 3<.*>time since the start →<.*(own work [^<]* longer|longer than is typical)/s,
    ],
    ["Regions", />Function<.*>compute<.*>MPI_Recv</s],
    ["Trace quality", />The trace is not damaged\.</],
    ["Messages", />Messages<.*<image .*>rank 0<.*>to rank<.*>800 messages, /s],
    ["Query", />lost_ns<.*>rank 0<.*>rank 3</s],
];

async function picturesAreForPapers(page, server) {
    await page.emulateMedia({ colorScheme: "dark" });
    await openAnew(page, `${server.url}#${all}`);
    await loaded(page);
    for (const there of [
        ".timeline-canvas",
        ".icicle",
        ".heat",
        ".matrix .heat",
        ".panel-query td",
        ".paths",
    ])
        await page.locator(there).first().waitFor();
    const run = await page.locator(".run-name").textContent();
    for (const [view, pattern] of pictures) {
        const svg = await picturesAreRight(page, view, pattern, (what) => saved(page, what));
        assert.match(
            svg,
            new RegExp(`>${view}</text>\\n<text[^>]*>${run}, `),
            `${view}: title`,
        );
        assert.match(svg, /<rect x="-10"[^>]*fill="#fff(fff)?"/, `${view} is on white`);
    }
    await page.emulateMedia({ colorScheme: "light" });
}

/* Heads, and as many rows as the server knows. */
async function tablesHaveAll(page, server) {
    const ask = async (path) => (await fetch(new URL(`api/v1/${path}`, server.url))).json();
    const linesOf = async (what) =>
        String(await saved(page, what))
            .trim()
            .split("\r\n");
    const { total: causes } = await ask("fois/1/causes?limit=1");
    const byCause = await linesOf("The list as CSV");
    assert.match(byCause[0], /^group,verdict,incidents,times,executions,lost_ns,cost_ns/);
    assert.equal(byCause.length, 1 + causes);
    await page.getByLabel("Order").selectOption("incidents");
    await page.locator(".list-head h2", { hasText: /\d incidents?$/ }).waitFor();
    const { total } = await ask("fois/1/incidents?limit=1");
    const list = await linesOf("The list as CSV");
    assert.match(list[0], /^incident,verdict,score,begin_ns,end_ns,lost_ns/);
    assert.equal(list.length, 1 + total);
    const regions = await linesOf("Regions as CSV");
    assert.match(regions[0], /^name,kind,calls,inclusive_ns/);
    const named = (await ask("regions")).filter((r) => r.calls > 0);
    assert.equal(regions.length, 1 + named.length);
    for (const [what, head] of [
        ["Ranks as CSV", /^place,verdict,own_ns/],
        ["Why as CSV", /^path,calls,usual_calls/],
        ["Trace quality as CSV", /^kind,where,count/],
        ["Messages as CSV", /^from,to,messages,bytes,mean_ns/],
        ["Query as CSV", /^rank,lost_ns/],
    ])
        assert.match((await linesOf(what))[0], head);

    await page.getByLabel("Order").selectOption("score");
    await page.locator(".candidate .score").first().waitFor();
    const executions = await linesOf("The list as CSV");
    const { total: n } = await ask("fois/1/candidates?limit=1");
    assert.equal(executions.length, 1 + n, "more than the 50 that are shown");
    assert.match(executions[1], /^1,[^,]*#\d+-\d+,/);
}

export async function run({ page, server }) {
    await page.setViewportSize({
        width: 1000,
        height: 900,
    }); /* all views, one below the other */
    await loaded(page);
    await page.locator(".timeline-canvas").waitFor();
    await page.locator(".icicle").first().waitFor();
    await told(page, /labelled abnormal/, () => page.keyboard.press("b"));
    assert.match(
        String(await saved(page, "Labelled executions (CSV)")),
        /id,label[^\n]*\n"?#.*abnormal/,
    );
    await picturesAreForPapers(page, server);
    await tablesHaveAll(page, server);
    await page.locator(".panel-structure select").selectOption("force");
    await picturesAreRight(page, "Structure", /<circle[^>]*fill="rgb/, (what) =>
        saved(page, what),
    );

    await server.goAway();
    await page.locator(".offline").waitFor();
    await page.keyboard.press("j");
    await page.locator(".detail .failed").waitFor();
    assert.ok(await page.locator(".candidate").count(), "what was there can still be seen");
    await server.comeBack();
    await page.locator(".offline").waitFor({ state: "detached" });
    await page.locator(".detail h1").waitFor();
    await told(page, /labelled normal/, () => page.keyboard.press("n"));
}
