// keys.mjs -- presses the keys of a page's help some times in a row, quicker than answers come, and looks where that
// leads: to the same place as when each press waits until all that the one before asked for is there. Every second key,
// twice; with SNAG_LONG every key, with SNAG_SLOW ten times.
import { assert, openAnew, until } from "./steps.mjs";
import { holdBack, numbersOf } from "./network.mjs";

const addressMs = 200; /* it is written when it rests */
const isLong = Boolean(process.env.SNAG_SLOW);
const presses = isLong ? 10 : 2;
const isAll = isLong || Boolean(process.env.SNAG_LONG);

const named = {
    Arrows: ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"],
    "←": ["ArrowLeft"],
    "→": ["ArrowRight"],
    "↑": ["ArrowUp", "Shift+ArrowUp"],
    "↓": ["ArrowDown", "Shift+ArrowDown"],
    Space: [" "],
    Esc: ["Escape"],
    "Ctrl+F": ["Control+f"],
    "Ctrl+C": ["Control+c"],
    "Ctrl+Enter": ["Control+Enter"],
};

/* "1 to 9" */
function rangeOf(name) {
    const range = /^(\d) to (\d)$/.exec(name);
    if (!range) return null;
    const [first, last] = range.slice(1).map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => String(first + i));
}

/* "J / K", "1 to 9, 0", ", / .", "Enter, Space": what stands in the help as keys to press. */
export function keysOf(text) {
    const names = text === "/ or Ctrl+F" ? text.split(" or ") : text.split(/ \/ |, (?=\w)/);
    return names.flatMap(
        (name) =>
            rangeOf(name) ?? named[name] ?? [/^[A-Z]$/.test(name) ? name.toLowerCase() : name],
    );
}

async function helpKeys(page) {
    await page.keyboard.press("?");
    const texts = await page.locator("dialog.help dl:first-of-type kbd").allTextContents();
    await page.keyboard.press("Escape");
    assert.ok(texts.length > 5, "the help has keys");
    return [...new Set(texts.flatMap(keysOf))].filter((_, i) => isAll || i % 2 === 0);
}

/* Nothing that was asked for is still to come, and the address says where one is. */
async function rests(page, asked) {
    await until("it rests", async () => {
        if (asked.size) return false;
        const isBusy = await page.evaluate(
            () =>
                new Promise((done) =>
                    requestAnimationFrame(() =>
                        setTimeout(() =>
                            done(
                                document.querySelector(
                                    ".under-way, .loading, [aria-busy=true]",
                                ) !== null,
                            ),
                        ),
                    ),
                ),
        );
        return !isBusy && !asked.size;
    });
}

/* What a person sees of where they are. */
function stateOf(page) {
    return page.evaluate(() => {
        const text = (selector) =>
            [...document.querySelectorAll(selector)].map((e) => e.textContent.trim());
        return {
            hash: decodeURIComponent(location.hash),
            selected: text(".detail h1"),
            chosen: text("section.chosen"),
            call: text(".live-facts"),
            labels: text(".detail .labels [aria-pressed=true]"),
            listed: text(".candidate .pick b"),
            lanes: text(".rank-name"),
            headline: text(".headline"),
            field: document.querySelector("input[type=search]")?.value ?? "",
            focus: document.activeElement?.className ?? "",
            isHelpOpen: document.querySelector("dialog[open]") !== null,
        };
    });
}

/* Back to a link, without loading the page anew. */
function goBack(page, hash) {
    return page.evaluate((to) => {
        document.querySelector("dialog[open]")?.close();
        document.activeElement?.blur();
        const field = document.querySelector("input[type=search]");
        if (field?.value) {
            field.value = "";
            field.dispatchEvent(new Event("input", { bubbles: true }));
        }
        location.hash = to;
    }, hash);
}

/* Where each key leads, one after another, each from the same link. */
async function places(open, page, { hash, focus, keys, isPatient }, asked) {
    const found = {};
    await open(page, hash);
    await rests(page, asked);
    await page.waitForTimeout(addressMs);
    const first = await page.evaluate(() => location.hash);
    for (const key of keys) {
        await goBack(page, first);
        await rests(page, asked);
        // Back to where one was: steps that all of the runs of this have made alike.
        for (let i = 0; key === "Backspace" && i < presses + 2; i++) {
            await page.keyboard.press(i % 2 ? "k" : "j"); /* also where the list is short */
            await rests(page, asked);
        }
        if (focus) await page.locator(focus).first().focus();
        for (let i = 0; i < presses; i++) {
            await page.keyboard.press(key);
            if (isPatient) await rests(page, asked);
        }
        await rests(page, asked);
        await page.waitForTimeout(addressMs);
        await rests(page, asked);
        found[key] = await stateOf(page);
    }
    return found;
}

function watch(page) {
    const asked = new Set();
    const isOurs = (request) => /\/api\/v1\/(?!events)/.test(request.url());
    page.on("request", (request) => isOurs(request) && asked.add(request));
    for (const end of ["requestfinished", "requestfailed"])
        page.on(end, (request) => asked.delete(request));
    return asked;
}

/* views: what is opened, {hash, focus}; of these the first alone unless SNAG_SLOW asks for all. start(): a server
   of its own, as keys change what it has. */
export async function pressAll({ browser, start, views, ready }) {
    const of = isLong ? views : views.slice(0, 1);
    const run = async (isPatient) => {
        const server = await start();
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
        await context.addInitScript(
            () => location.protocol !== "about:" && localStorage.setItem("snag-tour-seen", "1"),
        );
        const page = await context.newPage();
        const asked = watch(page);
        const open = async (at, hash) => {
            asked.clear();
            await openAnew(at, `${server.url}#${hash}`);
            await ready(at);
        };
        const next = numbersOf(7);
        const most = isLong ? 300 : 40;
        if (!isPatient) await holdBack(context, () => (isLong ? most : 2 * most * next()));
        try {
            await open(page, of[0].hash);
            const keys = await helpKeys(page);
            const found = [];
            for (const view of of)
                found.push(await places(open, page, { ...view, keys, isPatient }, asked));
            return found;
        } finally {
            await context.close();
            await server.stop();
        }
    };
    const [patient, quick] = await Promise.all([run(true), run(false)]);
    of.forEach(({ hash }, i) => {
        for (const key of Object.keys(patient[i]))
            assert.deepEqual(
                quick[i][key],
                patient[i][key],
                `${presses} times ${key} at #${hash}, each press when the one before is done, or at once`,
            );
    });
}
