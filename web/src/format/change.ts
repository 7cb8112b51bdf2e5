// What changed, in words and colours. The colours are ColorBrewer's PuOr: from purple (faster) through
// grey (the same) to orange (slower), told apart by people of all kinds of sight; verdicts have a sign
// beside them, so that nothing is said by colour alone.
import { PathVerdict } from "../api/compare_types";
import { changes, Rgb } from "./palette";

export const mostChange = 0.5; /* of what it was: from here on the colour stays */

/* Of a change as a fraction of what it was. Small ones are told apart better than large ones. */
export function changeColour(change: number): Rgb {
    const size = (Math.min(Math.abs(change), mostChange) / mostChange) ** 0.7;
    const at = ((change < 0 ? -size : size) * 0.5 + 0.5) * (changes.length - 1);
    const i = Math.min(Math.floor(at), changes.length - 2);
    return changes[i].map((c, k) => Math.round(c + (changes[i + 1][k] - c) * (at - i))) as Rgb;
}

/* Of what it was; where there was nothing, as much as there can be. */
export function changeOf(before: number, after: number): number {
    return before > 0 ? after / before - 1 : after > 0 ? Infinity : 0;
}

export function formatChange(change: number | null): string {
    if (change === null || !Number.isFinite(change)) return "new";
    const percent = Math.abs(change * 100).toFixed(1);
    return `${percent === "0.0" ? "±" : change < 0 ? "−" : "+"}${percent} %`;
}

export const signs: Record<PathVerdict, string> = {
    slower: "▲",
    faster: "▼",
    new: "+",
    gone: "−",
    moved: "↷",
    same: "=",
    unsure: "?",
};

export function isSure(verdict: PathVerdict): boolean {
    return verdict !== "same" && verdict !== "unsure";
}

/* Calls of an execution: a mean, so that 0.25 is no 0. */
export function formatCalls(n: number): string {
    return Number.isInteger(n) ? String(n) : n.toPrecision(3).replace(/\.?0+$/, "");
}

/* "with a > b" is long; what comes before the last two functions is known from the table. */
export function lastNames(path: string, n = 2): string {
    const names = path.split(" > ");
    return names.length > n ? `… > ${names.slice(-n).join(" > ")}` : path;
}
