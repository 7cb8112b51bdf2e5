// Keys that are pressed quicker than answers come lead where they lead when each is waited for.
import { pressAll } from "./keys.mjs";
import { loaded } from "./steps.mjs";

export const name = "keys: presses in a row, quicker than answers come";
export const options = { isOwnNetwork: true };

const views = [
    "timeline",
    "overview",
    "why",
    "structure",
    "ranks",
    "regions",
    "quality",
    "messages",
    "query",
    "map",
];

export function run({ browser, startServer }) {
    return pressAll({
        browser,
        start: startServer,
        ready: loaded,
        views: views.map((view) => ({
            hash: `views=${view}`,
            focus: view === "timeline" ? ".timeline-scroll" : `#view-${view}`,
        })),
    });
}
