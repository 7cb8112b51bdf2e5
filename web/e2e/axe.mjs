// axe.mjs -- nothing that axe calls serious.
import axe from "axe-core";
import assert from "node:assert/strict";

export async function accessible(page, what) {
    // The policy of the page forbids scripts in the page: axe comes by the debugger.
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run(document));
    const bad = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
    assert.deepEqual(
        bad.map(
            (v) =>
                `${what}: ${v.id}: ${v.nodes
                    .map((n) => n.target + " " + n.failureSummary)
                    .slice(0, 3)
                    .join("; ")}`,
        ),
        [],
    );
}
