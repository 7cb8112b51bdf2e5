// What is said of a place and its peers.
import { PeerPath, Place, PlaceKind, Ranks, TeamThread } from "../api/types";
import { slowCost } from "./cost_words";
import { formatCount, formatTime, plural } from "./units";

/* "+5.1 %", "+5.1 % more to do" */
export function factorWords(factor: number, kind: PeerPath["kind"]): string {
    const percent = 100 * (factor - 1);
    return `+${percent.toFixed(percent < 10 ? 1 : 0)} %${kind === "more to do" ? " more to do" : ""}`;
}

/* "kernel +5.1 % (29.5 ms, 98 % of its calls since 1.2 s)" */
export function pathWords(x: PeerPath): string {
    const others = x.places > 1 ? ` and on ${plural(x.places - 1, "other")}` : "";
    const much = x.factor === null ? `only here${others}` : factorWords(x.factor, x.kind);
    const often =
        x.kind === "more to do"
            ? ""
            : `, ${Math.round(100 * x.share)} % of its ${x.share_of} ${x.is_from_start ? "from the start" : `since ${formatTime(x.since_ns)}`}`;
    const kernel =
        x.kernel_factor === null
            ? ""
            : `, on its ${x.kernel_on} ${x.kernel} +${Math.round(100 * (x.kernel_factor - 1))} %`;
    const stage = x.stage === null ? "" : ` of stage ${x.stage}`;
    return `${x.path}${stage} ${much}${kernel} (${formatTime(x.excess_ns)}${often})${x.is_sure ? "" : " perhaps"}`;
}

/* awaited: how many others wait for it. */
export function placeWords(p: Place, awaited = 0): string {
    const paths = p.paths.slice(0, 3).map(pathWords).join(", ");
    const whom = p.waits_for === p.place ? "its own threads" : p.waits_for;
    const waits = whom === null ? "" : `for ${whom}`;
    const cost = slowCost(p);
    const whose = awaited
        ? `${formatCount(awaited)} wait${awaited === 1 ? "s" : ""} for it`
        : "";
    return [paths, cost && `costs the run ${cost}`, waits, whose].filter(Boolean).join("; ");
}

/* What people read for a verdict: of ranks, of calls, of changes. */
export function verdictWord(verdict: string): string {
    return verdict === "usual" ? "typical" : verdict === "unsure" ? "inconclusive" : verdict;
}

const order = ["slow", "imbalanced", "unsure", "waits", "usual"];

/* How many places wait for each, by its name: whom others wait for is of interest though it is typical. */
export function waitedFor(places: readonly Place[]): Map<string, number> {
    const many = new Map<string, number>();
    for (const { place, waits_for: whom } of places)
        if (whom !== null && whom !== place) many.set(whom, (many.get(whom) ?? 0) + 1);
    return many;
}

/* Those to blame first, then those that wait, the longest first. */
export function byInterest(a: Place, b: Place): number {
    const blame = (p: Place) => p.paths.reduce((sum, x) => sum + x.excess_ns, 0);
    return (
        order.indexOf(a.verdict) - order.indexOf(b.verdict) ||
        (a.verdict === "waits" ? b.wait_ns - a.wait_ns : blame(b) - blame(a)) ||
        a.rank - b.rank
    );
}

/* What executions that pass a filter come to, on one place. */
export interface PlaceSums {
    executions: number;
    duration_ns: number;
    lost_ns: number;
}

/* By place, from sums by location. */
export function sumsOfPlaces(
    { places, of_location }: Pick<Ranks, "places" | "of_location">,
    by: Record<keyof PlaceSums, ArrayLike<number>>,
): Map<Place, PlaceSums> {
    const sums = new Map(
        places.map((place) => [place, { executions: 0, duration_ns: 0, lost_ns: 0 }]),
    );
    of_location.forEach((place, location) => {
        const of = place === null ? undefined : sums.get(places[place]);
        if (!of) return;
        for (const key of Object.keys(of) as (keyof PlaceSums)[])
            of[key] += by[key][location] ?? 0;
    });
    return sums;
}

/* What is said of threads in the teams of one process, as snag ranks says it. */
export function teamsWords(teams: Ranks["teams"]): string {
    if (!teams) return "";
    const { compared, threads, slow } = teams;
    const found =
        slow.length === 0
            ? "none is slower again and again"
            : slow.length === 1
              ? "one is slower again and again"
              : "some are slower again and again";
    return ` Of up to ${plural(threads, "thread")} in ${plural(compared, "team")}, ${found}.`;
}

/* Why a thread of a team is slow, and what that costs. */
export function threadWords(x: TeamThread): string {
    const cost = slowCost(x);
    return cost === null ? x.why : `${x.why}; costs the run ${cost}`;
}

/* Its own time in teams. */
export function ownOfThread(x: TeamThread): number {
    return x.excess_ns / (1 - 1 / x.factor);
}

export function headline(ranks: Pick<Ranks, "places" | "by" | "teams">): string {
    return placesWords(ranks) + teamsWords(ranks.teams);
}

const fewest = 5; /* places, below which executions that all have are compared one by one */

function placesWords({ places, by }: Pick<Ranks, "places" | "by">): string {
    if (places.length < 2) return `There is only one ${by}, which cannot be compared.`;
    if (places.length < fewest && places.every((p) => p.verdict === "unsure"))
        return `Too few executions that all ${plural(places.length, by)} have in common to compare them.`;
    const count = (verdict: string) => places.filter((p) => p.verdict === verdict).length;
    const said = ["slow", "imbalanced", "unsure"]
        .filter((verdict) => count(verdict) > 0)
        .map((verdict) => `${count(verdict)} ${verdictWord(verdict)}`);
    const waiting = count("waits");
    if (waiting) said.push(`${waiting} that ${waiting === 1 ? "waits" : "wait"}`);
    return said.length
        ? `Of ${plural(places.length, by)}: ${said.join(", ")}.`
        : `None of ${plural(places.length, by)} is slow again and again.`;
}

/* "If every operation took the typical time of its kind, ..." null: there are none. */
export function operationsWords({
    operations,
    slowdown,
    slowdown_is_bound,
}: Ranks): string | null {
    if (operations.length === 0 || slowdown === null) return null;
    const percent = (100 * (1 - 1 / slowdown)).toFixed(1);
    return (
        "If every operation took the typical time of its kind, the replayed run would be " +
        `${slowdown_is_bound ? "at most " : ""}${percent} % shorter (actual / ideal = ${slowdown.toFixed(3)}).`
    );
}

/* Kinds of places that have threads of their own to show below them. */
export function hasThreads(by: PlaceKind): boolean {
    return by === "rank";
}

/* The threads of a rank, those to blame first. */
export function threadsOf(rank: Place, threads: readonly Place[]): Place[] {
    return threads
        .filter((t) => t.rank === rank.rank && t.program === rank.program)
        .sort(byInterest);
}
