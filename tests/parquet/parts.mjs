// The parts of tables that several processes wrote, against the tables of one process.
//
//     node parts.mjs PARTS TABLES
import { DuckDBInstance } from '@duckdb/node-api'

const [parts, tables] = process.argv.slice(2)
const duck = await (await DuckDBInstance.create(':memory:')).connect()
const rows = async (files) => (await duck.runAndReadAll(`SELECT * FROM read_parquet(${files})`)).getRowsJson()

for (const table of ['calls', 'messages']) {
    const many = []
    for (const part of [0, 1, 2]) {
        const own = await rows(`'${parts}/${table}-${part}.parquet'`)
        if (own.length === 0) throw new Error(`${table}: part ${part} is empty`)
        many.push(...own)
    }
    const one = await rows(`'${tables}/${table}.parquet'`)
    if (JSON.stringify(many) !== JSON.stringify(one)) throw new Error(`${table}: other rows, or in another order`)
    console.log(`${table}: ${one.length} rows in 3 parts`)
}
