// site.mjs -- the documentation as a site, in the browser: nothing that axe calls serious, in light and dark; nothing is
// asked of a network; the search finds what stands in a page.
//
//   node e2e/site.mjs SITE
import assert from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { accessible } from "./axe.mjs";
import { launchBrowser, viewport } from "./browser.mjs";

// A page of each kind: text, tables, code, a command, functions of C and of Python.
const pages = [
    "index.html",
    "python.html",
    "start/score.html",
    "algorithms.html",
    "commands/analyze.html",
    "reference/python.html",
    "search.html?q=score",
];
const site = pathToFileURL(path.resolve(process.argv[2]) + path.sep);
const browser = await launchBrowser();
for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({ viewport, colorScheme, bypassCSP: true });
    const page = await context.newPage();
    const wrong = [];
    page.on("request", (request) => {
        if (!/^(file|data|blob):/.test(request.url())) wrong.push(`asks for ${request.url()}`);
    });
    page.on("requestfailed", (request) => {
        if (request.resourceType() === "xhr") return; // axe asks for styles once more, which files are not given for
        wrong.push(`${request.url()} is not there`);
    });
    page.on("pageerror", (error) => wrong.push(String(error)));
    // What is right in light is so in dark, but for colours: those of text, code and a command.
    const isLooked = (_, i) => colorScheme === "light" || process.env.SNAG_LONG || i % 3 === 1;
    for (const name of pages.filter(isLooked)) {
        await page.goto(new URL(name, site).href);
        if (name.startsWith("search"))
            await page.locator("#search-results li a", { hasText: /score/i }).first().waitFor();
        await accessible(page, `${name}, ${colorScheme}`);
    }
    await page.locator(".theme-toggle").locator("visible=true").first().click();
    assert.notEqual(await page.locator("body").getAttribute("data-theme"), "auto");
    assert.deepEqual(wrong, []);
    await context.close();
}
await browser.close();
console.log(`${pages.length} pages`);
