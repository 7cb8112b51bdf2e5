// test.mjs -- runs src/**/*_test.ts with node:test, in one process, after bundling each of them.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = await mkdtemp(path.join(tmpdir(), "snag-page-"));
try {
    const files = (await readdir(path.join(here, "src"), { recursive: true }))
        .filter((name) => /_test\.tsx?$/.test(name))
        .map((name) => path.join("src", name));
    await build({
        absWorkingDir: here,
        entryPoints: files,
        outdir: out,
        outExtension: { ".js": ".mjs" },
        bundle: true,
        platform: "node",
        format: "esm",
        jsx: "automatic",
        jsxImportSource: "preact",
        logLevel: "warning",
    });
    const tests = (await readdir(out, { recursive: true }))
        .filter((name) => name.endsWith("_test.mjs"))
        .map((name) => `import ${JSON.stringify(`./${name}`)};\n`);
    const all = path.join(out, "all.mjs");
    await writeFile(all, tests.join(""));
    const run = spawnSync(process.execPath, ["--test-reporter=spec", all], {
        stdio: "inherit",
    });
    process.exitCode = run.status ?? 1;
} finally {
    await rm(out, { recursive: true });
}
