import type { Packed } from './packed.ts'
import type { Db } from './pool.ts'
import { first, values } from './values.ts'

/** The bytes of a report, packed. */
export type RawMessage = Packed & { id: string }

/** Keeps raw messages under their reports' ids. */
export async function insertRawMessages(tx: Db, messages: readonly RawMessage[]): Promise<void> {
  const { text, params } = values(
    messages.map(({ id, encoding, content }) => [id, encoding, content]),
  )
  await tx.query(`insert into raw_messages (id, encoding, content) values ${text}`, params)
}

/** The packed bytes of one report. */
export async function findRawMessage(db: Db, id: string): Promise<RawMessage | undefined> {
  return first(
    await db.query<RawMessage>(`select id, encoding, content from raw_messages where id = $1`, [
      id,
    ]),
  )
}

/** The packed bytes of several reports, in no order. */
export async function listRawMessages(db: Db, ids: readonly string[]): Promise<RawMessage[]> {
  const { rows } = await db.query<RawMessage>(
    `select id, encoding, content from raw_messages where id = any($1::uuid[])`,
    [ids],
  )
  return rows
}
