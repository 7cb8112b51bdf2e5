// The frame of a view: title, tools, and what stands there while there is nothing to see. Every
// view has an empty, a loading and an error state; they are said here and nowhere else.
import { ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { isOnline } from "../api/http";
import { sentence } from "../format/units";
import { Answer } from "../state/query";
import { isFiltered } from "../state/filtered";
import { isOneOfMany, toggleAlone } from "../state/shown_views";
import { listQuery } from "../state/list";
import { executions, views } from "../state/store";
import { ViewName, viewRow } from "../state/views";

export interface Tab {
    name: string;
    title: string;
    isFront: boolean;
    show: () => void;
}

/* What shares the place of a panel: titles, of which one is in front. */
export const Tabs = createContext<Tab[]>([]);

function Title({ title }: { title: string }) {
    const tabs = useContext(Tabs);
    if (tabs.length < 2) return <h2>{title}</h2>;
    return (
        <h2 class="tabs">
            {tabs.map((tab) => (
                <button key={tab.name} aria-pressed={tab.isFront} onClick={tab.show}>
                    {tab.title}
                </button>
            ))}
        </h2>
    );
}

/* class, label and title of a panel, what stands at its right, what is in it. */
export function Frame(props: {
    name: string;
    class: string;
    title: string;
    label?: string; /* without: the title */
    note?: ComponentChildren; /* beside the title */
    tools?: ComponentChildren;
    button?: ComponentChildren; /* in the corner */
    children: ComponentChildren;
}) {
    const { name, title } = props;
    return (
        <section
            class={`panel ${props.class}`}
            id={`view-${name}`}
            aria-label={props.label ?? title}
            tabIndex={-1}
        >
            <header class="panel-head">
                <Title title={title} />
                {props.note}
                <div class="tools">{props.tools}</div>
                {props.button}
            </header>
            <div class="panel-body">{props.children}</div>
        </section>
    );
}

/* What a view that does not follow the filter says of itself. */
function NotFiltered({ shows }: { shows: string }) {
    if (!isFiltered.value) return null;
    return (
        <span class="unfiltered" title={`Here is ${shows}, whatever the filter leaves out.`}>
            not filtered
            <span class="visually-hidden">: {shows}</span>
        </span>
    );
}

export function Panel(props: {
    name: ViewName;
    tools?: ComponentChildren;
    children: ComponentChildren;
}) {
    const { name } = props;
    const { title, unfiltered } = viewRow(name);
    const isAlone = views.value.length === 1;
    const button = isOneOfMany() && (
        <button
            class="quiet larger"
            onClick={() => toggleAlone(name)}
            title={isAlone ? "Show the other views again" : "Show only this view"}
            aria-label={`${title}: ${isAlone ? "smaller" : "larger"}`}
        >
            {isAlone ? "⤡" : "⤢"}
        </button>
    );
    return (
        <Frame
            name={name}
            class={`panel-${name}`}
            title={title}
            note={unfiltered && <NotFiltered shows={unfiltered} />}
            tools={props.tools}
            button={button}
        >
            {props.children}
        </Frame>
    );
}

export function Empty(props: { children: ComponentChildren }) {
    return <div class="state">{props.children}</div>;
}

export function Loading(props: { what: string }) {
    return (
        <div class="state loading" role="status">
            Loading {props.what} ...
        </div>
    );
}

export function Failed(props: { text: string; retry?: () => void }) {
    return (
        <div class="state failed" role="alert">
            <p>{sentence(props.text)}</p>
            {props.retry && <button onClick={props.retry}>Try again</button>}
        </div>
    );
}

/* The value when it is there, else the state it is in. One that is about to be another looks like that. */
export function Await<T>(props: {
    of: Answer<T>;
    what: string;
    empty: ComponentChildren;
    children: (value: T) => ComponentChildren;
}) {
    const { of } = props;
    // What was there stays, and is of before the error; that the server is away is said once, at the top.
    const failed = of.error !== null && (isOnline.value || of.value === null) && (
        <Failed text={of.error} retry={of.retry} />
    );
    if (of.value !== null)
        return (
            <div class="answer" aria-busy={of.isLoading}>
                {failed}
                {props.children(of.value)}
            </div>
        );
    if (failed) return failed;
    if (of.isLoading) return <Loading what={props.what} />;
    return <Empty>{props.empty}</Empty>;
}

/* Where no execution is selected: one may be about to be, when the list comes. */
export function NothingSelected(props: { children: ComponentChildren }) {
    const isComing = !executions.value || listQuery.answer.value.isLoading;
    return isComing ? <Loading what="the executions" /> : <Empty>{props.children}</Empty>;
}
