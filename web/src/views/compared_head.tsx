// What changed, in a sentence, and what is to be known before it is believed; which runs these are.
import { ComponentChildren } from "preact";
import { ComparedRun, Comparison } from "../api/compare_types";
import { signs } from "../format/change";
import { plural, sentence } from "../format/units";
import { comparedKeys } from "../state/compared_keys";
import { isHelpOpen } from "../state/overlays";
import { verdictWord } from "../format/rank_words";
import { Sentence } from "./name";

function RunNames({ runs, side }: { runs: ComparedRun[]; side: "before" | "after" }) {
    const of = runs.filter((run) => run.side === side);
    const paged = of.filter((run) => run.page !== null);
    const others = of.length - paged.length;
    return (
        <span class={`side-names side-${side}`}>
            <i class="dot" aria-hidden="true" />
            {plural(of.length, "run")} {side}:{" "}
            {paged.map((run, i) => (
                <>
                    {i > 0 && ", "}
                    <a href={run.page!} title="The page of this run">
                        {run.run}
                    </a>
                </>
            ))}
            {others > 0 && (
                <span class="dim">
                    {paged.length > 0 && " and "}
                    {paged.length === 0 && of[0].number !== null
                        ? `${of[0].run}, number ${of.map((run) => run.number).join(", ")}`
                        : `${others} without a page`}
                </span>
            )}
        </span>
    );
}

export function Headline({ of }: { of: Comparison }) {
    return (
        <section class="compared-headline" aria-label="What changed">
            <p>
                <b class={`verdict verdict-${of.verdict}`}>
                    <span aria-hidden="true">{signs[of.verdict]}</span>{" "}
                    {verdictWord(of.verdict)}
                </b>{" "}
                <code>{of.foi}</code> <Sentence of={of.headline} />
            </p>
            {of.notes.length > 0 && <p class="dim">{of.notes.map(sentence).join(" ")}</p>}
        </section>
    );
}

/* is: what the page is, for those who hear it; name: what is seen of that. */
export function TopLine(props: { is: string; name: string; children?: ComponentChildren }) {
    const { is, name, children } = props;
    return (
        <header class="top compared-top">
            <h1 class="visually-hidden">{is}</h1>
            <b class="brand">snag</b>
            <span class="run-name" title={name}>
                {name}
            </span>
            {children}
            <span class="actions">
                <button
                    aria-label="Help"
                    title={`Help (${comparedKeys.keyOf("help")})`}
                    onClick={() => (isHelpOpen.value = true)}
                >
                    ?
                </button>
            </span>
        </header>
    );
}

export function RunLines({ runs }: { runs: ComparedRun[] }) {
    return (
        <>
            <RunNames runs={runs} side="before" />
            <RunNames runs={runs} side="after" />
        </>
    );
}
