// The link to what is shown, for somebody else.
import { copyText } from "./clipboard";
import { writeUrl } from "./link";

/* With the token, where the server wants one: without, the link would open nothing. */
export function copyLink(): void {
    writeUrl();
    const hasToken = new URLSearchParams(location.search).has("token");
    const what = hasToken ? "The link, with the token that opens this server," : "The link";
    void copyText(location.href, what, "take it from the line of the address");
}
