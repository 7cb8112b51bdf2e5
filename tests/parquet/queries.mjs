// The queries of docs/queries.md, in DuckDB and in snag query, must give the same rows.
//
//     node queries.mjs SNAG RUN QUERIES.md      in the directory with the tables
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'

const [snag, run, path] = process.argv.slice(2)
const duck = await (await DuckDBInstance.create(':memory:')).connect()
const questions = readFileSync(path, 'utf8').split(/^### /m).slice(1)

const told = (rows) =>
    rows.map((row) =>
        Object.entries(row).map(([key, value]) => {
            const isNumber = typeof value === 'number' || typeof value === 'bigint'
            return [key, isNumber ? Number(Number(value).toPrecision(9)) : value]
        }),
    )

let nEmpty = 0
for (const question of questions) {
    const [ours, theirs] = [...question.matchAll(/```sql\n(.*?)\n```/gs)].map((m) => m[1]).reverse()
    const lines = execFileSync(snag, ['query', run, ours, '--json'], { encoding: 'utf8' })
    const asked = lines.trim().split('\n').filter(Boolean).map((line) => JSON.parse(line))
    const read = await duck.runAndReadAll(theirs)
    const a = JSON.stringify(told(asked)), b = JSON.stringify(told(read.getRowObjectsJS()))
    if (a !== b) {
        console.error(`${question.split('\n')[0]}\nsnag query: ${a.slice(0, 600)}\nDuckDB:     ${b.slice(0, 600)}`)
        process.exit(1)
    }
    nEmpty += asked.length === 0
}
if (questions.length !== 12 || nEmpty > 0) {
    console.error(`${questions.length} questions, ${nEmpty} without an answer`)
    process.exit(1)
}
console.log(`${questions.length} questions, answered alike`)
