// tasks.mjs -- does what tasks.md lists: each task with the mouse and with the keyboard alone (SNAG_LONG; else by the one
// and the other in turns), from a page opened anew, and compares the steps with those of the table.
import { readFile } from "node:fs/promises";
import { assert, detail, loaded, openAnew } from "./steps.mjs";

const mostSteps = 5;

/* One way to do things; each call is a step. */
export class Hand {
    constructor(page) {
        this.page = page;
        this.steps = 0;
    }

    async key(key) {
        this.steps++;
        await this.page.keyboard.press(key);
    }

    /* With the Enter behind it. */
    async text(text) {
        this.steps++;
        await this.page.keyboard.type(text);
        await this.page.keyboard.press("Enter");
    }

    async click(locator) {
        this.steps++;
        await locator.click();
    }

    /* In a list of the page. */
    async choose(locator, value) {
        this.steps++;
        await locator.selectOption(value);
    }

    /* At a place of the canvas of the timeline, in pixels. */
    async clickAt(x, y) {
        this.steps++;
        await this.page.mouse.click(x, y);
    }

    async shiftClickAt(x, y) {
        this.steps++;
        await this.page.keyboard.down("Shift");
        await this.page.mouse.click(x, y);
        await this.page.keyboard.up("Shift");
    }

    async drag([x0, y0], [x1, y1]) {
        this.steps++;
        await this.page.mouse.move(x0, y0);
        await this.page.mouse.down();
        await this.page.mouse.move(x1, y1, { steps: 5 });
        await this.page.mouse.up();
    }

    async back() {
        this.steps++;
        await this.page.goBack();
    }
}

/* Rows of the table: what it says of a task's steps. */
async function readTable() {
    const rows = (await readRows()).filter((cells) => cells.length > questionCells);
    return new Map(
        rows.map((cells) => [
            Number(cells[0]),
            { run: cells[1], mouse: cells[5], keyboard: cells[6] },
        ]),
    );
}

const questionCells = 4; /* of a row of the table of questions */

/* The cells of all rows that begin with a number. */
async function readRows() {
    const text = await readFile(new URL("tasks.md", import.meta.url), "utf8");
    return text
        .split("\n")
        .filter((line) => /^\|\s*\d+\s*\|/.test(line))
        .map((row) =>
            row
                .split("|")
                .slice(1, -1)
                .map((cell) => cell.trim()),
        );
}

/* How many steps each of the questions takes. */
export async function readQuestions() {
    const rows = (await readRows()).filter((cells) => cells.length === questionCells);
    return new Map(rows.map((cells) => [Number(cells[0]), Number(cells[3])]));
}

async function open(page, server, hash) {
    await openAnew(page, `${server.url}#${hash ?? ""}`);
    await loaded(page);
    await page.locator(".timeline-canvas[aria-busy=false]").waitFor();
}

/* Each of `tasks`: {number, hash, mouse(hand), keyboard(hand), answer(page), hasBoth}; a way that is missing needs no
   step: the answer is there, and where that is so by both, both are the same. hasBoth: the one leaves something for the
   other. */
export async function doTasks(page, server, run, tasks) {
    const table = await readTable();
    for (const task of tasks) {
        const said = table.get(task.number);
        assert.equal(said.run, run, `task ${task.number}`);
        const ways = task.mouse || task.keyboard ? ["mouse", "keyboard"] : ["mouse"];
        assert.ok(ways.length > 1 || said.mouse === said.keyboard, `task ${task.number}`);
        const isTurn = (_, i) =>
            process.env.SNAG_LONG || task.hasBoth || (task.number + i) % ways.length === 0;
        for (const way of ways.filter(isTurn)) {
            await open(page, server, task.hash);
            const hand = new Hand(page);
            const began = Date.now();
            await task[way]?.(hand, page);
            await task.answer(page, way).catch((error) => {
                throw new Error(`task ${task.number}, ${way}: ${error.message}`);
            });
            console.log(
                `        task ${task.number}, ${way}: ${hand.steps} steps, ${((Date.now() - began) / 1000).toFixed(1)} s`,
            );
            assert.equal(String(hand.steps), said[way], `steps of task ${task.number}, ${way}`);
            assert.ok(hand.steps <= mostSteps);
        }
    }
    const left = [...table].filter(
        ([number, { run: of, mouse }]) =>
            of === run && mouse !== "-" && !tasks.some((task) => task.number === number),
    );
    assert.deepEqual(left, [], "the table says that these can be done");
}

/* Whether it can be read without scrolling. */
export async function inSight(locator) {
    await locator.waitFor();
    const isSeen = await locator.evaluate((element) => {
        const box = element.getBoundingClientRect();
        const y = box.top + Math.min(box.height, 20) / 2;
        const top = document.elementFromPoint(box.left + Math.min(box.width / 2, 40), y);
        return element === top || element.contains(top) || Boolean(top?.contains(element));
    });
    assert.ok(isSeen, `in sight: ${await locator.textContent()}`);
    return locator.textContent();
}

/* To a link that skips, and on: each Tab is a step. */
export async function skipTo(hand, name) {
    const link = hand.page.getByRole("link", { name, exact: true });
    const isThere = () => link.evaluate((e) => e === document.activeElement);
    do await hand.key("Tab");
    while (!(await isThere()) && hand.steps <= mostSteps);
    await hand.key("Enter");
}

export async function findText(hand, way, text) {
    const { page } = hand;
    if (way === "keyboard") await hand.key("/");
    else await hand.click(page.getByRole("combobox", { name: /^Find/ }));
    await hand.text(text);
}

/* What the timeline says of the call that is chosen. */
export async function chosen(page, pattern) {
    const said = page.getByRole("region", { name: "Selected call" });
    await said.filter({ hasText: pattern }).waitFor();
    return inSight(said);
}

export { assert, detail };
