// The help of the pages of comparisons and histories.
import { HelpDialog } from "./help";

const views = [
    [
        "Difference",
        "call paths as wide as their time in an execution, before above after; the colour says how that changed. Click: fill the picture with a path; its callers above it lead back",
    ],
    [
        "Both runs",
        "every execution of either side is a point; one that is selected leads to its run",
    ],
    [
        "Both timelines",
        "an execution of the run before above one of the run after, both from their start. The colour says how the time of a call path changed between these two. Click: choose the path of a call",
    ],
    [
        "Changed paths",
        "what each call path adds to the change: all of them add up to the whole",
    ],
    [
        "Kinds of execution",
        "those that have a call path and those that do not. One that is chosen is what the difference shows",
    ],
    ["Executions", "of each run those that were longest on the path that is chosen"],
    [
        "Trend",
        "of a history: time per execution from run to run, with the points where it changed",
    ],
    [
        "Runs",
        "of a history, with their tags. One that is chosen is compared with those before it",
    ],
] as const;

const words = [
    ["slower, faster", "the change is significant, and larger than what counts as one"],
    ["same", "significantly within that"],
    ["inconclusive", "runs, or this run, vary too much to tell; more runs are needed"],
    ["new, gone, moved", "only one side has it; moved: the same calls under another caller"],
    ["own time", "without what it called"],
    ["an execution", "times and calls are means over the executions of a side"],
] as const;

export function ComparedHelp({ keys }: { keys: { help: [string, string][] } }) {
    return <HelpDialog keys={keys.help} views={views} words={words} />;
}
