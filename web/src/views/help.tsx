// The help: keys, and what the words mean.
import { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { viewTable } from "../state/views";
import { isHelpOpen, tourStep } from "../state/overlays";

const keys: [string, string][] = [
    ["J / K", "next / previous entry of the list"],
    ["B / N", "label it abnormal / normal (all that is chosen, after a lasso)"],
    ["R", "retrain: learn from the labels"],
    ["U", "undo the last label or retrain"],
    ["W / S", "zoom in / out (in the view last pointed at)"],
    ["A / D", "pan left / right"],
    ["F", "fit: the selected execution, or all points"],
    ["Esc", "close, choose none"],
    ["?", "this help"],
];

const words: [string, string][] = [
    [
        "execution",
        "one call of the function of interest, with all it called: #4-40 is call 40 on rank 4, both counted from 0",
    ],
    [
        "score",
        "how strange it is, in nats: 7 is about 1 in 1,100 executions, 9 about 1 in 8,000",
    ],
    ["usually", "the median over calls of the same path with the same calls inside"],
    [
        "anomaly",
        "its evidence is strong, also in absolute terms. In any run some execution is the strangest; that alone makes no anomaly",
    ],
    [
        "disturbance",
        "an incident: executions that were strange together, because one of them, the head, delayed the others. Those that lost most time come first",
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
    const dialog = useRef<HTMLDialogElement>(null);
    const isOpen = isHelpOpen.value;
    useEffect(() => {
        if (isOpen && !dialog.current!.open) dialog.current!.showModal();
        else if (!isOpen) dialog.current!.close();
    }, [isOpen]);
    return (
        <dialog
            ref={dialog}
            class="help"
            aria-label="Help"
            onClose={() => (isHelpOpen.value = false)}
        >
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
        </dialog>
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
