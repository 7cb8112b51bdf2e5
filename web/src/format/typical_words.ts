// What an execution is compared with, in words: what is typical; of so few executions that it is not known what is, the
// median of all.

const ofMany = {
    short: "typical",
    ofAll: "typical",
    is: "what is typical",
    than: "is typical",
    execution: "a typical execution with the same calls",
    onRank: "typical with the same calls on this rank",
    absent: "typically absent",
    help: "typical: of executions with the same calls, on this rank",
    single: "typical calls",
    paths: "what most executions call, each call of typical length: together",
};

const ofFew: typeof ofMany = {
    short: "median",
    ofAll: "median of all",
    is: "the median",
    than: "the median",
    execution: "the median of all executions",
    onRank: "median of all executions",
    absent: "absent in most",
    help: "of so few executions it is not known what is typical; of an even number the median is the lower of the two in the middle",
    single: "calls of median length",
    paths: "what most executions call, each call of median length: together",
};

export const typicalWords = (isFew: boolean) => (isFew ? ofFew : ofMany);
