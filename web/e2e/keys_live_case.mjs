// The keys of the live page, on what a program left that is over.
import { pressAll } from "./keys.mjs";

export const name = "keys: presses in a row on the live page";
export const options = { isOwnNetwork: true };

async function stored(snag) {
    const program =
        "synth:2000*step(compute@1ms(a 3*b) c@200us >1 <1);ranks=3;jitter=0.1;slow=c/90/40/1";
    await snag("ad", program, "--foi", "step", "--store", "store");
    return ["store"];
}

export function run({ browser, startOwn }) {
    return pressAll({
        browser,
        start: () => startOwn(stored),
        ready: async (page) => {
            await page.locator(".live-calls").waitFor();
            await page.locator(".live-query tbody tr").first().waitFor();
        },
        views: ["points", "query", "looked"].map((view) => ({
            hash: "",
            focus: `#view-${view}`,
        })),
    });
}
