// A dialogue over the page, open while a signal says so.
import { Signal } from "@preact/signals";
import { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export function Dialog(props: {
    name: string;
    label: string;
    isOpen: Signal<boolean>;
    children: ComponentChildren;
}) {
    const dialog = useRef<HTMLDialogElement>(null);
    const toldToClose = useRef(0); /* times of which the event is still to come */
    const isOpen = props.isOpen.value;
    useLayoutEffect(() => {
        const { open } = dialog.current!;
        if (isOpen && !open) {
            dialog.current!.showModal();
            // Not what has the first button: that may be at its end, and would be scrolled to.
            if (!dialog.current!.querySelector("[autofocus]")) dialog.current!.focus();
            dialog.current!.scrollTop = 0;
        }
        if (isOpen || !open) return;
        toldToClose.current++;
        dialog.current!.close();
    }, [isOpen]);
    // The browser closes it, too; but it tells later, when it may be open again.
    const closed = () => {
        if (toldToClose.current) toldToClose.current--;
        else props.isOpen.value = false;
    };
    return (
        <dialog
            ref={dialog}
            class={`dialog ${props.name}`}
            aria-label={props.label}
            tabIndex={-1}
            onClose={closed}
        >
            {props.children}
        </dialog>
    );
}
