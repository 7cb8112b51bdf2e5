// run.mjs -- drives the page in the system's Chromium through the case studies of Xie, Xu and
// Mueller, against `snag serve`:
//
//   SNAG=build/release/snag SNAG_RUN=run.snag npm run e2e     the program, on a copy of that run
//
// With names behind `--` just these cases, `live` for live_case.mjs. With SNAG_SLOW=1 each case runs three times: as it
// is, with all answers 300 ms late, and with answers in random order (SNAG_SEED). CHROMIUM names the browser. Exits with
// 77 when there is none. Pictures of what failed: e2e/out/.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { launch } from "./launch.mjs";
import { holdBack, networks } from "./network.mjs";
import { launchBrowser, skipTour, viewport } from "./browser.mjs";
import { patienceMs } from "./steps.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2);
const seed = Number(process.env.SNAG_SEED ?? 1);
if (!process.env.SNAG) {
    console.error("SNAG must name the program, and SNAG_RUN a run without labels");
    process.exit(2);
}

/* Cases ask for more where they know the run: md_s1 is the one with MD_NEWTON. */
async function nameOfFoi(url) {
    const { fois } = await (await fetch(new URL("api/v1/run", url))).json();
    return fois[0].name;
}

/* A program that runs for some seconds, for cases that are about that: its source, or what makes it
   in a folder. What comes back in its place
   is what it stored. */
async function startLive({ program, args }) {
    const place = await mkdtemp(path.join(tmpdir(), "snag-e2e-"));
    const store = path.join(place, "store");
    const source = typeof program === "function" ? await program(place) : program;
    let served = await launch(process.env.SNAG, [
        ...["watch", source, "--port", "0", "--store", store],
        ...args,
    ]);
    const { url } = served;
    return {
        url,
        goAway: () => served.end(),
        comeBack: async () => {
            const { port } = new URL(url);
            served = await launch(process.env.SNAG, ["serve", store, "--port", port]);
        },
        stop: async () => {
            await served.end();
            await rm(place, { recursive: true });
        },
    };
}

/* The page of a job of which each rank had an instance of its own; all are over. */
async function startJob({ program, ranks }) {
    const place = await mkdtemp(path.join(tmpdir(), "snag-e2e-"));
    const server = await launch(process.env.SNAG, ["ps"], place);
    const ofJob = ["--ps", server.url, "--store", "store", "--run-id", "job", "--quiet"];
    await Promise.all(
        Array.from({ length: ranks }, (_, rank) =>
            promisify(execFile)(
                process.env.SNAG,
                ["ad", program, "--rank", String(rank), ...ofJob],
                { cwd: place },
            ),
        ),
    );
    const served = await launch(
        process.env.SNAG,
        ["watch", "store", "--server", server.url, "--port", "0"],
        place,
    );
    return {
        url: served.url,
        stop: async () => {
            await served.end();
            await server.end();
            await rm(place, { recursive: true });
        },
    };
}

/* What `snag serve` shows of runs that a case makes: their arguments come from it. */
async function startOwn(make) {
    const place = await mkdtemp(path.join(tmpdir(), "snag-e2e-"));
    const snag = (...args) => promisify(execFile)(process.env.SNAG, args, { cwd: place });
    const args = await make(snag, place);
    const served = await launch(process.env.SNAG, ["serve", ...args, "--port", "0"], place);
    return {
        url: served.url,
        snag,
        stop: async () => {
            await served.end();
            await rm(place, { recursive: true });
        },
    };
}

/* A file that the program writes into a folder: what makes it. */
async function makeFile(make) {
    const place = await mkdtemp(path.join(tmpdir(), "snag-e2e-"));
    const file = await make(place);
    return {
        url: String(pathToFileURL(file)),
        file,
        stop: () => rm(place, { recursive: true }),
    };
}

/* A server of its own for every case: cases label and retrain. */
async function startServer() {
    const copy = await mkdtemp(path.join(tmpdir(), "snag-e2e-"));
    const run = path.join(copy, "run.snag");
    await cp(process.env.SNAG_RUN, run, { recursive: true });
    const start = (port) => launch(process.env.SNAG, ["serve", run, "--port", port]);
    let served = await start("0");
    const { url } = served;
    return {
        url,
        foi: await nameOfFoi(url),
        goAway: () => served.end(),
        comeBack: async () => (served = await start(new URL(url).port)),
        stop: async () => {
            await served.end();
            await rm(copy, { recursive: true });
        },
    };
}

/* Traces that are not part of the repository: in $SNAG_DATA. */
function missing(needs = []) {
    const folder = process.env.SNAG_DATA ?? "";
    return needs.find((file) => !existsSync(path.join(folder, file)));
}

async function runCase(browser, file, network) {
    const { name, run, options = {} } = await import(pathToFileURL(path.join(here, file)));
    const without = missing(options.needs);
    if (without) {
        console.log(`skipped ${name}: ${without} is not here, SNAG_DATA may say where it is`);
        isSkipped = true;
        return true;
    }
    const far = networks[network];
    // A report asks nobody; a case about the network has its own.
    if (far && (options.file || options.isOwnNetwork)) return true;
    const server = options.live
        ? await startLive(options.live)
        : options.job
          ? await startJob(options.job)
          : options.serve
            ? await startOwn(options.serve)
            : options.file
              ? await makeFile(options.file)
              : await startServer();
    const context = await browser.newContext({
        viewport,
        acceptDownloads: true,
    });
    const page = await context.newPage();
    const complaints = [];
    const said = far ? `, ${far.says}` : "";
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on(
        "console",
        (message) =>
            /Content Security Policy/.test(message.text()) && complaints.push(message.text()),
    );
    if (!options.showsTour) await skipTour(page);
    context.setDefaultTimeout(patienceMs);
    if (far) await holdBack(context, far.delays(seed));
    try {
        await page.goto(server.url);
        await run({ page, server, context, browser, startServer, startOwn, isFar: !!far });
        if (complaints.length) throw new Error(complaints.join("\n"));
        console.log(`ok      ${name}${said}`);
        return true;
    } catch (error) {
        console.log(`FAILED  ${name}${said}\n${error.stack}`);
        await mkdir(path.join(here, "out"), { recursive: true });
        await page
            .screenshot({ path: path.join(here, "out", `${file}.png`) })
            .catch(() => undefined);
        return false;
    } finally {
        await context.close();
        await server.stop();
    }
}

const files = (await readdir(here)).filter(
    (f) =>
        f.endsWith("_case.mjs") &&
        (!wanted.length || wanted.includes(f.replace("_case.mjs", ""))),
);
if (files.length < wanted.length || !files.length) {
    console.log(`no such case among: ${wanted.join(" ")}`);
    process.exit(1);
}
const browser = await launchBrowser();
let failed = 0;
let isSkipped = false;
const asked = process.env.SNAG_SLOW ? Object.keys(networks) : ["near"];
for (const file of files.sort())
    for (const network of asked) if (!(await runCase(browser, file, network))) failed++;
await browser.close();
process.exit(failed ? 1 : isSkipped ? 77 : 0);
