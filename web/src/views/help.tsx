// The help: keys, and what the words mean.
import { ComponentChildren } from "preact";
import { viewTable } from "../state/views";
import { isHelpOpen, tourStep } from "../state/overlays";
import { Dialog } from "./dialog";

const keys: [string, string][] = [
    ["J / K", "next / previous entry of the list"],
    ["Arrows", "in the list: along its lines, and to the buttons of one; Tab leaves it"],
    ["B / N", "label it abnormal / normal (all that is chosen, after a lasso)"],
    ["R", "retrain: learn from the labels"],
    [
        "L",
        "how is learnt, and points are placed; what the last retrain changed, by which labels",
    ],
    ["C", "list what labels changed since the detector alone judged"],
    ["U, Y", "undo the last labels or retrain, and do them again"],
    ["W / S", "zoom in / out (in the view last pointed at)"],
    ["A / D", "pan left / right"],
    ["F", "fit: what is chosen or the selected execution; again: all"],
    ["M", "measure: an area around the call that is chosen, or the execution"],
    ["Ctrl+C", "copy the table of what was measured"],
    ["G", "go to what it goes back to"],
    [
        "[ / ]",
        "choose a message or a collective of it; then: to its sender / its receiver, who waited longest / came last",
    ],
    ["← / →", "in the timeline: the call before / after it in its row"],
    [
        "↑ / ↓",
        "in the timeline: its caller / the first it called; where there is none, or with Shift, the lane above / below",
    ],
    ["Enter, Space", "in the timeline: mark its call path in all views, fold its lane"],
    ["T, P", "in the timeline: threads of its rank, keep its rank in sight"],
    [", / .", "the next longer / shorter call of the function of the call that is chosen"],
    ["V", "in the timeline: the next counter below the lanes"],
    ["1 to 8", "show or hide a view"],
    ["/ or Ctrl+F", "find functions, ranks, executions, call paths; Enter: the next"],
    ["Backspace", "back: the window before, or the execution before"],
    ["Esc", "close what is open, choose none"],
    ["?", "this help"],
];

const words: [string, string][] = [
    [
        "execution",
        "one call of the function of interest, with all it called: #4-40 is call 40 on rank 4, both counted from 0",
    ],
    ["score", "how strange it is: 7 is about 1 in 1,100 executions, 9 about 1 in 8,000"],
    [
        "typical",
        "of an execution: the median of those with the same calls on its rank. Of a call path: of calls there with the same calls inside, on all ranks. Where something else is meant it is named",
    ],
    ["own time", "without what it called"],
    [
        "anomaly",
        "its evidence is strong, also in absolute terms. In any run some execution is the strangest; that alone makes no anomaly",
    ],
    [
        "incident",
        "executions that were strange together, because one of them, the head, delayed the others. Those that lost most time come first",
    ],
    [
        "label",
        "what you know: should it be like this? Retrain ranks all executions again, those alike with it",
    ],
];

type Rows = readonly (readonly [string, string])[];

function Terms({ of }: { of: Rows }) {
    return (
        <dl>
            {of.map(([term, text]) => (
                <>
                    <dt>{term}</dt>
                    <dd>{text}</dd>
                </>
            ))}
        </dl>
    );
}

export function HelpDialog(props: {
    keys: Rows;
    views: Rows;
    words: Rows;
    children?: ComponentChildren;
}) {
    return (
        <Dialog name="help" label="Help" isOpen={isHelpOpen}>
            <h2>Keys</h2>
            <dl>
                {props.keys.map(([key, text]) => (
                    <>
                        <dt>
                            <kbd>{key}</kbd>
                        </dt>
                        <dd>{text}</dd>
                    </>
                ))}
            </dl>
            <h2>Views</h2>
            <Terms of={props.views} />
            <h2>Words</h2>
            <Terms of={props.words} />
            <p class="buttons">
                {props.children}
                <button class="primary" onClick={() => (isHelpOpen.value = false)}>
                    Close
                </button>
            </p>
        </Dialog>
    );
}

export function Help() {
    return (
        <HelpDialog
            keys={keys}
            views={viewTable.map(({ title, says }) => [title, says] as const)}
            words={words}
        >
            <button
                onClick={() => {
                    isHelpOpen.value = false;
                    tourStep.value = 0;
                }}
            >
                Show the tour
            </button>
        </HelpDialog>
    );
}
