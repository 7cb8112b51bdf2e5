// The line at the top: what run this is, how it stands, which views are shown, what can be saved.
import { useEffect } from "preact/hooks";
import { isOnline } from "../api/http";
import { foldMiddle } from "../format/name_text";
import { formatCount, plural } from "../format/units";
import { Act } from "../api/types";
import { runKeys } from "../state/keys";
import { redo, retrain, select, undo } from "../state/actions";
import { showView, toggleView } from "../state/shown_views";
import { underWay } from "../state/acts";
import { given } from "../state/given_labels";
import { isHelpOpen } from "../state/overlays";
import { busy, foi, foiId, labelsToLearn, notice, run, views } from "../state/store";
import { viewTable } from "../state/views";
import { ExportMenu } from "./export";
import { FindBar } from "./find_bar";
import { RunSummary } from "./run_summary";
import { useMedia } from "./use_media";
import { Name } from "./name";

const saidMs = 8000; /* then a message that asks for nothing goes away by itself */

function ViewToggles() {
    return (
        <div class="toggles" role="group" aria-label="Views">
            {viewTable.map(({ name, title, says }) => (
                <button
                    aria-pressed={views.value.includes(name)}
                    title={`${says} (${runKeys.keyOf(name)})`}
                    onClick={() => toggleView(name)}
                >
                    {title}
                </button>
            ))}
        </div>
    );
}

/* Where there is little room the toggles fold into a menu, which stays open: several may be wanted. */
function ViewChoice() {
    const isFolded =
        useMedia("(max-width: 56em)"); /* of 16 px: also where letters are larger */
    if (!isFolded) return <ViewToggles />;
    return (
        <details class="menu views-menu">
            <summary title="Which views are shown">
                Views{" "}
                <small>
                    {views.value.length} of {viewTable.length}
                </small>
            </summary>
            <div>
                <ViewToggles />
            </div>
        </details>
    );
}

function FoiChoice() {
    const fois = run.value?.fois ?? [];
    if (fois.length < 2)
        return (
            <code>
                <Name of={foi.value?.name ?? ""} />
            </code>
        );
    return (
        <select
            aria-label="Function of interest"
            value={foi.value?.id}
            onChange={(event) => {
                select(null);
                foiId.value = Number(event.currentTarget.value);
            }}
        >
            {fois.map((f) => (
                <option value={f.id}>{foldMiddle(f.name)}</option>
            ))}
        </select>
    );
}

/* What is said of a damaged trace may be wrong: it stands beside its name. */
function DamageBadge() {
    const damage = run.value?.quality.filter((q) => q.is_damage) ?? [];
    if (!damage.length) return null;
    return (
        <button
            class="damage"
            title={damage.map((q) => `${formatCount(q.count)} ${q.text}`).join("; ")}
            onClick={() => showView("quality")}
        >
            ▲ trace damaged
        </button>
    );
}

function actWords(act: Act): string {
    return act.kind === "retrain"
        ? "the last retrain"
        : `the label of ${plural(act.labels, "execution")}`;
}

/* What the server says is next, whoever did it. */
function TurnButton({ way, act }: { way: "undo" | "redo"; act: () => void }) {
    const shortcut = runKeys.keyOf(way);
    const next = foi.value?.[way];
    // Of a label that is on its way to the server there is something to undo, too.
    const isComing = way === "undo" && given.value.size > 0;
    const name = way === "undo" ? "Undo" : "Redo";
    return (
        <button
            aria-label={name}
            onClick={act}
            disabled={busy.value !== null || !(next || isComing)}
            title={
                isComing
                    ? `${name} the last label (${shortcut})`
                    : next
                      ? `${name} ${actWords(next)} (${shortcut})`
                      : `Nothing to ${way} (${shortcut})`
            }
        >
            {way === "undo" ? "↶" : "↷"}
        </button>
    );
}

export function Header() {
    return (
        <header class="top">
            <b class="brand">snag</b>
            <span class="run-name" title={run.value?.trace}>
                {run.value?.name}
            </span>
            <ViewChoice />
            <div class="top-tools">
                <FindBar />
                <span class="actions">
                    <TurnButton way="undo" act={undo} />
                    <TurnButton way="redo" act={redo} />
                    <button
                        class={labelsToLearn.value ? "primary" : ""}
                        onClick={() => retrain()}
                        disabled={busy.value !== null}
                        title={`Learn from the labels and rank again (${runKeys.keyOf("retrain")})`}
                    >
                        {busy.value ??
                            (given.value.size
                                ? "Retrain (...)"
                                : labelsToLearn.value
                                  ? `Retrain (${labelsToLearn.value})`
                                  : "Retrain")}
                    </button>
                    <ExportMenu />
                    <button
                        aria-label="Help"
                        title={`Help (${runKeys.keyOf("help")})`}
                        onClick={() => (isHelpOpen.value = true)}
                    >
                        ?
                    </button>
                </span>
            </div>
            <div class="top-line">
                <DamageBadge />
                <RunSummary>
                    <FoiChoice />
                </RunSummary>
            </div>
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
            {underWay.value > 0 && (
                <div class="under-way" role="progressbar" aria-label="under way" />
            )}
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
                {told?.act && (
                    <button
                        class="quiet"
                        onClick={() => {
                            told.act!.run();
                            notice.value = null;
                        }}
                    >
                        {told.act.name}
                    </button>
                )}
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
