// The help: keys, and what the words mean.
import { ComponentChildren } from "preact";
import { viewTable } from "../state/views";
import { isHelpOpen, tourStep } from "../state/overlays";
import { runKeys } from "../state/keys";
import { Dialog } from "./dialog";

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
            keys={runKeys.help}
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
