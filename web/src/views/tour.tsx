// Five steps for a person who sees the page for the first time. Skipped once, skipped for ever.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { endTour, tourStep } from "../state/overlays";
import { Kept, placeTour } from "./tour_place";

const steps: { at: string; title: string; text: string }[] = [
    {
        at: ".candidates",
        title: "Incidents",
        text: "The line above says what the run comes to. Every entry is an incident, which is executions of your function that were strange together, or all incidents with the same reason. What costs most is first. Choosing it opens it to its incidents, and these to their executions; the list can also show the executions one by one, the strangest first.",
    },
    {
        at: ".detail",
        title: "The selected one",
        text: "How long it took, how long is typical, and the one question: should it be like this? Answer with Abnormal (B) or Normal (N).",
    },
    {
        at: ".panel-overview",
        title: "Overview",
        text: "Every execution is a point; anomalies are larger, vermilion and have an outline. Draw around a cluster with the lasso to label all of it at once.",
    },
    {
        at: ".panel-structure, .panel-timeline",
        title: "What happened",
        text: "The structure shows what it called, against a typical one. The timeline shows it and the ranks it exchanged messages with; the cause is outlined and numbered.",
    },
    {
        at: ".actions",
        title: "Learning",
        text: "After a few labels press Retrain (R): all executions are ranked anew. Everything can be undone (U), and done again (Y), also on another day. The address of this page is a link to exactly what you see.",
    },
];

const margin = 19; /* pixels to the edges of the page */
const shownWeight = 10;

/* What is to be read, by how bad it is to cover it: the answer, the list, views. */
const keptWeights: [string, number][] = [
    [".details, .run-summary", 3],
    [".candidates", 2],
    [".panel", 1],
];

/* What it is about, above all; then what is to be read. */
function keptNow(at: string): Kept[] {
    return [[at, shownWeight] as [string, number], ...keptWeights].flatMap(
        ([selector, weight]) =>
            [...document.querySelectorAll(selector)].map((element) => ({
                rect: element.getBoundingClientRect(),
                weight,
            })),
    );
}

/* Acts now, and whenever what is to be read comes, goes or gets another size. Returns what ends that. */
function whenViewsChange(box: Element, act: () => void): () => void {
    const selector = keptWeights.map(([of]) => of).join(", ");
    const known = new WeakSet<Element>();
    const sizes = new ResizeObserver(act);
    const watch = () => {
        for (const element of document.querySelectorAll(selector)) {
            if (known.has(element)) continue;
            known.add(element);
            sizes.observe(element);
        }
    };
    const coming = new MutationObserver(watch);
    coming.observe(document.body, { childList: true, subtree: true });
    sizes.observe(document.documentElement);
    sizes.observe(box); /* a step with more to say is higher */
    watch();
    act();
    return () => {
        coming.disconnect();
        sizes.disconnect();
    };
}

export function Tour() {
    const step = tourStep.value;
    const next = useRef<HTMLButtonElement>(null);
    const box = useRef<HTMLDivElement>(null);
    const [place, setPlace] = useState<{ left: number; top: number } | null>(null);
    useLayoutEffect(() => {
        if (step === null) return;
        const { at } = steps[step];
        const put = () => {
            document.querySelector(at)?.classList.add("toured");
            const { width, height } = box.current!.getBoundingClientRect();
            const page = { width: innerWidth, height: innerHeight };
            const to = placeTour({ width, height }, page, margin, keptNow(at));
            setPlace((is) => (is?.left === to.left && is.top === to.top ? is : to));
        };
        const stop = whenViewsChange(box.current!, put);
        return () => {
            stop();
            document
                .querySelectorAll(".toured")
                .forEach((element) => element.classList.remove("toured"));
        };
    }, [step]);
    useEffect(() => {
        if (step !== null) next.current?.focus();
    }, [step]);
    if (step === null) return null;
    const { title, text } = steps[step];
    const isLast = step === steps.length - 1;
    return (
        <div
            ref={box}
            class="tour"
            role="dialog"
            aria-label={`Tour: ${title}`}
            style={place ?? undefined}
        >
            <h2>
                {title}{" "}
                <small>
                    {step + 1} of {steps.length}
                </small>
            </h2>
            <p>{text}</p>
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
