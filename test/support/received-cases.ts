import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseIp } from '../../src/mail/ip.ts'
import { corpusFolder } from './corpus.ts'

/** A case from the public test suites that the corpus has collected. */
export type ReceivedCase = {
  id: string
  suite: string
  kind: string
  /** The value of one Received field, of `line`, `oracle-line` and `from-clause` cases. */
  raw?: string
  /** A header block, in all other kinds of cases. */
  headers?: string
  generate?: { prefix: string; repeat: string; times: number }
  config?: Record<string, string[] | string | null>
  connection?: { ip: string; user?: string }
  originating_ip_headers?: string[]
  expected: Record<string, unknown>
}

/** SpamAssassin's values for the peer of one line; an empty text means "not known". */
export type SpamAssassinRelay = Record<
  'ip' | 'rdns' | 'helo' | 'by' | 'ident' | 'envfrom' | 'id' | 'auth',
  string
>

/** Returns the cases of some kinds; undefined if there is no corpus. */
export function receivedCases(...kinds: readonly string[]): ReceivedCase[] | undefined {
  const folder = join(corpusFolder, 'received')
  if (!existsSync(folder)) return undefined
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as ReceivedCase[])
    .filter(({ kind }) => kinds.includes(kind))
}

/** Returns an optional value of a suite; absent, null and empty are treated as equal. */
export function said(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** An address in canonical form; other texts are returned unchanged. */
export function canonical(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (parseIp(text)?.text ?? text)
}
