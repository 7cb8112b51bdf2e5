// build.mjs -- the page as three files: index.html, page.js, page.css; and report.html, the page of
// a report, as one, in which snag report puts a title, a text and data.
//
// They go to $SNAG_PAGE_OUT, or to dist/. --watch builds the page again after every change.
import { build, context } from "esbuild";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.env.SNAG_PAGE_OUT || path.join(here, "dist"));
const options = {
    absWorkingDir: here,
    entryPoints: { page: "src/main.tsx" },
    outdir: out,
    bundle: true,
    minify: true,
    target: ["chrome100", "firefox100", "safari15.4"],
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "inline",
    logLevel: "warning",
};

function hashOf(text) {
    return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/* Nothing but its own script and style, and no network. */
async function buildReport() {
    const { outputFiles } = await build({
        ...options,
        entryPoints: { report: "src/report/main.tsx" },
        format: "iife",
        charset: "utf8",
        write: false,
    });
    const textOf = (ending) => outputFiles.find((file) => file.path.endsWith(ending)).text;
    const [script, style] = [textOf(".js"), textOf(".css")];
    const parts = {
        policy: `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; base-uri 'none'; form-action 'none'`,
        script,
        style,
    };
    const page = await readFile(path.join(here, "src/report.html"), "utf8");
    // Without the space around it: the policy names the hash of all that is in an element.
    const whole = page.replace(/\s*<!--(policy|script|style)-->\s*/g, (_, name) => parts[name]);
    await writeFile(path.join(out, "report.html"), whole);
}

await mkdir(out, { recursive: true });
await copyFile(path.join(here, "src/index.html"), path.join(out, "index.html"));
await buildReport();
if (process.argv.includes("--watch")) await (await context(options)).watch();
else await build(options);
