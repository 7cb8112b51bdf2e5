// The tables that snag export writes as Parquet, through two readers that are not ours, against
// what it writes as CSV and JSON and what is in the columns of the run.
//
//     node read.mjs RUN DIR     DIR: the tables, calls.csv and executions.json
import { readFileSync, readdirSync } from 'node:fs'
import { asyncBufferFromFile, parquetReadObjects, parquetMetadataAsync } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { DuckDBInstance } from '@duckdb/node-api'

const [run, dir] = process.argv.slice(2)
const duck = await (await DuckDBInstance.create(':memory:')).connect()

function fail(text) {
    console.error(text)
    process.exit(1)
}

const ask = async (sql) => (await duck.runAndReadAll(sql)).getRowObjectsJS()

/** Numbers of 64 bits are bigint by one reader, and maybe by the other. */
const plain = (value) =>
    typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : (value ?? null)

function same(a, b, where) {
    if (a.length !== b.length) fail(`${where}: ${a.length} rows, not ${b.length}`)
    for (let i = 0; i < a.length; i++)
        for (const key of Object.keys(b[i]))
            if (!Object.is(plain(a[i][key]), plain(b[i][key])))
                fail(`${where}: row ${i}, ${key}: ${a[i][key]}, not ${b[i][key]}`)
}

/** All rows by both readers, which must say the same. */
async function rowsOf(table) {
    const path = `${dir}/${table}.parquet`
    const file = await asyncBufferFromFile(path)
    const rows = await parquetReadObjects({ file, compressors })
    const metadata = await parquetMetadataAsync(file)
    same(await ask(`SELECT * FROM '${path}'`), rows, `${table}, two readers`)
    for (const group of metadata.row_groups)
        for (const { meta_data } of group.columns) checkRange(table, meta_data, rows, group)
    return { rows, metadata }
}

let nRanges = 0

/** The range of a column is that of its values; only of a file with one row group. */
function checkRange(table, column, rows, group) {
    const name = column.path_in_schema[0]
    const { min_value, max_value, null_count } = column.statistics
    const there = rows.map((row) => row[name]).filter((v) => v !== null && v !== undefined)
    if (Number(group.num_rows) !== rows.length) return
    if (Number(null_count) !== rows.length - there.length) fail(`${table}.${name}: nulls`)
    if (min_value === undefined) return
    const sorted = there.map(plain).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    if (!Object.is(plain(min_value), sorted[0]) || !Object.is(plain(max_value), sorted.at(-1)))
        fail(`${table}.${name}: ${min_value} .. ${max_value}, not ${sorted[0]} .. ${sorted.at(-1)}`)
    nRanges++
}

// ------------------------------------------------------------------------------------- calls

const calls = await rowsOf('calls')
const csv = await ask(
    `SELECT rank, thread, call, CASE WHEN parent < 0 THEN NULL ELSE parent END AS parent, depth, region, ` +
        `enter_ns, inclusive_ns, exclusive_ns FROM read_csv('${dir}/calls.csv', header = true, types = ` +
        `{'region': 'VARCHAR'})`,
)
same(calls.rows, csv, 'calls, as CSV')

// ----------------------------------------------------------------------------------- messages

// 56 bytes each: begin, end, bytes, match (u64), call, peer, comm, tag, order, kind (u32)
const records = readFileSync(`${run}/calls/messages.rec`)
const messages = await rowsOf('messages')
if (messages.rows.length !== records.length / 56) fail('messages: another number of them')
const none = 0xffffffff
messages.rows.forEach((row, i) => {
    const at = i * 56
    const word = (k) => records.readUInt32LE(at + 32 + 4 * k)
    const long = (k) => records.readBigUInt64LE(at + 8 * k)
    const is = {
        message: BigInt(i),
        begin_ns: long(0),
        end_ns: long(1),
        bytes: long(2),
        match: long(3) === 0xffffffffffffffffn ? null : long(3),
        call: word(0) === none ? null : word(0),
        peer: word(1) === none ? null : word(1),
        tag: word(3),
        kind: word(5) === 0 ? 'send' : 'receive',
    }
    same([row], [is], `message ${i}`)
})

// --------------------------------------------------------------------------------- executions

const executions = await rowsOf('executions')
const json = readFileSync(`${dir}/executions.json`, 'utf8').trim().split('\n').map(JSON.parse)
const near = (a, b) => Math.abs(a - b) <= 1e-9 * Math.abs(b)
if (executions.rows.length !== json.length) fail('executions: another number of them')
executions.rows.forEach((row, i) => {
    for (const [key, value] of Object.entries(json[i])) {
        if (row[key] === undefined && !(key in row)) fail(`executions: no ${key}`)
        if (key === 'cost_is_bound' && row.cost_ns === null) continue // nothing is known
        if (key === 'score' || key === 'false_alarm_probability') {
            if (!near(row[key], value)) fail(`execution ${i}: ${key} ${row[key]}, not ${value}`)
        } else same([{ [key]: row[key] }], [{ [key]: value }], `execution ${i}`)
    }
})

const said = Object.fromEntries(calls.metadata.key_value_metadata.map((x) => [x.key, x.value]))
for (const key of ['trace', 'source', 'created', 'begin_ns', 'end_ns'])
    if (!said[key]) fail(`the file does not say ${key}`)
if (nRanges < 20) fail(`only ${nRanges} columns have a range`)
const n = readdirSync(dir).length
console.log(`${calls.rows.length} calls, ${messages.rows.length} messages, ${json.length} executions; ${n} files`)
