// The two buttons that say what a person thinks of an execution, or of all executions of a group at once.
import { executions } from "../state/store";
import { labelTrees, nameOfCode, toggleLabel } from "../state/actions";

export function LabelButtons(props: {
    tree: number;
    id: string;
    large?: boolean;
    small?: boolean /* signs only, for one line of many */;
}) {
    const label = nameOfCode(executions.value?.label[props.tree] ?? 0);
    const button = (name: "abnormal" | "normal", word: string, key: string) => (
        <button
            class={`label-${name}`}
            aria-pressed={label === name}
            disabled={!executions.value}
            title={`Label ${props.id} as ${name} (${key}); again to take it back`}
            onClick={(event) => {
                event.stopPropagation();
                toggleLabel(props.tree, name);
            }}
        >
            <span aria-hidden="true">{name === "abnormal" ? "▲" : "●"}</span>{" "}
            <span class={props.small ? "visually-hidden" : ""}>{word}</span>
            <span class="visually-hidden"> {props.id}</span>
            {props.large && <kbd aria-hidden="true">{key}</kbd>}
        </button>
    );
    return (
        <span class={props.large ? "labels large" : "labels"}>
            {button("abnormal", "Abnormal", "B")}
            {button("normal", "Normal", "N")}
        </span>
    );
}

/* One act, which one Undo takes back; again, when all of them have it, takes the label from all. */
export function GroupLabelButtons({ trees, name }: { trees: number[]; name: string }) {
    const all = executions.value;
    const have = (label: string) =>
        all !== null && trees.every((tree) => nameOfCode(all.label[tree]) === label);
    const button = (label: "abnormal" | "normal", word: string) => (
        <button
            class={`label-${label}`}
            aria-pressed={have(label)}
            disabled={!all}
            title={`Label all ${trees.length} executions of ${name} as ${label}; again to take it back`}
            onClick={() => labelTrees(trees, have(label) ? "clear" : label)}
        >
            <span aria-hidden="true">{label === "abnormal" ? "▲" : "●"}</span> {word}
            <span class="visually-hidden"> {name}</span>
        </button>
    );
    return (
        <span class="labels">
            {button("abnormal", "All abnormal")}
            {button("normal", "All normal")}
        </span>
    );
}
