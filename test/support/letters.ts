import { findLetterMessage } from '../../src/db/letters.ts'
import type { Pool } from '../../src/db/pool.ts'
import { openLetter } from '../../src/letters/send-letter.ts'
import { ringOf } from './key-ring.ts'

/** The secrets of the applications and of the sites of the tests. */
const secrets = [
  ringOf('a secret of the tests, long enough for all'),
  ringOf('a secret of the tests, long enough'),
]

/** Returns a letter with its keys, as it is sent. */
export async function realLetter(pool: Pool, id: string): Promise<Buffer> {
  const copy = await findLetterMessage(pool, id)
  if (!copy) throw new Error(`There is no letter ${id}.`)
  const [one, other] = secrets.map((secret) => openLetter(id, copy, secret))
  return Promise.any([one, other].filter((opened) => opened !== undefined))
}

/** A letter as its recipient sees it. */
export type ReadLetter = { id: string; kind: string; raw: string; subject: string; text: string }

/** Returns the letters to an address, newest first. */
export async function lettersTo(pool: Pool, address: string): Promise<ReadLetter[]> {
  const { rows } = await pool.query<{ id: string; kind: string }>(
    'select id, kind from letters where address = $1 order by id desc',
    [address],
  )
  return Promise.all(
    rows.map(async ({ id, kind }) => {
      const raw = (await realLetter(pool, id)).toString('latin1')
      const [head = '', ...body] = raw.split('\r\n\r\n')
      const subject = /^Subject: (.*)$/m.exec(head)?.[1]?.trim() ?? ''
      return { id, kind, raw, subject, text: decoded(body.join('\r\n\r\n')) }
    }),
  )
}

/** Returns the path of the link in the newest letter to an address. */
export async function linkTo(pool: Pool, address: string): Promise<string> {
  const [letter] = await lettersTo(pool, address)
  const url = /https?:\/\/\S+/.exec(letter?.text ?? '')?.[0]
  if (url === undefined) throw new Error(`No link was mailed to ${address}.`)
  return new URL(url).pathname
}

function decoded(quotedPrintable: string): string {
  const bytes = quotedPrintable
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
