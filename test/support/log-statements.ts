import { appendFileSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { packValue, type Shape, type Statement } from './logged-statements.ts'

/**
 * With STATEMENT_LOG set to a folder, writes every distinct statement that the tests of this worker
 * run, with its first parameters, and every distinct sequence of statements of a transaction.
 * `npm run test:citus` with STATEMENTS set to this folder runs them again on a cluster.
 */
const folder = process.env['STATEMENT_LOG']
const LOGGED = Symbol.for('signalpost.logged-statements')
/** Longer transactions repeat what shorter ones do. */
const STATEMENTS_MAX = 60

type Client = pg.Client & { [LOGGED]?: Statement[] | undefined }

if (folder && !(LOGGED in pg.Client.prototype)) logTo(folder)

function logTo(log: string): void {
  mkdirSync(log, { recursive: true })
  const file = path.join(log, `${process.pid}.jsonl`)
  const seen = new Set<string>()
  const write = (shape: Shape) => {
    const key = shape.map(({ text }) => text).join('\n;\n')
    if (seen.has(key)) return
    seen.add(key)
    appendFileSync(file, `${JSON.stringify(shape)}\n`)
  }
  const prototype = pg.Client.prototype as Client
  // The usual methods of this class keep working; only this one is extended.
  const query = prototype.query as (...args: unknown[]) => unknown
  const logging = function (this: Client, ...args: unknown[]): unknown {
    const statement = statementOf(args)
    if (statement) note(this, statement, write)
    return query.apply(this, args)
  }
  Object.assign(prototype, { query: logging, [LOGGED]: undefined })
}

function note(client: Client, statement: Statement, write: (shape: Shape) => void): void {
  const verb = /^\s*(\w+)/.exec(statement.text)?.[1]?.toLowerCase()
  const open = client[LOGGED]
  if (verb === 'begin') client[LOGGED] = []
  else if (verb === 'commit' || verb === 'rollback') {
    client[LOGGED] = undefined
    if (open && open.length > 1) write(open)
  } else if (verb !== undefined && planned.has(verb)) {
    write([statement])
    if (open && open.length < STATEMENTS_MAX) open.push(statement)
  }
}

/** The statements that the planner sees. */
const planned = new Set(['select', 'insert', 'update', 'delete', 'with'])

/** Reads the arguments of a query; undefined when it is not a statement as text. */
function statementOf([query, values]: readonly unknown[]): Statement | undefined {
  if (typeof query === 'string') return { text: query, values: pack(values) }
  if (typeof query !== 'object' || query === null || !('text' in query)) return undefined
  const own = 'values' in query ? query.values : undefined
  return typeof query.text === 'string'
    ? { text: query.text, values: pack(own ?? values) }
    : undefined
}

function pack(values: unknown): unknown[] {
  return Array.isArray(values) ? values.map(packValue) : []
}
