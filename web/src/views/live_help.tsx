// The help of the live page.
import { liveKeys } from "../state/live_keys";
import { HelpDialog } from "./help";

const views = [
    ["Points", "calls, or executions of the functions of interest, as they come"],
    ["History", "all there was, rank by time. Drag: choose a time; click: choose a rank"],
    ["Records", "what is stored of strange calls, and of some normal ones, a page at a time"],
    ["Call", "one of them: why it is strange, what it called, what happened around it"],
    ["Ranks and regions", "by a statistic of your choice, each with its history"],
    ["Model", "what judges a function: how often which duration, and what is typical"],
    ["Counters", "what hardware and program counted so far"],
] as const;

const words = [
    ["anomaly", "a call that took far longer, or shorter, than is typical of such calls"],
    ["lost", "the time beyond what is typical of such calls"],
    [
        "own time",
        "without what it called: a function is not blamed for what others did in its name",
    ],
    ["score", "how strange it is, in the measure of the detector; more is stranger"],
    ["behind", "how much later than the program the search is"],
    [
        "chosen",
        "a function, a rank, a time: points and records are those of them. The line below the top says what is chosen, and so does the address of the page",
    ],
] as const;

export function LiveHelp() {
    return <HelpDialog keys={liveKeys.help} views={views} words={words} />;
}
