// The line at the top: what run this is, how it stands, which views are shown, what can be saved.
import { useEffect } from "preact/hooks";
import { isOnline } from "../api/http";
import { formatCount, plural } from "../format/units";
import { retrain, undo } from "../state/actions";
import { isHelpOpen } from "../state/overlays";
import { busy, foi, foiId, labelsToLearn, notice, run, selected, views } from "../state/store";
import { ViewName, viewNames, viewTable } from "../state/views";
import { ExportMenu } from "./export";

const saidMs = 8000; /* then a message that asks for nothing goes away by itself */

function ViewToggles() {
    const toggle = (name: ViewName) => {
        const next = views.value.includes(name)
            ? views.value.filter((v) => v !== name)
            : viewNames.filter((v) => v === name || views.value.includes(v));
        if (next.length) views.value = next;
    };
    return (
        <div class="toggles" role="group" aria-label="Views">
            {viewTable.map(({ name, title, says }) => (
                <button
                    aria-pressed={views.value.includes(name)}
                    title={says}
                    onClick={() => toggle(name)}
                >
                    {title}
                </button>
            ))}
        </div>
    );
}

function FoiChoice() {
    const fois = run.value?.fois ?? [];
    if (fois.length < 2) return <code>{foi.value?.name}</code>;
    return (
        <select
            aria-label="Function of interest"
            value={foi.value?.id}
            onChange={(event) => {
                selected.value = null;
                foiId.value = Number(event.currentTarget.value);
            }}
        >
            {fois.map((f) => (
                <option value={f.id}>{f.name}</option>
            ))}
        </select>
    );
}

export function Header() {
    const of = foi.value;
    return (
        <header class="top">
            <b class="brand">snag</b>
            <span class="run-name" title={run.value?.trace}>
                {run.value?.name}
            </span>
            {of && (
                <span class="headline">
                    <b>{plural(of.anomalies, "anomaly", "anomalies")}</b> in{" "}
                    {formatCount(of.trees)} executions of <FoiChoice />
                </span>
            )}
            <ViewToggles />
            <span class="actions">
                <button onClick={() => undo()} title="Take the last label or retrain back (U)">
                    Undo
                </button>
                <button
                    class={labelsToLearn.value ? "primary" : ""}
                    onClick={() => retrain()}
                    disabled={busy.value !== null}
                    title="Learn from the labels and rank again (R)"
                >
                    {busy.value ??
                        (labelsToLearn.value ? `Retrain (${labelsToLearn.value})` : "Retrain")}
                </button>
                <ExportMenu />
                <button
                    aria-label="Help"
                    title="Help (?)"
                    onClick={() => (isHelpOpen.value = true)}
                >
                    ?
                </button>
            </span>
        </header>
    );
}

export function Messages() {
    const told = notice.value;
    useEffect(() => {
        if (!told || told.isError) return;
        const timer = setTimeout(() => notice.value === told && (notice.value = null), saidMs);
        return () => clearTimeout(timer);
    }, [told]);
    return (
        <>
            {!isOnline.value && (
                <div class="offline" role="alert">
                    The server does not answer. What is here can still be looked at; it goes on
                    when the server is back.
                </div>
            )}
            <div
                class={`notice${told?.isError ? " error" : ""}`}
                role="status"
                aria-live="polite"
                hidden={!told}
            >
                <span>{told?.text}</span>
                {told && (
                    <button
                        class="quiet"
                        aria-label="Close the message"
                        onClick={() => (notice.value = null)}
                    >
                        ✕
                    </button>
                )}
            </div>
        </>
    );
}
