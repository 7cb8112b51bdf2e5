// A run without anomalies: nobody is blamed for what differs, and why it is no anomaly is read first.
import { accessible } from "./axe.mjs";
import { assert, candidates, detail, loaded, openAnew } from "./steps.mjs";

export const name = "a run without anomalies accuses nobody";

async function make(snag) {
    const program =
        "synth:200*step(advect@2ms(flux@1ms) exchange(>1 <1) solve@3ms(matvec 4*dot) |);ranks=4;jitter=0.1";
    await snag("analyze", program, "--foi", "step", "-o", "quiet.snag", "--quiet");
    return ["quiet.snag"];
}

export const options = { serve: make };

/* The server says that the executions are too few to say what is typical. */
async function ofFewNothingIsTypical(page, server) {
    await page.route(/\/api\/v1\/run$/, async (route) => {
        const answer = await (await route.fetch()).json();
        answer.fois[0].outcome.is_few = true;
        await route.fulfill({ json: answer });
    });
    await openAnew(page, server.url);
    await loaded(page);
    await page.getByText("Too few executions to say what is typical.").waitFor();
    await page.locator(".panel-why .paths button").first().waitFor();
    assert.match(await page.locator(".detail .facts").textContent(), /; median of all \d/);
    const said = [
        await page.locator(".candidates .note").textContent(),
        await page.locator(".detail .facts").textContent(),
        await page.locator(".panel-why").textContent(),
    ].join(" ");
    assert.doesNotMatch(said, /typical|nearest to being one/);
    await page.unroute(/\/api\/v1\/run$/);
}

export async function run({ page, server }) {
    await page.setViewportSize({ width: 1280, height: 720 });
    await openAnew(page, server.url);
    await loaded(page);
    assert.match(await page.locator(".run-summary").textContent(), /^0 anomalies in 800 /);
    await page.getByText("The list begins with what is nearest").waitFor();
    assert.match(await page.locator(".candidates h2").textContent(), /\d+ entr(y|ies)$/);
    await page.locator(".panel-why .paths button").first().waitFor();
    for (let i = 0; i < Math.min(5, await candidates(page).count()); i++) {
        await candidates(page).nth(i).locator(".pick").first().click();
        await page.locator(".candidate.selected").waitFor();
        await page
            .locator(".panel-why h3", { hasText: "Where it differs from what is typical" })
            .waitFor();
        const said = [
            await detail(page).textContent(),
            await page.locator(".panel-why").textContent(),
            await page.locator(".candidates").textContent(),
            await page.locator(".panel-timeline").textContent(),
        ].join(" ");
        assert.doesNotMatch(said, /goes back to|caused by|time was lost|lost the time/);
    }
    await candidates(page).nth(1).locator(".pick").first().click();
    await candidates(page).first().locator(".pick").first().click();
    const why = await page.locator(".detail p.why").textContent();
    assert.match(
        why.trim(),
        /^(no anomaly|rare, but no anomaly|\d.* longer .* as such executions vary)/,
    );
    await accessible(page, "a run without anomalies");
    await ofFewNothingIsTypical(page, server);
}
