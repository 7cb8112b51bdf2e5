// What lies over the page: the help, menus, what was found; and the tour below it, which a person sees once.
import { signal } from "@preact/signals";

export const isHelpOpen = signal(false);
export const isCompareOpen = signal(false); /* how to compare the run with another */
export const isFindOpen = signal(false); /* what was found, as a list */
export const findInput: { current: HTMLInputElement | null } = { current: null };
export const tourStep = signal<number | null>(null); /* null: no tour */

const key = "snag-tour-seen";

export function startTourOnce(): void {
    try {
        if (!localStorage.getItem(key)) tourStep.value = 0;
    } catch {
        /* a browser that keeps nothing would show it every time: better never */
    }
}

export function endTour(): void {
    tourStep.value = null;
    try {
        localStorage.setItem(key, "1");
    } catch {
        /* see above */
    }
}

/* At once: the next key is the first letter. */
export function openFind(): void {
    findInput.current?.focus();
    findInput.current?.select();
}

/* False: it was closed, and nobody wrote in its field. */
export function closeFind(): boolean {
    const isThere = isFindOpen.value || document.activeElement === findInput.current;
    isFindOpen.value = false;
    if (isThere) findInput.current?.blur();
    return isThere;
}

/* False: none was open. */
export function closeMenus(): boolean {
    const open = document.querySelectorAll("details.menu[open]");
    open.forEach((menu) => {
        menu.removeAttribute("open");
        menu.querySelector("summary")?.focus();
    });
    return open.length > 0;
}

/* A click beside a menu, or the focus there, closes it; what it is on keeps the focus. */
export function listenForClicks(): void {
    const closeOthers = (event: Event) => {
        for (const menu of document.querySelectorAll("details.menu[open]"))
            if (!menu.contains(event.target as Node)) menu.removeAttribute("open");
    };
    addEventListener("pointerdown", closeOthers, { capture: true });
    addEventListener("focusin", closeOthers);
}
