// What is said of a place and its peers.
import { PeerPath, Place } from "../api/types";
import { formatTime } from "./units";

/* "kernel +5.1 % (29.5 ms, 98 % of its calls since 1.2 s)" */
export function pathWords(x: PeerPath): string {
    const percent = x.factor === null ? 0 : 100 * (x.factor - 1);
    const more = x.kind === "more to do" ? " more to do" : "";
    const much =
        x.factor === null ? "only here" : `+${percent.toFixed(percent < 10 ? 1 : 0)} %${more}`;
    const often = more
        ? ""
        : `, ${Math.round(100 * x.share)} % of its calls since ${formatTime(x.since_ns)}`;
    return `${x.path} ${much} (${formatTime(x.excess_ns)}${often})${x.is_sure ? "" : " perhaps"}`;
}

export function placeWords(p: Place): string {
    const paths = p.paths.slice(0, 3).map(pathWords).join(", ");
    const waits = p.waits_for === null ? "" : `for ${p.waits_for}`;
    const cost = p.cost_ns === null ? "" : `costs the run ${formatTime(p.cost_ns)}`;
    return [paths, cost, waits].filter(Boolean).join("; ");
}

const order = ["slow", "imbalanced", "unsure", "waits", "usual"];

/* Those to blame first, then those that wait, the longest first. */
export function byInterest(a: Place, b: Place): number {
    const blame = (p: Place) => p.paths.reduce((sum, x) => sum + x.excess_ns, 0);
    return (
        order.indexOf(a.verdict) - order.indexOf(b.verdict) ||
        (a.verdict === "waits" ? b.wait_ns - a.wait_ns : blame(b) - blame(a)) ||
        a.rank - b.rank
    );
}

export function headline(places: Place[]): string {
    if (places.length < 5) return "Too few ranks to compare them: it takes five.";
    const count = (verdict: string) => places.filter((p) => p.verdict === verdict).length;
    const said = ["slow", "imbalanced", "unsure"]
        .filter((verdict) => count(verdict) > 0)
        .map((verdict) => `${count(verdict)} ${verdict}`);
    const waiting = count("waits");
    if (waiting) said.push(`${waiting} that wait`);
    return said.length
        ? `Of ${places.length} ranks: ${said.join(", ")}.`
        : `None of ${places.length} ranks is slow.`;
}
