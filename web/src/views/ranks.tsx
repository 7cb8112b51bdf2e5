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
    placeWords,
    threadsOf,
    threadWords,
    verdictWord,
} from "../format/rank_words";
import { Table } from "../format/csv";
import { formatTime } from "../format/units";
import { Answer, useQuery } from "../state/query";
import { showLane } from "../state/reveal";
import { foi, placesBy, run, timeWindow } from "../state/store";
import { Await, Panel } from "./panel";
import { locationOf } from "../state/places";
import { useTable } from "./pictures";
import { RankPicture } from "./rank_picture";

const mostRows = 500;
const columns = 6;

function useRanks(by: PlaceKind | "", isAsked: boolean): Answer<Ranks> {
    const id = foi.value?.id;
    return useQuery(id === undefined || !isAsked ? null : `ranks ${id} ${by}`, (abort) =>
        getJson<Ranks>(`/fois/${id}/ranks${by && `?by=${by}`}`, abort),
    );
}

function Cells({ place }: { place: Place }) {
    const all = place.own_ns + place.wait_ns || 1;
    return (
        <>
            <td class="words">{verdictWord(place.verdict)}</td>
            <td>{formatTime(place.own_ns)}</td>
            <td>{(100 * Math.max(place.slowdown - 1, 0)).toFixed(1)} %</td>
            <td>{((100 * place.wait_ns) / all).toFixed(1)} %</td>
            <td class="words why">{placeWords(place)}</td>
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
    return (
        <>
            {threadsOf(of, value.places)
                .slice(0, mostRows)
                .map((thread) => (
                    <tr class="below" key={thread.place}>
                        <th scope="row">{thread.place}</th>
                        <Cells place={thread} />
                    </tr>
                ))}
        </>
    );
}

function Row(props: {
    place: Place;
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
                <Cells place={place} />
            </tr>
            {isOpen && <Threads of={place} threads={props.threads} />}
        </>
    );
}

function Places({ ranks }: { ranks: Ranks }) {
    const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
    const threads = useRanks("thread", open.size > 0);
    const isFoldable = hasThreads(ranks.by) && run.value!.locations.some((l) => l.thread > 0);
    const toggle = (place: string) => {
        const next = new Set(open);
        if (!next.delete(place)) next.add(place);
        setOpen(next);
    };
    return (
        <table class="places">
            <thead>
                <tr>
                    <th scope="col">Place</th>
                    <th scope="col" class="words">
                        Verdict
                    </th>
                    <th scope="col" title="time in its executions, but for waiting">
                        Own work
                    </th>
                    <th
                        scope="col"
                        title={
                            ranks.operations.length
                                ? "than the ideal run, were only this place as it is"
                                : "than its peers need for the same"
                        }
                    >
                        Slower
                    </th>
                    <th scope="col" title="share of its time">
                        Waiting
                    </th>
                    <th scope="col" class="words">
                        Why
                    </th>
                </tr>
            </thead>
            <tbody>
                {ranks.teams?.slow.slice(0, mostRows).map((x) => (
                    <tr key={`team ${x.place} ${x.why}`} class="in-team">
                        <th scope="row">{x.place}, in teams</th>
                        <td class="words">{verdictWord(x.verdict)}</td>
                        <td>{formatTime(ownOfThread(x))}</td>
                        <td>{(100 * (x.factor - 1)).toFixed(1)} %</td>
                        <td />
                        <td class="words why">{threadWords(x)}</td>
                    </tr>
                ))}
                {[...ranks.places]
                    .sort(byInterest)
                    .slice(0, mostRows)
                    .map((place) => (
                        <Row
                            key={place.place}
                            place={place}
                            isOpen={open.has(place.place)}
                            toggle={isFoldable ? () => toggle(place.place) : undefined}
                            threads={threads}
                        />
                    ))}
            </tbody>
        </table>
    );
}

function Operations({ ranks }: { ranks: Ranks }) {
    const words = operationsWords(ranks);
    if (words === null) return null;
    return (
        <>
            <p>{words}</p>
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

function rankTable({ places, teams }: Ranks): Table {
    const threads = (teams?.slow ?? []).map((x) => [
        ...[`${x.place}, in teams`, x.verdict, Math.round(ownOfThread(x)), x.factor, ""],
        threadWords(x),
    ]);
    const rows = [...places]
        .sort(byInterest)
        .map((p) => [p.place, p.verdict, p.own_ns, p.slowdown, p.wait_ns, placeWords(p)]);
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

function Found({ ranks }: { ranks: Ranks }) {
    useTable("ranks", () => rankTable(ranks));
    return (
        <div class="table" tabIndex={0} role="region" aria-label="Places and their peers">
            <p>{headline(ranks)}</p>
            <RankPicture ranks={ranks} begin_ns={run.value!.begin_ns} pick={showPlace} />
            <Places key={ranks.by} ranks={ranks} />
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
