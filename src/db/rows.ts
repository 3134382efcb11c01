import { promisify } from 'node:util'
import {
  constants,
  zstdCompress,
  zstdCompressSync,
  zstdDecompress,
  zstdDecompressSync,
} from 'node:zlib'
import { LRUCache } from 'lru-cache'
import pg from 'pg'
import sql, { bulk, raw, type RawValue, type Sql } from 'sql-template-tag'
import type { Db } from './pool.ts'

const BYTEA_OID = 17
const INT8_OID = 20
const HEADER_BYTES = 20
const ITEM_BYTES = 12

/**
 * Returns a `bigint[]` parameter in PostgreSQL's binary format, from keys of 8 bytes each,
 * big-endian. The text format would need a decimal conversion of each key.
 */
export function bigintArray(keys: Buffer): Buffer {
  const length = keys.length / 8
  const array = startArray(INT8_OID, length, ITEM_BYTES * length)
  for (let index = 0, at = HEADER_BYTES; index < length; index++, at += ITEM_BYTES) {
    array.writeInt32BE(8, at)
    keys.copy(array, at + 4, index * 8, index * 8 + 8)
  }
  return array
}

/** Returns a `bytea[]` parameter in PostgreSQL's binary format. */
export function byteaArray(contents: readonly Buffer[]): Buffer {
  const bytes = contents.reduce((sum, { length }) => sum + 4 + length, 0)
  const array = startArray(BYTEA_OID, contents.length, bytes)
  let at = HEADER_BYTES
  for (const content of contents) {
    at = array.writeInt32BE(content.length, at)
    at += content.copy(array, at)
  }
  return array
}

/** Returns an array of one dimension without nulls, with room for the bytes of its items. */
function startArray(itemOid: number, length: number, bytes: number): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + bytes)
  for (const [index, value] of [1, 0, itemOid, length, 1].entries()) {
    array.writeInt32BE(value, index * 4)
  }
  return array
}

/** Bytes as stored: compressed with zstd level 1 if that is smaller, otherwise unchanged. */
export type Packed = { encoding: 'identity' | 'zstd'; content: Buffer }

const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const BLOCKING_BYTES_MAX = 256_000
const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/**
 * Compresses bytes for storage. Inputs up to 256 kB are compressed synchronously (50 µs for a 20 KB
 * message, less than the use of a thread), larger ones in a thread.
 */
export async function pack(raw: Buffer): Promise<Packed> {
  const packed =
    raw.length <= BLOCKING_BYTES_MAX ? zstdCompressSync(raw, options) : await compress(raw, options)
  if (packed.length >= raw.length) return { encoding: 'identity', content: raw }
  return { encoding: 'zstd', content: packed }
}

export async function unpack({ encoding, content }: Packed): Promise<Buffer> {
  if (encoding === 'identity') return content
  return content.length <= BLOCKING_BYTES_MAX ? zstdDecompressSync(content) : decompress(content)
}

/** Returns the original bytes if there are at most `bytesMax`. */
export function unpackAtMost({ encoding, content }: Packed, bytesMax: number): Buffer | undefined {
  if (encoding === 'identity') return content.length <= bytesMax ? content : undefined
  try {
    return zstdDecompressSync(content, { maxOutputLength: bytesMax })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/**
 * Returns a template tag like `sql`, for a statement that each connection prepares once under this
 * name.
 */
export function named(name: string) {
  return (strings: readonly string[], ...values: readonly unknown[]): pg.QueryConfig => {
    const query = sql(strings, ...values)
    return { name, text: query.text, values: query.values }
  }
}

const rowsTexts = new LRUCache<string, string>({ max: 100 })

/**
 * Returns a statement on rows that each connection prepares once under this name. Always use a name
 * with the same number of rows. `compose` receives the list of rows and must not add other values.
 * It is called once for each name, because composing the text, up to 50 kB, takes eight times as
 * long as collecting the values.
 */
function namedRows(
  name: string,
  rows: readonly (readonly unknown[])[],
  compose: (values: Sql) => Sql,
): pg.QueryConfig {
  let text = rowsTexts.get(name)
  if (text === undefined) {
    text = compose(bulk(rows)).text
    rowsTexts.set(name, text)
  }
  const values: unknown[] = []
  // By hand, because flat() takes several times as long.
  for (const row of rows) for (const value of row) values.push(value)
  return { name, text, values }
}

/**
 * Returns statements on rows as `namedRows` does, in the same order: each has one of a few fixed
 * numbers of rows, at most `rowsMax`, so that a connection prepares each only once.
 */
export function preparedRows(
  { name, rowsMax }: { name: string; rowsMax: number },
  rows: readonly (readonly unknown[])[],
  compose: (values: Sql) => Sql,
): pg.QueryConfig[] {
  const statements: pg.QueryConfig[] = []
  for (let at = 0; at < rows.length;) {
    const size = STATEMENT_ROWS.find((one) => one <= rowsMax && one <= rows.length - at) ?? 1
    statements.push(namedRows(`${name}-${size}`, rows.slice(at, at + size), compose))
    at += size
  }
  return statements
}

const STATEMENT_ROWS = [250, 60, 15, 4, 1] as const

type Values = readonly RawValue[]

/**
 * One row, as the source of a statement whose commit then does not wait for the disk. Use it for
 * data that is stored again soon, so that losing it in a crash does no harm.
 */
export const withoutWaiting = sql`(select set_config('synchronous_commit', 'off', true)) as quick`

/** Composes the assignments of an upsert that takes these columns from the new row. */
export function excluded([columns = '']: readonly string[]): Sql {
  const names = columns.split(',').map((name) => name.trim())
  return raw(names.map((name) => `${name} = excluded.${name}`).join(', '))
}

/** Returns a template tag like `sql` that runs a query and returns its rows. */
export function rowsOf(db: Db) {
  return async <T extends pg.QueryResultRow>(strings: readonly string[], ...values: Values) =>
    (await db.query<T>(sql(strings, ...values))).rows
}

/** Returns a template tag like `sql` that runs a query and returns its first row, if any. */
export function rowOf(db: Db) {
  return async <T extends pg.QueryResultRow>(
    strings: readonly string[],
    ...values: Values
  ): Promise<T | undefined> => (await db.query<T>(sql(strings, ...values))).rows[0]
}

/**
 * Returns a template tag like `sql` that runs a query of one column and returns its values, which
 * are texts unless `T` says otherwise.
 */
export function valuesOf(db: Db) {
  return async <T = string>(strings: readonly string[], ...values: Values): Promise<T[]> =>
    firstColumn(await db.query<Record<string, T>>(sql(strings, ...values)))
}

export function firstColumn<T>({ rows }: { rows: readonly Record<string, T>[] }): T[] {
  const [name = ''] = Object.keys(rows[0] ?? {})
  return rows.map((row) => row[name] as T)
}

/** Returns a template tag like `sql` that runs a query of one number; 0 without a row. */
export function numberOf(db: Db) {
  return async (strings: readonly string[], ...values: Values): Promise<number> =>
    (await valuesOf(db)<number>(strings, ...values))[0] ?? 0
}

/**
 * Returns a template tag like `sql` that runs a statement and returns whether it inserted, changed
 * or deleted any row.
 */
export function changesAny(db: Db) {
  return async (strings: readonly string[], ...values: Values): Promise<boolean> =>
    ((await db.query(sql(strings, ...values))).rowCount ?? 0) > 0
}

/** Whether a table exists; `name` includes its schema. */
export async function hasTable(db: Db, name: string): Promise<boolean> {
  const found = await rowOf(db)<{ exists: boolean }>`
    select to_regclass(${name}) is not null as exists`
  return found?.exists === true
}

/** A field in the binary format of `copy … (format binary)`. */
type Field = Buffer

/**
 * Inserts rows with `copy … from stdin (format binary)`, at half the server's cost of `insert …
 * values`: it binds no parameters and writes one WAL record for a page of rows. Sends the rows with
 * the statement; other statements may follow without waiting. Only in a transaction: a pool would
 * not get its connection back.
 */
export async function copyRows(
  tx: Db,
  text: string,
  rows: readonly (readonly Field[])[],
): Promise<void> {
  if (rows.length === 0) return
  const content = packRows(rows)
  await new Promise<void>((resolve, reject) => {
    tx.query(new CopyIn(text, content, (error) => (error ? reject(error) : resolve())))
  })
}

/** Returns an integer as a field of two bytes. */
export function int2(value: number): Field {
  const field = Buffer.allocUnsafe(2)
  field.writeInt16BE(value)
  return field
}

/** Returns an integer as a field of four bytes. */
export function int4(value: number): Field {
  const field = Buffer.allocUnsafe(4)
  field.writeInt32BE(value)
  return field
}

/** Returns a UUID as a field of 16 bytes. */
export function uuid(value: string): Field {
  return Buffer.from(value.replaceAll('-', ''), 'hex')
}

/**
 * A statement sent together with its rows. The server reads them when it executes the statement,
 * and skips them when it has rejected it (Frontend/Backend Protocol, "COPY Operations").
 */
class CopyIn extends pg.Query {
  override submit: (connection: pg.Connection) => void

  constructor(text: string, content: Buffer, done: (error: Error | undefined) => void) {
    super(text, done)
    this.submit = (connection) => {
      connection.query(text)
      const wire = connection as pg.Connection & CopyWire
      wire.sendCopyFromChunk(content)
      wire.endCopyFrom()
    }
  }

  /** Overrides the driver's method, which would abort the copy. */
  handleCopyInResponse(): void {
    return undefined
  }
}

/** Methods of the driver's connection that its types lack. */
type CopyWire = { sendCopyFromChunk: (chunk: Buffer) => void; endCopyFrom: () => void }

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')

function packRows(rows: readonly (readonly Field[])[]): Buffer {
  let room = SIGNATURE.length + 2
  for (const row of rows) {
    room += 2
    for (const field of row) room += 4 + field.length
  }
  const bytes = Buffer.allocUnsafe(room)
  let at = SIGNATURE.copy(bytes)
  for (const row of rows) {
    at = bytes.writeInt16BE(row.length, at)
    for (const field of row) {
      at = bytes.writeInt32BE(field.length, at)
      at += field.copy(bytes, at)
    }
  }
  bytes.writeInt16BE(-1, at)
  return bytes
}
