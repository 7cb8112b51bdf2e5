// Text for the clipboard, and what is said of it.
import { notice } from "./store";

/* what: "The table"; otherwise: what to do where the browser forbids it. */
export async function copyText(text: string, what: string, otherwise: string): Promise<void> {
    try {
        await navigator.clipboard.writeText(text);
        notice.value = { text: `${what} is copied.`, isError: false };
    } catch {
        notice.value = {
            text: `The browser does not let it be copied: ${otherwise}.`,
            isError: true,
        };
    }
}
