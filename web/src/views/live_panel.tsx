// The frame of a part of the live page.
import { ComponentChildren } from "preact";
import { Frame } from "./panel";

export function LivePanel(props: {
    name: string;
    title: string;
    tools?: ComponentChildren;
    children: ComponentChildren;
}) {
    return <Frame {...props} class={`live-${props.name}`} />;
}

export function Choice<T extends string>(props: {
    label?: string; /* without: it stands in a <label> */
    value: T;
    options: readonly (readonly [T, string])[];
    choose: (value: T) => void;
    title?: string;
    class?: string;
}) {
    return (
        <select
            aria-label={props.label}
            value={props.value}
            title={props.title}
            class={props.class}
            onChange={(event) => props.choose(event.currentTarget.value as T)}
        >
            {props.options.map(([value, text]) => (
                <option key={value} value={value}>
                    {text}
                </option>
            ))}
        </select>
    );
}
