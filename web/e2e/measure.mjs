// measure.mjs -- how long the page of a server that runs takes until its points are there, what the
// tab holds, and how fast overview and timeline pan. The server should be one of a large run: bench/row_page.sh
// makes one with a million executions.
//
//   node e2e/measure.mjs URL [--gpu]        one JSON object on standard output
//
// Without --gpu a library draws in place of a graphics unit (SwiftShader), on the same cores as all
// else. So what a frame costs is told apart: our JavaScript (script_ms), the whole main thread of
// the page (main_ms), and the process that draws (gpu_ms), all per frame while panning.
import { readFileSync } from "node:fs";
import { launchBrowser, skipTour } from "./browser.mjs";

const url = process.argv[2];
const hasGpu = process.argv.includes("--gpu");
const loads = 3;
const panSteps = 400;
const stepMs = 8;

if (!url) {
    console.error("usage: node e2e/measure.mjs URL [--gpu]");
    process.exit(2);
}

/* Milliseconds since the navigation began: text, candidates, the first points, all of them. */
async function timesOfLoad(page) {
    await page.goto("about:blank");
    await page.goto(url);
    return page.evaluate(async () => {
        const when = (test) =>
            new Promise((done) => {
                const look = () => {
                    const at = test();
                    if (at) done(at);
                    else requestAnimationFrame(look);
                };
                look();
            });
        const mark = (name) => performance.getEntriesByName(name)[0]?.startTime;
        const hasMap = () => document.querySelector(".panel-map") !== null;
        const [candidates, first, all, map] = await Promise.all([
            when(() => document.querySelector(".candidate") && performance.now()),
            when(() => mark("points-first")),
            when(() => mark("points-all")),
            when(() => mark("map-drawn") ?? (mark("points-all") && !hasMap() && "none")),
        ]);
        return { text: mark("first-contentful-paint") ?? 0, candidates, first, all, map };
    });
}

/* Bytes a process has for itself (proportional where shared). */
function bytesOf(pid) {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1");
    return Number(/^Pss:\s+(\d+)/m.exec(text)[1]) * 1024;
}

async function memory(browser, page) {
    const [session, of] = [
        await page.context().newCDPSession(page),
        await browser.newBrowserCDPSession(),
    ];
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session
        .send("Performance.getMetrics")
        .catch(() => ({ metrics: [] }));
    const { processInfo } = await of.send("SystemInfo.getProcessInfo");
    const sum = (type) =>
        processInfo.filter((p) => p.type === type).reduce((n, p) => n + bytesOf(p.id), 0);
    const mb = (bytes) => Math.round(bytes / 1e6);
    return {
        tab_mb: mb(sum("renderer")),
        gpu_process_mb: mb(sum("GPU")),
        heap_mb: mb(metrics.find((m) => m.name === "JSHeapUsedSize")?.value ?? 0),
    };
}

/* What the browser's own trace says that threads did, in milliseconds. */
function busy(events, names, isCounted) {
    const of = new Map(
        events
            .filter((e) => e.name === "thread_name")
            .map((e) => [`${e.pid}/${e.tid}`, e.args.name]),
    );
    return (
        events
            .filter(
                (e) =>
                    e.ph === "X" && names.includes(of.get(`${e.pid}/${e.tid}`)) && isCounted(e),
            )
            .reduce((sum, e) => sum + e.dur, 0) / 1000
    );
}

async function pan(browser, page) {
    const box = await page.locator(".scatter").boundingBox();
    const at = (i) => [
        box.x + box.width * (0.5 + 0.3 * Math.sin(i / 30)),
        box.y + box.height * (0.5 + 0.3 * Math.cos(i / 30)),
    ];
    await page.mouse.move(...at(0));
    await page.mouse.down();
    await page.mouse.move(...at(1));
    await browser.startTracing(page, { categories: ["devtools.timeline", "toplevel"] });
    await page.evaluate(() => {
        // A picture that moved begins with this call.
        const { prototype } = WebGL2RenderingContext;
        const clear = prototype.clear;
        window.drawnAt = [];
        prototype.clear = function (bits) {
            window.drawnAt.push(performance.now());
            clear.call(this, bits);
        };
    });
    // As a hand does: not waiting for what is drawn.
    const moves = [];
    for (let i = 2; i < panSteps; i++) {
        moves.push(page.mouse.move(...at(i)));
        await new Promise((done) => setTimeout(done, stepMs));
    }
    await Promise.all(moves);
    const drawnAt = await page.evaluate(() => window.drawnAt);
    await page.mouse.up();
    const { traceEvents: events } = JSON.parse((await browser.stopTracing()).toString());
    const n = drawnAt.length - 1;
    const per = (ms) => Number((ms / n).toFixed(2));
    const isTask = (e) => e.name === "ThreadControllerImpl::RunTask" || e.name === "RunTask";
    return {
        frames: n,
        frames_per_s: Number(((1000 * n) / (drawnAt[n] - drawnAt[0])).toFixed(1)),
        script_ms: per(busy(events, ["CrRendererMain"], (e) => e.name === "FunctionCall")),
        main_ms: per(busy(events, ["CrRendererMain"], isTask)),
        gpu_ms: per(busy(events, ["CrGpuMain", "VizCompositorThread"], isTask)),
    };
}

/* Frames while the window of the timeline is dragged along, and the slowest of them. */
async function panTimeline(page, what = "timeline") {
    const canvas = page.locator(".timeline-canvas");
    await canvas.waitFor();
    const box = await canvas.boundingBox();
    const at = (i) => [box.x + box.width * (0.6 + 0.3 * Math.sin(i / 30)), box.y + 40];
    await page.keyboard.down("Shift");
    await page.mouse.move(...at(0));
    await page.mouse.down();
    await page.evaluate(() => {
        const times = (window.framesAt = []);
        const note = (now) => {
            if (window.framesAt !== times) return; /* it is measured anew */
            times.push(now);
            requestAnimationFrame(note);
        };
        requestAnimationFrame(note);
    });
    const moves = [];
    for (let i = 1; i < panSteps; i++) {
        moves.push(page.mouse.move(...at(i)));
        await new Promise((done) => setTimeout(done, stepMs));
    }
    await Promise.all(moves);
    const gaps = await page.evaluate(() => {
        const times = window.framesAt;
        return times.slice(1).map((t, i) => t - times[i]);
    });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    gaps.sort((a, b) => a - b);
    const sum = gaps.reduce((all, gap) => all + gap, 0);
    return {
        [`${what}_frames_per_s`]: Number(((1000 * gaps.length) / sum).toFixed(1)),
        [`${what}_frame_p95_ms`]: Number(gaps[Math.floor(0.95 * gaps.length)].toFixed(1)),
    };
}

/* The same with calls coloured by excess: each window that comes is compared with what is usual. First, how long it
   takes until they are. */
async function panExcess(page) {
    const began = Date.now();
    await page.getByLabel("Colour calls by").selectOption("excess");
    await page.locator(".kinds-legend", { hasText: "or more" }).waitFor();
    const excess_ms = Date.now() - began;
    return { excess_ms, ...(await panTimeline(page, "excess")) };
}

const browser = await launchBrowser({ hasGpu });
try {
    const page = await (
        await browser.newContext({ viewport: { width: 1280, height: 720 } })
    ).newPage();
    await skipTour(page);
    const times = [];
    for (let i = 0; i < loads; i++) times.push(await timesOfLoad(page));
    const least = (key) => Math.round(Math.min(...times.map((t) => t[key])));
    console.log(
        JSON.stringify({
            text_ms: least("text"),
            candidates_ms: least("candidates"),
            first_points_ms: least("first"),
            all_points_ms: least("all"),
            map_ms: typeof times[0].map === "number" ? least("map") : null,
            first_points_of_first_load_ms: Math.round(times[0].first),
            ...(await memory(browser, page)),
            ...(await pan(browser, page)),
            ...(await panTimeline(page)),
            ...(await panExcess(page)),
        }),
    );
} finally {
    await browser.close();
}
