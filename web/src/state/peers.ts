// How the others did: the executions of the same rank, and those with the same number on other ranks.
// All of it is in the columns that the overview has anyway.
import { Details } from "./store";

export interface Beside {
    own: number[]; /* trees: others on the same rank and thread */
    then: number[]; /* of the same number, elsewhere */
}

export function besideOf(of: Details, tree: number): Beside {
    const { rank, thread, index } = of;
    const beside: Beside = { own: [], then: [] };
    for (let i = 0; i < rank.length; i++) {
        if (i === tree) continue;
        const isHere = rank[i] === rank[tree] && thread[i] === thread[tree];
        if (isHere) beside.own.push(i);
        else if (index[i] === index[tree]) beside.then.push(i);
    }
    return beside;
}
