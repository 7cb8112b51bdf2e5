// Five steps for a person who sees the page for the first time, in a bar below it, which covers nothing. Skipped once,
// skipped for ever.
import { useEffect, useRef } from "preact/hooks";
import { endTour, tourStep } from "../state/overlays";

/* about: as style.css knows what is outlined. */
const steps: { about: string; at: string; title: string; text: string }[] = [
    {
        about: "list",
        at: ".candidates",
        title: "Incidents",
        text: "The line at the top says what the run comes to. An entry of the list is an incident, which is executions of your function that were strange together, or all incidents with the same reason; what costs most is first. Choosing it opens it.",
    },
    {
        about: "details",
        at: ".detail",
        title: "The selected one",
        text: "How long it took, how long is typical, and the one question: should it be like this? Answer with Abnormal (B) or Normal (N).",
    },
    {
        about: "overview",
        at: ".panel-overview",
        title: "Overview",
        text: "Every execution is a point; anomalies are larger, vermilion and have an outline. Draw around a cluster with the lasso to label all of it at once.",
    },
    {
        about: "execution",
        at: ".panel-structure, .panel-timeline",
        title: "What happened",
        text: "The structure shows what it called, against a typical one. The timeline shows it and the ranks it exchanged messages with; the cause is outlined and numbered.",
    },
    {
        about: "actions",
        at: ".actions",
        title: "Learning",
        text: "After a few labels press Retrain (R): all executions are ranked anew. Everything can be undone (U), also on another day. The address of this page is a link to exactly what you see.",
    },
];

export function Tour() {
    const step = tourStep.value;
    const next = useRef<HTMLButtonElement>(null);
    useEffect(() => {
        // By the page's root: what is outlined may come later, or be drawn anew.
        document.documentElement.dataset.tour = step === null ? "" : steps[step].about;
        if (step !== null)
            document.querySelector(steps[step].at)?.scrollIntoView({ block: "nearest" });
    }, [step]);
    useEffect(() => {
        if (step !== null) next.current?.focus();
    }, [step]);
    if (step === null) return null;
    const { title, text } = steps[step];
    const isLast = step === steps.length - 1;
    return (
        <div class="tour" role="dialog" aria-label={`Tour: ${title}`}>
            <p>
                <b>{title}</b>{" "}
                <small class="dim">
                    {step + 1} of {steps.length}
                </small>{" "}
                {text}
            </p>
            <p class="buttons">
                {!isLast && <button onClick={endTour}>Skip, never show again</button>}
                {step > 0 && <button onClick={() => (tourStep.value = step - 1)}>Back</button>}
                <button
                    ref={next}
                    class="primary"
                    onClick={() => (isLast ? endTour() : (tourStep.value = step + 1))}
                >
                    {isLast ? "Done" : "Next"}
                </button>
            </p>
        </div>
    );
}
