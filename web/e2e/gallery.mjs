// gallery.mjs -- screenshots of every view of seven runs, in every size and both colour schemes. What lies over something
// else or is cut is said; the exit status is then 1.
//
//   SNAG=../build/release/snag node e2e/gallery.mjs DIR [WORD...]      ./setup.sh gallery
//
// A WORD is a run, a size, a colour scheme or a look: then just these. SNAG_DEMO is the run of the demo, SNAG_DATA has
// traces of BT-MZ and of a training job; runs whose traces are not there are left out, which is said.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { launch } from "./launch.mjs";
import { launchBrowser, skipTour } from "./browser.mjs";
import { defects, schemes, settled, sizes, viewNames } from "./looks.mjs";
import { loaded, patienceMs } from "./steps.mjs";

const [folder, ...words] = process.argv.slice(2);
if (!folder || !process.env.SNAG) {
    console.error("usage: SNAG=snag node e2e/gallery.mjs DIR [WORD...]");
    process.exit(2);
}
const snag = process.env.SNAG;
const execute = promisify(execFile);
const restMs = 150;

/* ---------------------------------------------------------------------------------- seven runs */

const damaged = 3; /* exit status: done, and the trace has faults, which the page says */

async function analyze(place, into, of, foi) {
    const args = ["analyze", of, ...(foi ? ["--foi", foi] : []), "-o", into, "--quiet"];
    await execute(snag, args, { cwd: place }).catch((error) => {
        if (error.code !== damaged) throw error;
    });
}

/* What an archive of SNAG_DATA has there. */
async function unpacked(place, name, file) {
    const archive = path.join(process.env.SNAG_DATA ?? "", `${name}.tar.zst`);
    if (!existsSync(archive)) throw new Error(`${archive} is not here`);
    await execute("tar", ["-x", "--zstd", "-C", place, "-f", archive]);
    return path.join(place, file);
}

const served = (trace, foi) => async (place) => {
    const of = typeof trace === "function" ? await trace(place) : trace;
    await analyze(place, "run.snag", of, foi);
    return ["serve", "run.snag"];
};

/* A kernel that is slower, and a check that is new. */
async function makeBoth(place) {
    const program = (seed, solve, more) =>
        `synth:60*round(step@20us(pack@100us solve@200us(kernel@${solve}${more}) build@80us) ` +
        `step@20us(pack@100us solve@200us(kernel@${solve}${more})));ranks=2;jitter=0.03;seed=${seed}`;
    const both = [program(1, "200us", ""), program(4, "300us", " check@60us")];
    for (const [i, of] of both.entries()) await analyze(place, `${i}.snag`, of, "step");
    return ["serve", "0.snag", "1.snag"];
}

/* It goes on for longer than its pictures take. */
const running =
    "synth:4000000*step(compute@1ms(a 3*b) exchange@50us(>1 <1) c@200us);ranks=6;jitter=0.1;" +
    "slow=compute/1700/12/2;slow=c/900/40/4";

const runs = {
    demo: async () => {
        if (!existsSync(process.env.SNAG_DEMO ?? "")) throw new Error("SNAG_DEMO is not here");
        return ["serve", path.resolve(process.env.SNAG_DEMO)];
    },
    "bt-mz": served(
        (place) => unpacked(place, "scorep-bt-mz", "scorep-bt-mz/traces.otf2"),
        "ITERATION",
    ),
    training: served(
        (place) => unpacked(place, "kineto-dlrm", "kineto-dlrm/dlrm_kineto"),
        null,
    ),
    "1000-ranks": served(
        "synth:20*step(compute@1ms(a 3*b) >1 <1);ranks=1000;jitter=0.05;slow=compute/7/9/612",
        "step",
    ),
    comparison: makeBoth,
    live: async () => ["watch", `replay:${running}`, "--speed", "1", "--store", "store"],
    quiet: served("synth:300*step(solve@1ms(a b) io@200us >1 <1);ranks=4;jitter=0.05", "step"),
};

/* ------------------------------------------------------------------------------------- pictures */

/* Each alone, then those that are shown at first, with what is chosen, and all. */
const looksOfRun = [
    ...viewNames.map((name) => [name, `views=${name}`]),
    ["first", ""],
    ["call", "", "g"],
    ["area", "", "m"],
    ["all", `views=${viewNames}`],
];
const looks = {
    comparison: [
        ["first", ""],
        ["path", "path=step%20%3E%20solve%20%3E%20kernel"],
    ],
    live: [["first", ""]],
};

const isReady = {
    comparison: (page) => page.locator(".scatter").waitFor(),
    live: (page) => page.locator(".live-query tbody tr").nth(3).waitFor(),
};

const isWanted = (among, name) =>
    !among.some((one) => words.includes(one)) || words.includes(name);

async function take(browser, url, run) {
    const wanted = looks[run] ?? looksOfRun;
    let [n, wrong] = [0, 0];
    for (const colorScheme of schemes.filter((name) => isWanted(schemes, name)))
        for (const { name: size, width, height, ratio: deviceScaleFactor = 1 } of sizes) {
            const names = sizes.map(({ name }) => name);
            if (!isWanted(names, size)) continue;
            const context = await browser.newContext({
                viewport: { width, height },
                colorScheme,
                deviceScaleFactor,
            });
            const page = await context.newPage();
            page.setDefaultTimeout(patienceMs);
            await skipTour(page);
            for (const [look, hash, key] of wanted) {
                if (
                    !isWanted(
                        looksOfRun.map(([name]) => name),
                        look,
                    )
                )
                    continue;
                await page.goto("about:blank");
                await page.goto(`${url}#${hash}`);
                await (isReady[run] ?? loaded)(page);
                await settled(page);
                if (key) await page.keyboard.press(key);
                // Where views are one below the other, to the one that it is about.
                await page.evaluate(
                    (of) => {
                        document
                            .querySelector(`.panel-${of}`)
                            ?.scrollIntoView({ block: "nearest" });
                    },
                    key ? "chosen" : look,
                );
                await page.waitForTimeout(
                    key ? 4 * restMs : restMs,
                ); /* for those who look: what fades has faded */
                const name = `${run}-${size.replace("%", "pc")}-${colorScheme}-${look}.png`;
                await page.screenshot({ path: path.join(folder, name) });
                const found = await page.evaluate(defects);
                for (const text of found) console.log(`${name}: ${text}`);
                wrong += found.length;
                n++;
            }
            await context.close();
        }
    console.log(`${run}: ${n} pictures in ${folder}`);
    return wrong;
}

await mkdir(folder, { recursive: true });
const browser = await launchBrowser();
let wrong = 0;
try {
    for (const [run, make] of Object.entries(runs)) {
        if (!isWanted(Object.keys(runs), run)) continue;
        const place = await mkdtemp(path.join(tmpdir(), "snag-gallery-"));
        try {
            const args = await make(place);
            const server = await launch(snag, [...args, "--port", "0"], place);
            wrong += await take(browser, server.url, run).finally(() => server.end());
        } catch (error) {
            console.log(`${run}: left out: ${error.message}`);
            wrong++;
        } finally {
            await rm(place, { recursive: true });
        }
    }
} finally {
    await browser.close();
}
process.exit(wrong ? 1 : 0);
