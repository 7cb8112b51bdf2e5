// Ranks and their peers: who is slow, its threads below it, a choice of places that a link restores,
// and what operations cost. In the list, costs that are bounds are said to be so.
import { accessible } from "./axe.mjs";
import { assert, detail, keepRouting, loaded, openAnew } from "./steps.mjs";

export const name = "ranks: who is slow, by rank or thread, and what it costs";

/* Rank 5 takes half as long again in every execution, rank 1 now and then ten times as long. */
async function make(snag) {
    const program =
        "synth:60*step(team@10us[work@300us] >1 <1);ranks=6;threads=3;jitter=0.02;" +
        "slow=work/1/1.5/5;slow=work/41/10/1";
    await snag("analyze", program, "--foi", "work", "-o", "run.snag");
    return ["run.snag"];
}

export const options = { serve: make };

const places = (page) => page.locator(".panel-ranks .places tbody tr");

async function open(page, server, hash) {
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
}

async function placesAreChosen(page, server) {
    await open(page, server, "views=ranks&places=rank");
    await places(page).filter({ hasText: "rank 5" }).first().waitFor();
    assert.match(await places(page).first().textContent(), /rank 5.*slow.*work itself \+\d+ %/);
    await page.getByRole("button", { name: "rank 5", exact: true }).click();
    await page.locator(".panel-ranks .below", { hasText: "thread 2" }).waitFor();
    const threads = await page.locator(".panel-ranks .below").allTextContents();
    assert.equal(threads.length, 3);
    assert.match(threads[0], /^rank 5 thread \dslow.*work itself \+(49|50|51) %/);
    await accessible(page, "ranks and their threads");
    await page.locator(".panel-ranks").getByLabel("by").selectOption("thread");
    await page.getByText(/^Of 18 threads: 3 slow/).waitFor();
    await page.waitForFunction(() => /places=thread/.test(location.hash));
    await open(page, server, "views=ranks&places=thread");
    await page.getByText(/^Of 18 threads: 3 slow/).waitFor();
    assert.equal(await page.locator(".panel-ranks").getByLabel("by").inputValue(), "thread");
}

/* No trace in one line says what follows from what on streams: the answer is that of another. */
async function operationsAreListed(page, server) {
    await page.route("**/ranks*", async (route) => {
        const answer = await (await route.fetch()).json();
        answer.slowdown = 1.973;
        answer.operations = [{ name: "backward-compute", slowdown: 1.58, time_ns: 9378e9 }];
        const thread = {
            place: "rank 0 thread 1",
            rank: 0,
            thread: 1,
            verdict: "slow",
            factor: 1.4,
        };
        Object.assign(thread, { excess_ns: 4e6, why: "loop > sweep +40 %", cost_ns: 3e6 });
        answer.teams = { compared: 240, threads: 4, slow: [thread] };
        await route.fulfill({ json: answer });
    });
    await open(page, server, "views=ranks");
    await page
        .getByText(/the replayed run would be 49\.3 % shorter \(actual \/ ideal = 1\.973\)/)
        .waitFor();
    assert.match(
        await page.locator(".panel-ranks .operations tbody tr").textContent(),
        /^backward-compute9378 s58\.0 %$/,
    );
    await page
        .getByText("Of up to 4 threads in 240 teams, one is slower again and again.")
        .waitFor();
    assert.equal(
        await page.locator(".panel-ranks .in-team").textContent(),
        "rank 0 thread 1, in teamsslow14.0 ms40.0 %loop > sweep +40 %; costs the run 3.00 ms",
    );
    await page.unroute("**/ranks*");
}

/* The picture is a way in: what is clicked gets a lane, at that time. */
async function aCellIsShown(page, server) {
    await open(page, server, "views=ranks,timeline&ranks=0");
    const lanes = page.locator(".rank-name");
    await lanes.first().waitFor();
    assert.equal(await lanes.count(), 1, "what a link says of lanes holds");
    const picture = page.locator(".panel-ranks .heat");
    const { width, height } = await picture.boundingBox();
    await picture.click({ position: { x: width / 2, y: (height * 5.5) / 6 } });
    await lanes.filter({ hasText: "rank 5" }).waitFor();
    await page.waitForFunction(() => /window=/.test(location.hash));
}

async function costsAreShown(page, server) {
    let isBound;
    await page.route(/\/(candidates|executions\/\d+)\b/, async (route) => {
        const answer = await (await route.fetch()).json();
        for (const x of answer.items ?? [answer])
            Object.assign(x, { cost_ns: 1.2e6, cost_is_bound: isBound, lost_ns: 2e6 });
        await route.fulfill({ json: answer });
    });
    for (isBound of [true, false]) {
        await open(page, server, "list=:::score");
        const words = isBound ? "costs the run at most 1.20 ms" : "costs the run 1.20 ms";
        await page.locator(".candidate .cost", { hasText: words }).first().waitFor();
        await detail(page).locator(".cost", { hasText: words }).waitFor();
    }
    await page.unrouteAll({ behavior: "wait" }); /* Why asks for more, beside */
}

export async function run({ page, server }) {
    await keepRouting(page);
    await placesAreChosen(page, server);
    const key = page.locator(".panel-ranks .legend");
    assert.match(
        await key.textContent(),
        /longer than is typical by\s*5 %\s*10 %\s*50 %\s*100 % or more/,
    );
    await operationsAreListed(page, server);
    await aCellIsShown(page, server);
    await costsAreShown(page, server);
}
