// The two buttons that say what a person thinks of an execution, or of all executions of a group at once.
import { runKeys } from "../state/keys";
import { executions } from "../state/store";
import { labelTrees, nameOfCode, toggleLabel } from "../state/actions";

function LabelButton(props: {
    label: "abnormal" | "normal";
    word: string;
    of: string;
    says: string;
    isPressed: boolean;
    isSmall?: boolean;
    shortcut?: string;
    take: () => void;
}) {
    return (
        <button
            class={`label-${props.label}`}
            aria-pressed={props.isPressed}
            disabled={!executions.value}
            title={`${props.says}; again to take it back`}
            onClick={(event) => {
                event.stopPropagation();
                props.take();
            }}
        >
            <span aria-hidden="true">{props.label === "abnormal" ? "▲" : "●"}</span>{" "}
            <span class={props.isSmall ? "visually-hidden" : ""}>{props.word}</span>
            <span class="visually-hidden"> {props.of}</span>
            {props.shortcut && <kbd aria-hidden="true">{props.shortcut}</kbd>}
        </button>
    );
}

export function LabelButtons(props: {
    tree: number;
    id: string;
    large?: boolean;
    small?: boolean /* signs only, for one line of many */;
}) {
    const label = nameOfCode(executions.value?.label[props.tree] ?? 0);
    const button = (name: "abnormal" | "normal", word: string, key = runKeys.keyOf(name)) => (
        <LabelButton
            label={name}
            word={word}
            of={props.id}
            says={`Label ${props.id} as ${name} (${key})`}
            isPressed={label === name}
            isSmall={props.small}
            shortcut={props.large ? key : undefined}
            take={() => toggleLabel(props.tree, name)}
        />
    );
    return (
        <span class={props.large ? "labels large" : "labels"}>
            {button("abnormal", "Abnormal")}
            {button("normal", "Normal")}
        </span>
    );
}

/* One act, which one Undo takes back; again, when all of them have it, takes the label from all. */
export function GroupLabelButtons({ trees, name }: { trees: number[]; name: string }) {
    const all = executions.value;
    const have = (label: string) =>
        all !== null && trees.every((tree) => nameOfCode(all.label[tree]) === label);
    const button = (label: "abnormal" | "normal", word: string) => (
        <LabelButton
            label={label}
            word={word}
            of={name}
            says={`Label all ${trees.length} executions of ${name} as ${label}`}
            isPressed={have(label)}
            take={() => labelTrees(trees, have(label) ? "clear" : label)}
        />
    );
    return (
        <span class="labels">
            {button("abnormal", "All abnormal")}
            {button("normal", "All normal")}
        </span>
    );
}
