// The provenance store: a form, and a page of records at a time.
import { getJson, orNull } from "../api/http";
import { RecordPage } from "../api/live_types";
import { liveCostHelp, shortCost } from "../format/cost_words";
import { formatScore, formatTime, plural } from "../format/units";
import {
    chooseSpan,
    isOver,
    looked,
    lookAtRecord,
    rankChosen,
    regionChosen,
    regionNames,
    shortName,
    shown,
    spanChosen,
    status,
    toggleRank,
    toggleRegion,
} from "../state/live";
import { listed, listedIn } from "../state/live_keys";
import {
    changeRecords,
    pageSize,
    recordsAsked,
    RecordsAsked,
    recordsPath,
} from "../state/live_records";
import { useQuery } from "../state/query";
import { Choice, LivePanel } from "./live_panel";
import { Await, Empty } from "./panel";

function numberOf(text: string): number | null {
    const x = Number(text);
    return text.trim() === "" || !(x >= 0) ? null : x;
}

function NumberField(props: {
    label: string;
    scale?: number;
    value: number | null;
    set: (value: number | null) => void;
}) {
    const { value, scale = 1 } = props;
    return (
        <label>
            {props.label}{" "}
            <input
                class="short"
                inputMode="decimal"
                value={value === null ? "" : Number((value / scale).toPrecision(7))}
                onChange={(event) => {
                    const x = numberOf(event.currentTarget.value);
                    props.set(x === null ? null : Math.round(x * scale));
                }}
            />
        </label>
    );
}

const latest = 9e18; /* ns: no time is later */

/* One end of the time that is chosen; the other stays. */
function setEnd(end: 0 | 1, ns: number | null): void {
    const [from, to] = spanChosen.value ?? [0, latest];
    const next: [number, number] = end ? [from, ns ?? latest] : [ns ?? 0, to];
    if (next[0] >= next[1]) return;
    chooseSpan(next[0] === 0 && next[1] === latest ? null : next);
}

function Form() {
    const asked = recordsAsked.value;
    const span = spanChosen.value;
    const names = [...regionNames.value.values()];
    return (
        <form class="live-form" onSubmit={(event) => event.preventDefault()}>
            <Choice
                label="Collection"
                value={asked.collection}
                options={[
                    ["anomalies", "anomalies"],
                    ["normalexecs", "normal calls"],
                ]}
                choose={(collection) => changeRecords({ collection })}
            />
            <Choice
                label="Order"
                value={asked.order}
                options={(
                    [
                        ["severity", "most time lost first"],
                        ["cost", "what cost the program most first"],
                        ["score", "strangest first"],
                        ["newest", "newest first"],
                        ["oldest", "oldest first"],
                        ["longest", "longest first"],
                    ] as [RecordsAsked["order"], string][]
                ).map((o) => o)}
                choose={(order) => changeRecords({ order })}
            />
            <Choice
                label="Region of the records"
                value={String(regionChosen.value ?? "")}
                options={[
                    ["", "all regions"],
                    ...names.map((r): [string, string] => [String(r.region), r.short_name]),
                ]}
                choose={(v) => toggleRegion(v === "" ? null : Number(v))}
            />
            <NumberField label="rank" value={rankChosen.value} set={toggleRank} />
            <NumberField
                label="from (s)"
                value={span && span[0] > 0 ? span[0] : null}
                scale={1e9}
                set={(ns) => setEnd(0, ns)}
            />
            <NumberField
                label="to (s)"
                value={span && span[1] < latest ? span[1] : null}
                scale={1e9}
                set={(ns) => setEnd(1, ns)}
            />
            <NumberField
                label="lost at least (ms)"
                value={asked.least_ns}
                scale={1e6}
                set={(ns) => changeRecords({ least_ns: ns })}
            />
        </form>
    );
}

function Rows({ page }: { page: RecordPage }) {
    const { offset, total, items } = page;
    if (!total) return <Empty>No records of what is chosen.</Empty>;
    const ofScore = `of-score${recordsAsked.value.order === "score" ? " is-chosen" : ""}`;
    return (
        <>
            <div
                class="live-rows"
                tabIndex={0}
                role="region"
                aria-label="Records that were found"
            >
                <table class="live-table">
                    <thead>
                        <tr>
                            {["Function", "Rank", "At", "Took", "Lost", "Cost"].map((title) => (
                                <th>{title}</th>
                            ))}
                            <th class={ofScore}>Score</th>
                        </tr>
                    </thead>
                    <tbody>
                        {items.map((item) => (
                            <tr class={looked.value?.record === item.id ? "chosen" : ""}>
                                <td>
                                    <button
                                        class="quiet"
                                        title={item.func}
                                        aria-pressed={looked.value?.record === item.id}
                                        onClick={() => lookAtRecord(item)}
                                    >
                                        {item.collection === "anomalies" && (
                                            <span class="strange-mark">▲</span>
                                        )}{" "}
                                        {shortName(item.func)}
                                        {item.execution && ` ${item.execution.id}`}
                                    </button>
                                </td>
                                <td class="number">{item.rank}</td>
                                <td class="number">{formatTime(item.enter_ns)}</td>
                                <td class="number">{formatTime(item.inclusive_ns)}</td>
                                <td class="number">{formatTime(item.severity_ns)}</td>
                                <td class="number" title={liveCostHelp}>
                                    {shortCost(item)}
                                </td>
                                <td class={`number ${ofScore}`}>
                                    {formatScore(item.score ?? NaN)}
                                </td>
                            </tr>
                        ))}
                    </tbody>
                </table>
            </div>
            <p class="buttons live-note">
                <span class="dim">
                    {total === 0
                        ? "none"
                        : `${offset + 1} to ${offset + items.length} of ${plural(total, "record")}`}
                </span>
                <button
                    disabled={offset === 0}
                    onClick={() => changeRecords({ offset: Math.max(0, offset - pageSize) })}
                >
                    Before
                </button>
                <button
                    disabled={offset + items.length >= total}
                    onClick={() => changeRecords({ offset: offset + pageSize })}
                >
                    After
                </button>
            </p>
        </>
    );
}

export function LiveQuery() {
    const path = recordsPath(recordsAsked.value, {
        rank: rankChosen.value,
        region: regionChosen.value,
        span: spanChosen.value,
    });
    const hasStore = status.value?.store !== null;
    /* The store lags behind a little: it is asked again once it is over. */
    const page = useQuery(
        hasStore ? path : null,
        (abort) => orNull(getJson<RecordPage>(path, abort)),
        `${shown.value} ${isOver.value}`,
        true,
    );
    listed.value = listedIn(page);
    return (
        <LivePanel name="query" title="Records">
            {hasStore && <Form />}
            {!hasStore ? (
                <Empty>No provenance is stored: there is no store.</Empty>
            ) : (
                <Await of={page} what="records" empty="There are none yet.">
                    {(value) =>
                        value ? <Rows page={value} /> : <Empty>There are none yet.</Empty>
                    }
                </Await>
            )}
        </LivePanel>
    );
}
