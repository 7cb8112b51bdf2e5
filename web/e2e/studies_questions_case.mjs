// Ten questions that people come with, each answered by the page alone in three steps at most. How many steps each took, and
// the seconds from the first of them (or from opening the page, where it takes none) until the answer stood there, are printed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, detail, Hand, inSight, readQuestions } from "./tasks.mjs";
import { loaded, openAnew } from "./steps.mjs";

export const name = "questions: ten that people come with, in three steps at most";

/* Rank 2 computes for too long every 30 steps, and the others wait for it. */
const ring = (compute, seed) =>
    `synth:120*step(compute@${compute}(a 3*b) MPI_Waitall@50us >1 <1 |);ranks=4;jitter=0.05;` +
    `slow=compute/30/9/2;seed=${seed}`;

export const options = {
    serve: async (snag) => {
        await snag("analyze", ring("1ms", 1), "--foi", "step", "-o", "ring.snag", "--quiet");
        return ["ring.snag"];
    },
};

/* Today's steps take half as long again. */
async function makeTwoDays(snag) {
    for (const [day, compute, seed] of [
        ["yesterday", "1ms", 1],
        ["today", "1500us", 2],
    ])
        await snag(
            ...["analyze", ring(compute, seed), "--foi", "step"],
            ...["-o", `${day}.snag`, "--quiet"],
        );
    return ["yesterday.snag", "today.snag"];
}

/* A program in Python, whose functions say where they are: one call of compute is late. */
async function makePython(snag) {
    const traceEvents = [];
    const call = (of, ts, dur) =>
        traceEvents.push({ ph: "X", pid: 0, tid: 0, name: of, cat: "cpu_op", ts, dur });
    for (let step = 0, at = 0; step < 60; step++) {
        const took = 1500 + (step % 7) + (step === 40 ? 9000 : 0);
        call("train.py(7): step", at, took + 400);
        call("solver.py(12): compute", at + 10, took);
        at += took + 500;
    }
    const place = mkdtempSync(join(tmpdir(), "snag-python-"));
    const file = join(place, "python.json");
    writeFileSync(file, JSON.stringify({ traceEvents }));
    const foi = ["--foi", "train.py(7): step"];
    await snag("analyze", file, ...foi, "-o", "python.snag", "--quiet");
    rmSync(place, { recursive: true });
    return ["python.snag"];
}

const mostSteps = 3;
const summary = (page) => page.locator(".run-summary");
const region = (page, of) => page.getByRole("region", { name: of, exact: true });
const origin = (page) => detail(page).locator(".origin");

/* What is there to begin with is waited for before the first step: a person has read it. */
async function openRun(page, server, hash = "") {
    await openAnew(page, `${server.url}#${hash}`);
    await loaded(page);
    await page.locator(".timeline-canvas[aria-busy=false]").waitFor();
}

const questions = {
    1: {
        answer: async (page) => {
            assert.match(await inSight(origin(page)), /rank 2: compute/);
            assert.match(await inSight(summary(page)), /goes back to rank 2: step > compute/);
        },
    },
    2: {
        answer: async (page) => {
            const one = page.locator(".one-incident .duration").first();
            assert.match(await inSight(one), /^cost: [78]\.\d+ ms$/);
            assert.match(
                await inSight(summary(page)),
                /the replayed run is 3\d\.\d ms of 1\d\d ms shorter \(\d+(\.\d)? %\)/,
            );
        },
    },
    3: {
        answer: async (page) => {
            const entry = page.locator(".by-cause").first();
            assert.match(
                await inSight(entry),
                /4 incidents.*step > compute takes longer.*on rank 2/,
            );
            assert.equal(await entry.locator(".recurrence rect").count(), 4);
        },
    },
    4: {
        serve: makePython,
        answer: async (page) =>
            assert.match(
                await inSight(summary(page)),
                /solver\.py\(12\): compute takes longer/,
            ),
    },
    5: {
        answer: async (page) => {
            const beside = page.locator(".paths .beside", { hasText: /ranks: \d/ }).first();
            assert.match(
                await inSight(beside),
                /otherwise on rank 2: 1\.\d+ ms; execution \d+ on other ranks: 1\.\d+ ms/,
            );
        },
    },
    6: {
        serve: makeTwoDays,
        isComparison: true,
        answer: async (page) =>
            assert.match(
                await inSight(page.locator(".compared-headline p").first()),
                /slower.*step \+\d+(\.\d)? %.*compute/s,
            ),
    },
    7: {
        act: (hand) => hand.key("h"),
        answer: async (page) => {
            await page.locator(".notice", { hasText: "The link is copied." }).waitFor();
            const link = await page.evaluate(() => navigator.clipboard.readText());
            assert.equal(link, page.url());
        },
    },
    8: {
        act: async (hand, page) => {
            await hand.key("n");
            await page.locator(".next-step", { hasText: "1 new label" }).waitFor();
            await hand.key("r");
            await page.locator(".notice", { hasText: /Learnt from 1 label/ }).waitFor();
            await hand.key("c");
        },
        answer: async (page) => {
            await page
                .locator(".candidate", { hasText: /was an anomaly/ })
                .first()
                .waitFor();
            const said = { pressed: true, name: /^Normal #2-/ };
            await page.getByRole("button", said).first().waitFor();
            assert.match(
                await inSight(summary(page)),
                /is at most .* shorter \(.* %\): labels have changed since which executions are anomalies/,
            );
        },
    },
    9: {
        act: async (hand, page) => {
            await hand.click(page.getByRole("button", { name: /^Filter/ }));
            await hand.choose(page.getByRole("combobox", { name: "Rank", exact: true }), "1");
            await hand.key("o");
        },
        hash: "window=60000000,80000000&views=timeline,regions",
        answer: async (page) => {
            const table = region(page, "Table of functions");
            await table.getByText(/functions from 60\.0 ms to 80\.0 ms on 1 lane/).waitFor();
            await inSight(table.getByRole("button", { name: "compute" }));
        },
    },
    10: {
        act: async (hand, page) => {
            await page.keyboard.press(
                "/",
            ); /* with the text one step, as in the table of tasks */
            await hand.text("longest MPI_Waitall");
            await region(page, "Selected call")
                .filter({ hasText: /^MPI_Waitall on/ })
                .waitFor();
            await page.keyboard.press("Escape");
            await hand.key("x");
            await hand.key(".");
        },
        answer: async (page) => {
            const said = region(page, "Distance of two calls");
            await said
                .filter({ hasText: /(Gap|Both) [\d.]+ (n|u|m|)s.*begins.*ends/ })
                .waitFor();
            await inSight(said.locator("p"));
        },
    },
};

export async function run({ page, server, context, startOwn, isFar }) {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const table = await readQuestions();
    assert.deepEqual([...table.keys()], Object.keys(questions).map(Number));
    for (const [number, { serve, isComparison, hash, act, answer }] of Object.entries(
        questions,
    )) {
        const own = serve ? await startOwn(serve) : server;
        try {
            let began = Date.now();
            if (isComparison) await openAnew(page, own.url);
            else if (act) await openRun(page, own, hash);
            else {
                await openAnew(page, own.url);
                await loaded(page);
            }
            const hand = new Hand(page);
            if (act) {
                began = Date.now();
                await act(hand, page);
            }
            await answer(page).catch((error) => {
                throw new Error(`question ${number}: ${error.message}`);
            });
            const seconds = ((Date.now() - began) / 1000).toFixed(1);
            console.log(
                `        question ${number}: ${hand.steps} steps, ${seconds} s${isFar ? ", far away" : ""}`,
            );
            assert.equal(hand.steps, table.get(Number(number)), `steps of question ${number}`);
            assert.ok(hand.steps <= mostSteps);
        } finally {
            if (serve) await own.stop();
        }
    }
}
