// Who is slow in every execution, who has more to do, and who waits for them: a heat map of places by
// time, a table of them, ranks with their threads below, and what each kind of operation costs.
import { useState } from "preact/hooks";
import { getJson } from "../api/http";
import { Place, PlaceKind, placeKinds, Ranks } from "../api/types";
import {
    byInterest,
    hasThreads,
    headline,
    operationsWords,
    ownOfThread,
    PlaceSums,
    placeWords,
    sumsOfPlaces,
    threadsOf,
    threadWords,
    verdictWord,
    waitedFor,
} from "../format/rank_words";
import { Table } from "../format/csv";
import { formatCount, formatTime } from "../format/units";
import { isFiltered, passingQuery } from "../state/filtered";
import { Answer, useQuery } from "../state/query";
import { showLane } from "../state/reveal";
import { filter, foi, placesBy, run, timeWindow } from "../state/store";
import { NotFiltered } from "./filters";
import { Sentence } from "./name";
import { Await, Failed, Loading, Panel } from "./panel";
import { locationOf } from "../state/places";
import { useTable } from "./pictures";
import { RankPicture } from "./rank_picture";

const mostRows = 500;
const columns = 6;

/* What passes the filter, by place of these ranks; null: there is no filter. */
type Sums = ReadonlyMap<Place, PlaceSums> | null;

function sumsNow(ranks: Ranks): Sums {
    const passing = isFiltered.value ? passingQuery.answer.value.value : null;
    return passing && sumsOfPlaces(ranks, passing);
}

function useRanks(by: PlaceKind | "", isAsked: boolean): Answer<Ranks> {
    const id = foi.value?.id;
    return useQuery(id === undefined || !isAsked ? null : `ranks ${id} ${by}`, (abort) =>
        getJson<Ranks>(`/fois/${id}/ranks${by && `?by=${by}`}`, abort),
    );
}

function Cells(props: { place: Place; sums: PlaceSums | null; awaited?: number }) {
    const { place, sums, awaited } = props;
    const all = place.own_ns + place.wait_ns || 1;
    if (sums)
        return (
            <>
                <td class="words">{verdictWord(place.verdict)}</td>
                <td>{formatCount(sums.executions)}</td>
                <td>{formatTime(sums.duration_ns)}</td>
                <td>{formatTime(sums.lost_ns)}</td>
                <td class="words why">
                    <Sentence of={placeWords(place)} />
                </td>
            </>
        );
    return (
        <>
            <td class="words">{verdictWord(place.verdict)}</td>
            <td>{formatTime(place.own_ns)}</td>
            <td>{(100 * Math.max(place.slowdown - 1, 0)).toFixed(1)} %</td>
            <td>{((100 * place.wait_ns) / all).toFixed(1)} %</td>
            <td class="words why">
                <Sentence of={placeWords(place, awaited)} />
            </td>
        </>
    );
}

/* All threads are asked for at once, when the first rank is opened. */
function Threads({ of, threads }: { of: Place; threads: Answer<Ranks> }) {
    const { value, error } = threads;
    if (!value)
        return (
            <tr class="below">
                <td class="words dim" colSpan={columns}>
                    {error ?? "Loading the threads ..."}
                </td>
            </tr>
        );
    const sums = sumsNow(value);
    const sumsOf = (thread: Place) => sums?.get(thread) ?? null;
    return (
        <>
            {threadsOf(of, value.places)
                .filter((thread) => sumsOf(thread)?.executions !== 0)
                .slice(0, mostRows)
                .map((thread) => (
                    <tr class="below" key={thread.place}>
                        <th scope="row">{thread.place}</th>
                        <Cells place={thread} sums={sumsOf(thread)} />
                    </tr>
                ))}
        </>
    );
}

function Row(props: {
    place: Place;
    sums: PlaceSums | null;
    awaited?: number; /* by so many others */
    isOpen: boolean;
    toggle?: () => void;
    threads: Answer<Ranks>;
}) {
    const { place, isOpen, toggle } = props;
    return (
        <>
            <tr>
                <th scope="row">
                    {toggle ? (
                        <button
                            class="quiet"
                            aria-expanded={isOpen}
                            title="its threads"
                            onClick={toggle}
                        >
                            <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> {place.place}
                        </button>
                    ) : (
                        place.place
                    )}
                </th>
                <Cells place={place} sums={props.sums} awaited={props.awaited} />
            </tr>
            {isOpen && <Threads of={place} threads={props.threads} />}
        </>
    );
}

/* Those to blame first; of what passes a filter those that lost most. */
function placesInOrder(
    { places }: Ranks,
    sums: Sums,
    many = waitedFor(places),
): [Place, PlaceSums | null][] {
    const isCalm = (p: Place) => p.verdict === "usual";
    const awaited = (a: Place, b: Place) =>
        isCalm(a) && isCalm(b) ? (many.get(b.place) ?? 0) - (many.get(a.place) ?? 0) : 0;
    if (!sums)
        return [...places]
            .sort((a, b) => awaited(a, b) || byInterest(a, b))
            .map((place) => [place, null]);
    return places
        .map((place): [Place, PlaceSums] => [place, sums.get(place)!])
        .filter(([, { executions }]) => executions > 0)
        .sort(([a, x], [b, y]) => y.lost_ns - x.lost_ns || byInterest(a, b));
}

/* Of own work, or of what passes a filter. */
function Head({ ranks, isPart }: { ranks: Ranks; isPart: boolean }) {
    const isWhyKnown = ranks.teams?.slow.length || ranks.places.some((p) => placeWords(p));
    const than = ranks.operations.length
        ? "than the ideal run, were only this place as it is"
        : "than its peers need for the same";
    const whole = isPart ? " (whole run)" : "";
    const numbers = isPart
        ? [
              ["Executions", "that pass the filter"],
              ["Their time", "with waiting"],
              ["Lost", "beyond what is typical, in these"],
          ]
        : [
              ["Own work", "time in its executions, but for waiting"],
              ["Slower", than],
              ["Waiting", "share of its time"],
          ];
    return (
        <thead>
            <tr>
                <th scope="col">Place</th>
                <th scope="col" class="words">
                    Verdict{whole}
                </th>
                {numbers.map(([name, title]) => (
                    <th key={name} scope="col" title={title}>
                        {name}
                    </th>
                ))}
                <th scope="col" class="words">
                    {isWhyKnown ? `Why${whole}` : ""}
                </th>
            </tr>
        </thead>
    );
}

function Places({ ranks, sums }: { ranks: Ranks; sums: Sums }) {
    const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
    const threads = useRanks("thread", open.size > 0);
    const isFoldable = hasThreads(ranks.by) && run.value!.locations.some((l) => l.thread > 0);
    const toggle = (place: string) => {
        const next = new Set(open);
        if (!next.delete(place)) next.add(place);
        setOpen(next);
    };
    const awaited = waitedFor(ranks.places);
    const inOrder = placesInOrder(ranks, sums, awaited);
    return (
        <table class="places words-last">
            <Head ranks={ranks} isPart={sums !== null} />
            <tbody>
                {(sums ? [] : (ranks.teams?.slow ?? [])).slice(0, mostRows).map((x) => (
                    <tr key={`team ${x.place} ${x.why}`} class="in-team">
                        <th scope="row">{x.place}, in teams</th>
                        <td class="words">{verdictWord(x.verdict)}</td>
                        <td>{formatTime(ownOfThread(x))}</td>
                        <td>{(100 * (x.factor - 1)).toFixed(1)} %</td>
                        <td />
                        <td class="words why">{threadWords(x)}</td>
                    </tr>
                ))}
                {inOrder.slice(0, mostRows).map(([place, of]) => (
                    <Row
                        key={place.place}
                        place={place}
                        sums={of}
                        awaited={awaited.get(place.place)}
                        isOpen={open.has(place.place)}
                        toggle={isFoldable ? () => toggle(place.place) : undefined}
                        threads={threads}
                    />
                ))}
                {inOrder.length > mostRows && (
                    <tr>
                        <td class="words dim" colSpan={columns}>
                            {formatCount(inOrder.length - mostRows)} more are not listed: none
                            of them stands out.
                        </td>
                    </tr>
                )}
            </tbody>
        </table>
    );
}

/* Said where it stands, as other numbers there are of what passes the filter. */
function ofWholeRun(sentence: string): string {
    return isFiltered.value ? `Whole run: ${sentence}` : sentence;
}

function Operations({ ranks }: { ranks: Ranks }) {
    const words = operationsWords(ranks);
    if (words === null) return null;
    return (
        <>
            <p>{ofWholeRun(words)}</p>
            <table class="operations">
                <thead>
                    <tr>
                        <th scope="col">Operation</th>
                        <th scope="col">Time</th>
                        <th scope="col" title="than the ideal run, were only these as they are">
                            Makes the run longer by
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {ranks.operations.slice(0, mostRows).map((x) => (
                        <tr key={x.name}>
                            <th scope="row">{x.name}</th>
                            <td>{formatTime(x.time_ns)}</td>
                            <td>{(100 * (x.slowdown - 1)).toFixed(1)} %</td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </>
    );
}

function rankTable(ranks: Ranks, sums: Sums): Table {
    if (sums)
        return {
            head: ["place", "verdict", "executions", "duration_ns", "lost_ns", "why"],
            rows: placesInOrder(ranks, sums).map(([p, x]) => [
                ...[p.place, p.verdict, x!.executions, x!.duration_ns, x!.lost_ns],
                placeWords(p),
            ]),
        };
    const threads = (ranks.teams?.slow ?? []).map((x) => [
        ...[`${x.place}, in teams`, x.verdict, Math.round(ownOfThread(x)), x.factor, ""],
        threadWords(x),
    ]);
    const rows = placesInOrder(ranks, null).map(([p]) => [
        ...[p.place, p.verdict, p.own_ns, p.slowdown, p.wait_ns],
        placeWords(p),
    ]);
    return {
        head: ["place", "verdict", "own_ns", "slowdown", "wait_ns", "why"],
        rows: [...threads, ...rows],
    };
}

const around = 1; /* cells on both sides of the one that was clicked */

/* The lane of a place, at a time; of a place that has none of its own, the first on its rank. */
function showPlace(place: Place, begin_ns: number, end_ns: number): void {
    const lane = locationOf(place.rank, place.thread) ?? locationOf(place.rank, 0);
    if (!lane) return;
    const margin = (end_ns - begin_ns) * around;
    showLane(lane.id);
    timeWindow.value = [begin_ns - margin, end_ns + margin];
}

/* What a filter cannot narrow: verdicts need all executions, and say so. */
function OfWholeRun() {
    return (
        <NotFiltered>
            Executions, their time and what they lost are of what passes the filter
            {filter.value.time && ", whole where they reach beyond its time"}. The rest is of
            the whole run: who is slow is found by comparing all executions.
        </NotFiltered>
    );
}

function Found({ ranks }: { ranks: Ranks }) {
    const { error, retry } = passingQuery.answer.value;
    const sums = sumsNow(ranks);
    useTable("ranks", () => rankTable(ranks, sums));
    return (
        <div class="table" tabIndex={0} role="region" aria-label="Places and their peers">
            <p>{ofWholeRun(headline(ranks))}</p>
            <OfWholeRun />
            <RankPicture ranks={ranks} begin_ns={run.value!.begin_ns} pick={showPlace} />
            {isFiltered.value && error ? (
                <Failed text={error} retry={retry} />
            ) : isFiltered.value && !sums ? (
                <Loading what="what passes the filter" />
            ) : (
                <Places key={ranks.by} ranks={ranks} sums={sums} />
            )}
            <Operations ranks={ranks} />
        </div>
    );
}

/* It stands where an answer is missing, too: a trace may not tell its nodes. */
function Choice({ by }: { by: PlaceKind | "" }) {
    return (
        <label>
            by{" "}
            <select
                value={by}
                onChange={(event) => (placesBy.value = event.currentTarget.value as PlaceKind)}
            >
                {!by && <option value="">...</option>}
                {placeKinds.map((kind) => (
                    <option value={kind}>{kind}</option>
                ))}
            </select>
        </label>
    );
}

export function RanksView() {
    const ranks = useRanks(placesBy.value, true);
    return (
        <Panel name="ranks" tools={<Choice by={placesBy.value || ranks.value?.by || ""} />}>
            <Await of={ranks} what="the ranks" empty="There are no executions to compare.">
                {(found) => <Found ranks={found} />}
            </Await>
        </Panel>
    );
}
