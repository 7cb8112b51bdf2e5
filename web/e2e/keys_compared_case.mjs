// The keys of the page of runs that are compared.
import { options as compared } from "./compared_case.mjs";
import { pressAll } from "./keys.mjs";

export const name = "keys: presses in a row on the page of a comparison";
export const options = { isOwnNetwork: true };

export function run({ browser, startOwn }) {
    return pressAll({
        browser,
        start: () => startOwn(compared.serve),
        ready: (page) =>
            page.getByRole("region", { name: "Difference" }).locator(".node").first().waitFor(),
        views: [
            "#view-paths",
            "#view-both",
            "#view-executions",
            "#view-timelines .timeline-scroll",
        ].map((focus) => ({ hash: "", focus })),
    });
}
