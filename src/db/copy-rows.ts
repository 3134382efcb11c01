import pg from 'pg'
import type { Db } from './pool.ts'

/** A field in its binary form, as `copy … (format binary)` takes it. */
type Field = Buffer

/**
 * Inserts rows by a `copy … from stdin (format binary)`, which costs the server half of what
 * `insert … values` does: no parameters to bind, and one note in its log for a page of rows. The
 * rows are sent with the statement; other statements may follow without waiting.
 */
export async function copyRows(
  db: Db,
  text: string,
  rows: readonly (readonly Field[])[],
): Promise<void> {
  if (rows.length === 0) return
  const content = packRows(rows)
  await new Promise<void>((resolve, reject) => {
    db.query(new CopyIn(text, content, (error) => (error ? reject(error) : resolve())))
  })
}

/** An integer of four bytes as a field. */
export function int4(value: number): Field {
  const field = Buffer.allocUnsafe(4)
  field.writeInt32BE(value)
  return field
}

/**
 * A statement that brings its rows with it. The server reads them when it comes to the statement,
 * and passes them over when it has refused it (Frontend/Backend Protocol, "COPY Operations").
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

  /** The driver would answer that there are no rows. */
  handleCopyInResponse(): void {
    return undefined
  }
}

/** What the driver's connection can do besides; its types do not say it. */
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
