// The name of a function in a table, as a button that leads to its calls, the longest first.
import { goToLongest } from "../state/call_walk";
import { regionPlace } from "../state/names";
import { Area, regions } from "../state/store";
import { Name } from "./name";

export function FunctionButton({ id, within }: { id: number; within?: Area }) {
    const region = regions.value.get(id);
    if (!region) return <>{`region ${id}`}</>;
    return (
        <button
            class="to-calls"
            title={`${region.name}${regionPlace(id)}: show its longest call${within ? " in the area" : ""}`}
            onClick={() => goToLongest(id, within ?? null)}
        >
            <Name of={region.short_name} />
        </button>
    );
}
