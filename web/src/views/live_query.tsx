// The provenance store: a form, and a page of records at a time.
import { getJson, orNull } from "../api/http";
import { RecordItem, RecordPage } from "../api/live_types";
import { formatScore, formatTime, plural } from "../format/units";
import { isOver, looked, regionNames, shortName, shown, status } from "../state/live";
import {
    changeRecords,
    pageSize,
    recordsAsked,
    RecordsAsked,
    recordsPath,
} from "../state/live_records";
import { useResource } from "../state/resource";
import { Choice, LivePanel } from "./live_panel";
import { Await, Empty } from "./panel";

function numberOf(text: string): number | null {
    const x = Number(text);
    return text.trim() === "" || !(x >= 0) ? null : x;
}

function NumberField(props: {
    label: string;
    scale?: number;
    field: "rank" | "from" | "to" | "least_ns";
}) {
    const scale = props.scale ?? 1;
    const value = recordsAsked.value[props.field];
    return (
        <label>
            {props.label}{" "}
            <input
                class="short"
                inputMode="decimal"
                value={value === null ? "" : value / scale}
                onChange={(event) => {
                    const x = numberOf(event.currentTarget.value);
                    changeRecords({ [props.field]: x === null ? null : Math.round(x * scale) });
                }}
            />
        </label>
    );
}

function Form() {
    const asked = recordsAsked.value;
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
                value={String(asked.region ?? "")}
                options={[
                    ["", "all regions"],
                    ...names.map((r): [string, string] => [String(r.region), r.short_name]),
                ]}
                choose={(v) => changeRecords({ region: v === "" ? null : Number(v) })}
            />
            <NumberField label="rank" field="rank" />
            <NumberField label="from (s)" field="from" scale={1e9} />
            <NumberField label="to (s)" field="to" scale={1e9} />
            <NumberField label="lost at least (ms)" field="least_ns" scale={1e6} />
        </form>
    );
}

function look(item: RecordItem): void {
    looked.value = {
        rank: item.rank,
        program: item.program,
        thread: item.thread,
        enter_ns: item.enter_ns,
        func: shortName(item.func),
        duration_ns: item.inclusive_ns,
        exclusive_ns: item.exclusive_ns,
        score: item.score ?? NaN,
        isAnomaly: item.collection === "anomalies",
        record: item.id,
    };
}

function Rows({ page }: { page: RecordPage }) {
    const { offset, total, items } = page;
    return (
        <>
            <table class="table live-table">
                <thead>
                    <tr>
                        {["Function", "Rank", "At", "Took", "Lost", "Score"].map((title) => (
                            <th>{title}</th>
                        ))}
                    </tr>
                </thead>
                <tbody>
                    {items.map((item) => (
                        <tr>
                            <td>
                                <button
                                    class="quiet"
                                    aria-pressed={looked.value?.record === item.id}
                                    onClick={() => look(item)}
                                >
                                    {shortName(item.func)}
                                </button>
                            </td>
                            <td class="number">{item.rank}</td>
                            <td class="number">{formatTime(item.enter_ns)}</td>
                            <td class="number">{formatTime(item.inclusive_ns)}</td>
                            <td class="number">{formatTime(item.severity_ns)}</td>
                            <td class="number">{formatScore(item.score ?? NaN)}</td>
                        </tr>
                    ))}
                </tbody>
            </table>
            <p class="buttons live-note">
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
                <span class="dim">
                    {total === 0
                        ? "none"
                        : `${offset + 1} to ${offset + items.length} of ${plural(total, "record")}`}
                </span>
            </p>
        </>
    );
}

export function LiveQuery() {
    const path = recordsPath(recordsAsked.value);
    const hasStore = status.value?.store !== null;
    /* The store lags behind a little: it is asked again once it is over. */
    const page = useResource(
        hasStore ? `${path} ${shown.value} ${isOver.value}` : null,
        (abort) => orNull(getJson<RecordPage>(path, abort)),
        true,
    );
    return (
        <LivePanel name="query" title="Records" tools={<Form />}>
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
