// The frame of a part of the live page.
import { ComponentChildren } from "preact";

export function LivePanel(props: {
    name: string;
    title: string;
    tools?: ComponentChildren;
    children: ComponentChildren;
}) {
    return (
        <section
            class={`panel live-${props.name}`}
            id={`view-${props.name}`}
            aria-label={props.title}
            tabIndex={-1}
        >
            <header class="panel-head">
                <h2>{props.title}</h2>
                <div class="tools">{props.tools}</div>
            </header>
            <div class="panel-body">{props.children}</div>
        </section>
    );
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
