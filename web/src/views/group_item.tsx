// A group in the list: anomalies that are strange in the same way, whenever and wherever they are. Open, it has a line for each
// of them; its buttons label all of them at once.
import { useEffect, useRef } from "preact/hooks";
import { Group } from "../api/types";
import { formatTime, plural } from "../format/units";
import { select } from "../state/actions";
import { selected } from "../state/store";
import { Members, useFold } from "./incident_item";
import { GroupLabelButtons } from "./labels";
import { Sentence } from "./name";

function Facts({ of, isOpen }: { of: Group; isOpen: boolean }) {
    return (
        <span class="line">
            <span class="place" title="its number: snag label takes group=N">
                {of.id}
            </span>
            <span>
                {isOpen ? "▾" : "▸"} {plural(of.members.length, "execution")} on{" "}
                {plural(of.ranks.length, "rank")}
            </span>
            {of.lost_ns > 0 && (
                <span title="beyond what is typical, in all of them">
                    <strong>{formatTime(of.lost_ns)}</strong> lost
                </span>
            )}
        </span>
    );
}

export function GroupItem({ of }: { of: Group }) {
    const isSelected = selected.value !== null && of.member_trees.includes(selected.value);
    const [isFolded, setFolded] = useFold(isSelected);
    const item = useRef<HTMLLIElement>(null);
    const isOpen = isSelected && of.members.length > 1 && !isFolded;
    const members = `members-of-group-${of.id}`;
    const name = `group ${of.id}`;
    useEffect(() => {
        if (isSelected) item.current?.scrollIntoView({ block: "nearest" });
    }, [isSelected]);
    return (
        <li ref={item} class={`candidate incident anomaly${isSelected ? " selected" : ""}`}>
            <button
                class="pick"
                aria-pressed={isSelected}
                aria-expanded={of.members.length > 1 ? isOpen : undefined}
                aria-controls={isOpen ? members : undefined}
                onClick={() => (isSelected ? setFolded(!isFolded) : select(of.member_trees[0]))}
            >
                <Facts of={of} isOpen={isOpen} />
                <span class="what">
                    <Sentence of={of.what} />
                </span>
                <span class="why">
                    <Sentence of={of.text} />
                </span>
            </button>
            <GroupLabelButtons trees={of.member_trees} name={name} />
            {isOpen && <Members of={of} trees={of.member_trees} id={members} name={name} />}
        </li>
    );
}
