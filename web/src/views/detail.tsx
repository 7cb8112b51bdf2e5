// The selected execution in a line and a sentence, and the one thing to do next: say what it is.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Shown } from "../api/types";
import { costHelp, costWords, incidentCost } from "../format/cost_words";
import { shortId } from "../format/ids";
import { incidentName, incidentSentence, shortAmount } from "../format/incident_words";
import { againstTypical, formatCount, formatScore, formatTime, plural } from "../format/units";
import { runKeys } from "../state/keys";
import { retrain } from "../state/actions";
import { treeBeside } from "../state/entries";
import { entries, hasMore, listQuery, selectStep } from "../state/list";
import { blameNow, goToOrigin } from "../state/origin";
import { shownQuery } from "../state/selected";
import { busy, calm, executions, labelsToLearn, selected, typicalNow } from "../state/store";
import { originOf, upper } from "../format/origin";
import { shortName } from "../state/names";
import { FoldButton } from "./fold";
import { LabelButtons } from "./labels";
import { Sentence } from "./name";
import { Failed, Loading, NothingSelected } from "./panel";
import { useSize } from "./use_size";

function NextStep({ of }: { of: Shown }) {
    const label = executions.value?.label[of.tree] ?? 0;
    if (labelsToLearn.value > 0 && label !== 0)
        return (
            <div class="next-step">
                <span>{plural(labelsToLearn.value, "new label")}.</span>
                <button
                    class="primary"
                    disabled={busy.value !== null}
                    onClick={() => retrain()}
                >
                    {busy.value ?? "Retrain"} <kbd aria-hidden="true">R</kbd>
                </button>
                <LabelButtons tree={of.tree} id={shortId(of.id)} large />
            </div>
        );
    return (
        <div class="next-step">
            <span class="question">Should it be like this?</span>
            <LabelButtons tree={of.tree} id={shortId(of.id)} large />
        </div>
    );
}

function StepButtons() {
    // Of a list that is on its way it is not known yet.
    const hasBeside = (by: 1 | -1) =>
        listQuery.answer.value.isLoading ||
        (by > 0 && hasMore.value) ||
        treeBeside(entries.value, selected.value, by) !== null;
    return (
        <span class="steps">
            <button
                onClick={() => selectStep(-1)}
                disabled={!hasBeside(-1)}
                title={`Entry before (${runKeys.keyOf("before")})`}
                aria-label="Entry before"
            >
                <span aria-hidden="true">↑</span>
            </button>
            <button
                onClick={() => selectStep(1)}
                disabled={!hasBeside(1)}
                title={`Next entry (${runKeys.keyOf("next")})`}
            >
                <span aria-hidden="true">↓</span> Next
            </button>
        </span>
    );
}

/* Of which incident it is a part; Why says more. */
function PartOf({ of }: { of: Shown }) {
    const { incident } = of;
    if (!incident || incident.members.length < 2) return null;
    const isHead = incident.head_tree === of.tree;
    const known = incidentCost(incident);
    const isNumber = known && /\d/.test(known) && incident.lost_ns > 0;
    const cost = known && (isNumber ? `cost ${known}` : shortAmount(incident));
    return (
        <span title={incidentSentence(incident)}>
            {isHead ? "head" : "part"} of {incidentName(incident)}
            {cost && `, ${cost} in all`}
        </span>
    );
}

/* Whom it goes back to, before all else that is said of it; of what is blamed on nobody there is none. */
function OriginButton({ of }: { of: Shown }) {
    const blame = blameNow(of);
    const origin = originOf(of.cause, of.cause_end);
    const link = origin && (origin.link ?? of.cause![of.cause!.length - 1]);
    if (!origin || !link || !blame) return null;
    const words = origin.link
        ? `${origin.who}: ${shortName(link.function)}, ${formatTime(link.time_ns)} long`
        : origin.who;
    const isSlow = blame === "slow";
    return (
        <>
            <button
                class="origin"
                title={`${origin.says} Show it in the timeline (${runKeys.keyOf("origin")})`}
                onClick={goToOrigin}
            >
                <span class="dim">{isSlow ? "waits for" : "goes back to"}</span>{" "}
                <Sentence of={words} />
            </button>
            {isSlow && ` ${upper(origin.who)} is slow beside the others. This execution:`}
        </>
    );
}

/* Three lines of it, so that what is below it stays where it is; all of it when that is asked for. */
function Reason(props: { of: Shown; isWhole: boolean; toggle: () => void }) {
    const { of, isWhole, toggle } = props;
    const box = useRef<HTMLParagraphElement>(null);
    const [isCut, setIsCut] = useState(false);
    const { width } = useSize(box);
    useLayoutEffect(() => {
        const { scrollHeight, clientHeight } = box.current!;
        setIsCut(scrollHeight > clientHeight + 1);
    }, [of.why, width, isWhole]);
    return (
        <p class={isWhole ? "why" : "why cut"} ref={box}>
            <OriginButton of={of} /> <Sentence of={of.why} />
            {(isCut || isWhole) && (
                <button
                    class="more"
                    aria-expanded={isWhole}
                    aria-label={isWhole ? "less of the reason" : "more of the reason"}
                    onClick={toggle}
                >
                    {isWhole ? "less" : "more"}
                </button>
            )}
        </p>
    );
}

/* Of an incident of one execution it is that of the incident, as in the list. */
function ownCost(it: Shown): string | null {
    const isSame = it.cost_ns && !it.cost_is_bound && it.incident?.cost_ns === it.cost_ns;
    return isSame ? `costs the run ${incidentCost(it.incident!)}` : costWords(it);
}

export function Detail() {
    const of = shownQuery.answer.value;
    const [wholeOf, setWholeOf] = useState<string | null>(null);
    if (selected.value === null)
        return (
            <section class="detail empty" aria-label="Selected execution">
                <NothingSelected>
                    Choose an execution in the list or the overview.
                </NothingSelected>
            </section>
        );
    if (of.error && !of.value)
        return (
            <section class="detail" aria-label="Selected execution">
                <Failed text={of.error} retry={of.retry} />
            </section>
        );
    const it = of.value;
    if (!it)
        return (
            <section class="detail" aria-label="Selected execution">
                <Loading what="the execution" />
            </section>
        );
    const isWhole = wholeOf === it.id;
    const isOneOfSeveral = (it.incident?.members.length ?? 0) > 1;
    const cost = isOneOfSeveral ? costWords(it) : ownCost(it);
    return (
        <section
            class={`detail ${it.verdict}${isWhole ? " whole" : ""}`}
            aria-label="Selected execution"
            aria-busy={of.isLoading}
        >
            <header>
                <h1 title={it.id}>
                    {shortId(it.id)}{" "}
                    <span class="verdict">
                        {it.verdict === "anomaly" ? "▲ anomaly" : calm.value}
                    </span>
                </h1>
                <StepButtons />
                <FoldButton column="details" />
            </header>
            <p class="facts" key={it.id}>
                <span title={typicalNow.value.help}>
                    <b>{formatTime(it.duration_ns)}</b>
                    {it.off_ns > 0 && (
                        <span title="when it began or ended was only known between two events">
                            {" "}
                            ± {formatTime(it.off_ns)}
                        </span>
                    )}
                    {it.open_ns !== null && " so far"}; {typicalNow.value.ofAll}{" "}
                    {formatTime(it.usual_duration_ns)}
                    {it.open_ns === null &&
                        ` (${againstTypical(it.duration_ns, it.usual_duration_ns)})`}
                </span>
                {cost && (
                    <span class="cost" title={costHelp}>
                        {isOneOfSeveral ? `alone ${cost}` : cost}
                    </span>
                )}
                <span>at {formatTime(it.enter_ns)}</span>
                <span
                    title={`score: how strange it is; ${it.place > 1 ? `of ${plural(it.of, "execution")} ${formatCount(it.place - 1)} ${it.place > 2 ? "are" : "is"} stranger` : "none is stranger"}`}
                >
                    score {formatScore(it.score)}, place {formatCount(it.place)} of{" "}
                    {formatCount(it.of)}
                </span>
                <PartOf of={it} />
            </p>
            <Reason
                of={it}
                isWhole={isWhole}
                toggle={() => setWholeOf(isWhole ? null : it.id)}
            />
            <NextStep of={it} />
        </section>
    );
}
