// What arrows of the timeline stand for, in words.

/* A message; a call that launched another; one that began, or ended, only when the other had ended. The last three are
   numbered behind the first as the server numbers them. */
export const arrowKinds = ["message", "order", "launch", "wait"] as const;
export type ArrowKind = (typeof arrowKinds)[number];

/* What the time from one end to the other was. */
export const delayWords: Record<ArrowKind, string> = {
    message: "on its way",
    launch: "until it began",
    order: "between the two",
    wait: "between the two",
};

export const arrowTitles: Record<ArrowKind, string> = {
    message: "Message",
    launch: "Launch",
    order: "Order",
    wait: "Wait",
};

/* What stands at the two ends. */
export const endWords: Record<ArrowKind, [from: string, to: string]> = {
    message: ["Sender", "Receiver"],
    launch: ["Launched by", "Launched"],
    order: ["Had to end", "Began then"],
    wait: ["Had to end", "Ended then"],
};

/* What is said of a call that is at one end, before the name of the other. */
export function dependencyWords(kind: Exclude<ArrowKind, "message">, isFrom: boolean): string {
    if (kind === "launch") return isFrom ? "launched" : "launched by";
    const does = kind === "order" ? "begins" : "ends";
    return isFrom
        ? `before it ended could not ${kind === "order" ? "begin" : "end"}`
        : `${does} after`;
}
