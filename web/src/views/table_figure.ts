// Tables of views: as a figure, which has as many rows as fit a page, and as CSV, which has all.
import { drawTable } from "../canvas/figure";
import { formatCount } from "../format/units";
import { inks } from "./inks";
import { newPen, Picture } from "./pictures";

const mostRows = 60; /* more do not fit a page */

interface Column<Row> {
    title: string;
    isWords?: boolean;
    text: (row: Row) => string;
}

export function tableFigure<Row>(columns: Column<Row>[], rows: Row[]): Picture {
    const pen = newPen();
    const shown = rows.slice(0, mostRows);
    const lines = { columns, rows: shown.map((row) => columns.map(({ text }) => text(row))) };
    const rest = rows.length - shown.length;
    return {
        ...drawTable(pen, lines, inks()),
        content: pen.toString(),
        notes: rest ? [`And ${formatCount(rest)} more.`] : [],
    };
}
