// build.mjs -- the page as three files: index.html, page.js, page.css.
//
// They go to $SNAG_PAGE_OUT, or to dist/. --watch builds again after every change.
import { build, context } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";
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

await mkdir(out, { recursive: true });
await copyFile(path.join(here, "src/index.html"), path.join(out, "index.html"));
if (process.argv.includes("--watch")) await (await context(options)).watch();
else await build(options);
