// The two buttons that say what a person thinks of an execution.
import { executions } from "../state/store";
import { nameOfCode, toggleLabel } from "../state/actions";

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
