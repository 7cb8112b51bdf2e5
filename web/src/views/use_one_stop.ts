// A list, or the rows of a table, with buttons in them as one stop of the Tab key: up and down go from line to line, left and
// right along one, Home and End to the first and the last. Tab comes back to where the focus was, at first to the
// line that is chosen.
import { RefObject } from "preact";
import { useEffect } from "preact/hooks";

const lines = "li, tr";

function buttonsOf(line: Element): HTMLButtonElement[] {
    return [...line.querySelectorAll("button")].filter(
        (button) => !button.disabled && button.closest(lines) === line,
    );
}

function linesOf(list: Element): Element[] {
    return [...list.querySelectorAll(lines)].filter((line) => buttonsOf(line).length > 0);
}

function chosenOf(list: Element): HTMLButtonElement | null {
    const [line] = linesOf(list);
    return (
        list.querySelector<HTMLButtonElement>('li > button[aria-pressed="true"]') ??
        (line ? buttonsOf(line)[0] : null)
    );
}

function moved(
    list: Element,
    from: HTMLButtonElement,
    key: string,
): HTMLButtonElement | undefined {
    const all = linesOf(list);
    const line = from.closest(lines)!;
    const at = all.indexOf(line);
    const along = buttonsOf(line);
    const first = (of: Element | undefined) => of && buttonsOf(of)[0];
    switch (key) {
        case "ArrowDown":
            return first(all[at + 1]);
        case "ArrowUp":
            return first(all[at - 1]);
        case "ArrowRight":
            return along[along.indexOf(from) + 1];
        case "ArrowLeft":
            return along[along.indexOf(from) - 1];
        case "Home":
            return first(all[0]);
        case "End":
            return first(all[all.length - 1]);
    }
}

export function useOneStop(list: RefObject<HTMLElement>): void {
    useEffect(() => {
        const element = list.current;
        if (!element) return;
        let last: HTMLButtonElement | null = null; /* that had the focus */
        const settle = () => {
            const isThere = last !== null && element.contains(last) && !last.disabled;
            const stop = isThere ? last : chosenOf(element);
            for (const button of element.querySelectorAll("button"))
                button.tabIndex = button === stop ? 0 : -1;
        };
        const onFocus = ({ target }: FocusEvent) => {
            if (target instanceof HTMLButtonElement) last = target;
            settle();
        };
        const onKey = (event: KeyboardEvent) => {
            const { target: from } = event;
            if (event.ctrlKey || event.altKey || event.metaKey) return;
            if (!(from instanceof HTMLButtonElement)) return;
            const to = moved(element, from, event.key);
            if (!to) return;
            event.preventDefault();
            to.focus();
        };
        // Lines come and go, open and close; another is chosen by other keys.
        const observer = new MutationObserver((changes) => {
            const isOther = changes.some(({ type }) => type === "attributes");
            if (isOther && !element.contains(document.activeElement)) last = null;
            settle();
        });
        observer.observe(element, {
            childList: true,
            subtree: true,
            attributeFilter: ["aria-pressed", "disabled"],
        });
        element.addEventListener("focusin", onFocus);
        element.addEventListener("keydown", onKey);
        settle();
        return () => {
            observer.disconnect();
            element.removeEventListener("focusin", onFocus);
            element.removeEventListener("keydown", onKey);
        };
    }, []);
}
