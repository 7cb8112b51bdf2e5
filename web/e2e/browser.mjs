// browser.mjs -- the system's Chromium, as the cases and the pictures use it: the one that has no windows, if it
// is here, as that takes a third less time.
import { chromium } from "playwright-core";
import { existsSync } from "node:fs";

const browserPath =
    process.env.CHROMIUM ||
    ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find(existsSync);

const flags = [
    "--headless",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--no-maglev --single-threaded-gc", // no page lives long enough to make up for more
];
const withoutGpu = ["--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

export const viewport = { width: 1280, height: 720 };

/* A page that was seen before: no tour. about:blank, where pages come from, keeps nothing. */
export function skipTour(page) {
    return page.addInitScript(
        () => location.protocol !== "about:" && localStorage.setItem("snag-tour-seen", "1"),
    );
}

/* Ends the program with 77, which tests take for skipped, when there is no browser. */
export function launchBrowser({ hasGpu = false } = {}) {
    if (!existsSync(browserPath ?? "")) {
        console.log(`no browser at ${browserPath ?? "/usr/bin/chromium"}: skipped`);
        process.exit(77);
    }
    return chromium.launch({
        executablePath: browserPath,
        args: hasGpu ? flags : [...flags, ...withoutGpu],
    });
}
