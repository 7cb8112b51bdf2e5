// The head of a table that is sorted by any of its columns.
export interface Order {
    key: string;
    isDown: boolean;
}

interface Heading {
    key: string;
    title: string;
    help?: string;
    isWords?: boolean /* its cells stand on the left */;
}

/* Before the arrow, which stays beside the last of several words; a single one has no room for both in narrow tables. */
const space = (title: string) => (title.includes(" ") ? "\u00a0" : " ");

export function SortedHead(props: {
    columns: readonly Heading[];
    order: Order;
    sort: (order: Order) => void;
    isDownAtFirst: (key: string) => boolean;
}) {
    const { order } = props;
    return (
        <thead>
            <tr>
                {props.columns.map(({ key, title, help, isWords }) => {
                    const isKey = order.key === key;
                    return (
                        <th
                            scope="col"
                            class={`of-${key}${isWords ? " words" : ""}`}
                            aria-sort={
                                isKey ? (order.isDown ? "descending" : "ascending") : "none"
                            }
                        >
                            <button
                                class="quiet"
                                title={help}
                                onClick={() =>
                                    props.sort({
                                        key,
                                        isDown: isKey
                                            ? !order.isDown
                                            : props.isDownAtFirst(key),
                                    })
                                }
                            >
                                {title}
                                {isKey && `${space(title)}${order.isDown ? "↓" : "↑"}`}
                            </button>
                        </th>
                    );
                })}
            </tr>
        </thead>
    );
}
