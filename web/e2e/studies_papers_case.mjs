// The three case studies of Xie, Xu and Mueller (IEEE TVCG 2019, section 6), from the trace to a saved model, with the
// features and the detector that they used: stack2vec and the one-class SVM. Cases 1 and 2 on the paper's own trace, of
// which two of 16 ranks are left; case 3 on a trace made after its description, MD_NEWTON on 5 ranks.
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { assert, loaded, selectedId, told, until } from "./steps.mjs";

export const name =
    "the papers' case studies: from the trace to a saved model, as they were done";

const execute = promisify(execFile);
const paper = "lammps-paper.tar.zst";
const made = "md_s1.tar.zst";
export const options = {
    needs: [paper, made],
    serve: (snag) => analysed(snag, paper, "PairEAM::compute"),
};

async function analysed(snag, archive, foi) {
    const place = await mkdtemp(path.join(tmpdir(), "snag-e2e-"));
    await execute("tar", [
        "-x",
        "--zstd",
        "-C",
        place,
        "-f",
        path.join(process.env.SNAG_DATA, archive),
    ]);
    const files = await readdir(place, { recursive: true });
    const trace = path.join(
        place,
        files.find((file) => file.endsWith(".otf2")),
    );
    await snag(
        "analyze",
        trace,
        "--foi",
        foi,
        "--features",
        "stack2vec",
        "--detector",
        "ocsvm",
        "-o",
        "run.snag",
        "--quiet",
    );
    await rm(place, { recursive: true });
    return ["run.snag"];
}

async function ask(server, what) {
    return (await fetch(new URL(`api/v1/${what}`, server.url))).json();
}

/* Verdicts by id, and how scores are learnt. */
async function anomalies(server) {
    const { items } = await ask(server, "fois/1/candidates?limit=1000&verdict=anomaly");
    return new Set(items.map(({ id }) => id));
}

async function choose(page, id) {
    await page.keyboard.press("/");
    await page.keyboard.type(id);
    await page.keyboard.press("Enter");
    await until(id, async () => (await selectedId(page)) === id);
    await page.keyboard.press("Escape");
}

async function label(page, id, key) {
    await choose(page, id);
    await told(page, /labelled/, () => page.keyboard.press(key));
}

async function learn(page, server) {
    await told(page, /^Learnt from .* by ocsvm on the features stack2vec/, () =>
        page.keyboard.press("r"),
    );
    const { learner, features } = await ask(server, "fois/1/learning");
    assert.deepEqual([learner, features], ["ocsvm", "stack2vec"]);
    return anomalies(server);
}

/* What the page saves is a model that judges. */
async function saveModel(page, server) {
    await page.locator(".actions .menu summary").click();
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("link", { name: /What was learnt/ }).click(),
    ]);
    const { stdout } = await server.snag("model", "info", await download.path(), "--json");
    const model = JSON.parse(stdout);
    assert.deepEqual([model.detector, model.features], ["ocsvm", "stack2vec"]);
    return model;
}

/* 6.1: delays of communication. #4-40 is on a rank that is not here; #0-40 and #1-40 are. */
async function delays(page, server) {
    const before = await anomalies(server);
    // The delay, and the cluster of 6.2, which nobody has labelled yet; #0-174 has no delay but comes with them.
    const candidates = ["#1-40", "#0-174", "#0-161", "#0-201", "#1-161", "#1-201"];
    for (const id of candidates) assert.ok(before.has(id), `${id} is a candidate`);
    await label(page, "#0-0", "n");
    await label(page, "#1-0", "n");
    const after = await learn(page, server);
    for (const id of candidates) assert.ok(after.has(id), `${id} is still an anomaly`);
    await label(page, "#0-40", "b");
    await label(page, "#1-40", "b");
    const learnt = await learn(page, server);
    for (const id of ["#0-40", "#1-40"]) assert.ok(learnt.has(id));
    assert.ok(!learnt.has("#0-264"), "what is as usual stays so");
    const model = await saveModel(page, server);
    assert.deepEqual([model.abnormal, model.normal], [2, 2]);
}

/* 6.2: a cluster, found by t-SNE of the same features, labelled as one. */
async function cluster(page, server) {
    await page.keyboard.press("l");
    const dialog = page.getByRole("dialog", { name: "Learning" });
    await dialog.getByLabel("method").selectOption("tsne");
    assert.equal(await dialog.getByLabel("features").last().inputValue(), "stack2vec");
    await dialog.getByRole("button", { name: "Compute" }).click();
    await until("placed", async () =>
        (await ask(server, "run")).fois[0].projections.some(
            ({ method, features }) => method === "tsne" && features === "stack2vec",
        ),
    );
    const { items } = await ask(server, "fois/1/candidates?limit=1000");
    const tally = items.filter(({ why }) => /ev_tally/.test(why));
    assert.ok(tally.length >= 4);
    for (const { id } of tally) await label(page, id, "b");
    const learnt = await learn(page, server);
    for (const { id } of tally) assert.ok(learnt.has(id), `${id} of the cluster`);
    // By which labels: in the dialogue, at once.
    await page.keyboard.press("l");
    await dialog.getByRole("heading", { name: "What the last retrain changed" }).waitFor();
    await page.keyboard.press("Escape");
}

/* 6.3: unusual but normal first executions; then what was late on one rank, with those that waited for it. */
async function firstExecutions(page, server) {
    const first = ["#0-0", "#1-0", "#2-0", "#3-0"];
    for (const id of first) await label(page, id, "n");
    const learnt = await learn(page, server);
    for (const id of first) assert.ok(!learnt.has(id), `${id} is normal now`);
    assert.ok(!learnt.has("#1-192"), "who waits is not found without labels");
    const late = ["#0-192", "#1-192", "#2-192", "#3-192"];
    for (const id of late) await label(page, id, "b");
    const taught = await learn(page, server);
    for (const id of late) assert.ok(taught.has(id), `${id} was labelled`);
    // Of the same kind, and not labelled: who waited as well, and what was disturbed likewise at step 48.
    for (const id of ["#4-192", "#1-48"]) assert.ok(taught.has(id), `${id} is like them`);
    assert.ok(!learnt.has("#1-48"), "which was normal before");
    for (const id of first) assert.ok(!taught.has(id), `${id} stays normal`);
    const model = await saveModel(page, server);
    assert.deepEqual([model.abnormal, model.normal], [4, 4]);
}

export async function run({ page, server, startOwn }) {
    await loaded(page);
    await delays(page, server);
    await cluster(page, server);
    const other = await startOwn((snag) => analysed(snag, made, "MD_NEWTON"));
    try {
        await page.goto(other.url);
        await loaded(page);
        await firstExecutions(page, other);
    } finally {
        await other.stop();
    }
}
