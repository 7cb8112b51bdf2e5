// What counters say of a call, in words. Nothing is guessed: what was not read at its begin and at its end is said with
// when it was read.
import { CallCounter } from "../api/types";
import { formatTime, plural } from "./units";

/* All digits of a whole number; of others as many as tell it apart from its neighbours. */
export function formatNumber(x: number): string {
    const [whole, rest] = String(Math.abs(x)).split(".");
    if (String(x).includes("e")) return String(x);
    const digits = Number(whole).toLocaleString("en-US");
    return (x < 0 ? "-" : "") + (rest ? `${digits}.${rest}` : digits);
}

function shown(value: number | null): string {
    return value === null ? "no number" : formatNumber(value);
}

/* "40 at its begin; 60 at its end" */
export function readWords(
    of: CallCounter,
    call: { enter_ns: number; leave_ns: number },
): string {
    const words = [];
    if (of.begin !== null) words.push(`${shown(of.begin)} at its begin`);
    else if (of.before)
        words.push(
            `${shown(of.before.value)}, read ${formatTime(call.enter_ns - of.before.time_ns)} before it`,
        );
    if (of.end !== null) words.push(`${shown(of.end)} at its end`);
    else if (of.last)
        words.push(
            `${shown(of.last.value)}, read ${formatTime(call.leave_ns - of.last.time_ns)} before its end`,
        );
    else words.push("not read in it");
    return words.join("; ");
}

/* "2 to 9 in 12 readings", of what is neither added up nor the same all the time; "" where nothing is said by it. */
export function rangeWords(of: CallCounter): string {
    if (of.mode === "accumulated" || of.least === null || of.greatest === null) return "";
    if (of.n_readings === null || of.n_readings < 2) return "";
    return `${formatNumber(of.least)} to ${formatNumber(of.greatest)} in ${plural(of.n_readings, "reading")}`;
}

/* A unit that says something: Score-P writes "#" where there is none. */
export function unitOf(of: CallCounter): string {
    return of.unit === "#" ? "" : of.unit;
}
