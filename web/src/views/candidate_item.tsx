// An execution in the list: its small drawing, the reason in a sentence, and the buttons to label it.
import { useEffect, useRef } from "preact/hooks";
import { Candidate } from "../api/types";
import { costHelp, costWords } from "../format/cost_words";
import { askedWords } from "../format/question_words";
import { shortId } from "../format/ids";
import { formatCount, formatScore, formatTime } from "../format/units";
import { select } from "../state/actions";
import { foi, regions, selected } from "../state/store";
import { LabelButtons } from "./labels";
import { Sentence } from "./name";
import { Sketch } from "./sketch";

function regionName(id: number): string {
    return regions.value.get(id)?.short_name ?? `region ${id}`;
}

/* How it moved in the ranking since the detector alone judged it. */
function Moved({ of }: { of: Candidate }) {
    const by = of.rank_before - of.rank_now;
    if (of.verdict !== of.verdict_before)
        return (
            <span class="moved" title="before the labels were learnt">
                was {of.verdict_before === "anomaly" ? "an anomaly" : "normal"}, place{" "}
                {formatCount(of.rank_before)}
            </span>
        );
    if (!by || !foi.value?.retrain) return null;
    return (
        <span
            class="moved"
            title={`place ${formatCount(of.rank_before)} before the labels were learnt`}
        >
            {by > 0 ? "↑" : "↓"} from {formatCount(of.rank_before)}
        </span>
    );
}

export function CandidateItem({ of }: { of: Candidate }) {
    const isSelected = selected.value === of.tree;
    const cost = costWords(of);
    const item = useRef<HTMLLIElement>(null);
    useEffect(() => {
        if (isSelected) item.current?.scrollIntoView({ block: "nearest" });
    }, [isSelected]);
    return (
        <li ref={item} class={`candidate ${of.verdict}${isSelected ? " selected" : ""}`}>
            <button class="pick" aria-pressed={isSelected} onClick={() => select(of.tree)}>
                <span class="line">
                    <span class="place">{formatCount(of.rank_now)}</span>
                    <b title={of.id}>{shortId(of.id)}</b>
                    <span>{formatTime(of.duration_ns)}</span>
                    <Moved of={of} />
                    <span class="score" title="score: how strange it is">
                        {formatScore(of.score)}
                    </span>
                </span>
                <Sketch bars={of.sketch} name={regionName} />
                {cost && (
                    <span class="cost dim" title={costHelp}>
                        {cost}
                    </span>
                )}
                <span class="why">
                    <Sentence of={of.why} />
                </span>
                {of.question && <span class="why">{askedWords(of.question)}</span>}
            </button>
            <LabelButtons tree={of.tree} id={shortId(of.id)} />
        </li>
    );
}
