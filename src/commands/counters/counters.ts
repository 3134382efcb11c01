import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import { ask } from '../../counters/look-up/ask.ts'
import { type Given, kindNames, readQuestion } from '../../counters/look-up/question.ts'
import { reasonOf, UsageError } from '../../errors.ts'
import { countersText } from './counters-text.ts'

/** What `counters` was asked, and how it is to answer. */
export type CountersRequest = { given: Given; isJson: boolean; isAll: boolean; isPlain: boolean }

/** Where the command reads what is not on its line. */
export type CountersInput = { stdin: NodeJS.ReadableStream }

/**
 * Reads `[KIND] VALUE`, `--type TYPE VALUE` or `--hash HASH`. A file is given by its path, unless
 * it is a SHA-256; the value `-` is read from standard input.
 *
 * @throws UsageError also when the value is none of its kind
 */
export async function readCounters(
  args: readonly string[],
  { stdin }: CountersInput,
): Promise<CountersRequest> {
  const flag = { type: 'boolean' } as const
  const word = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: flag, series: flag, plain: flag, type: word, hash: word },
  })
  const given = await resolve(givenBy(positionals, values), stdin)
  const read = readQuestion(given)
  if ('fault' in read) throw new UsageError([read.fault])
  const { json: isJson = false, series: isAll = false, plain: isPlain = false } = values
  return { given, isJson, isAll, isPlain }
}

function givenBy(positionals: readonly string[], named: { type?: string; hash?: string }): Given {
  const { type, hash } = named
  const [first, second, ...more] = positionals
  const isNamed = type !== undefined || hash !== undefined
  if (more.length > 0 || (isNamed && second !== undefined)) {
    throw new UsageError(['Put a value of several words between quotes.'])
  }
  if (type !== undefined || hash !== undefined) {
    return { ...(type && { type }), ...(hash && { hash }), ...(first && { value: first }) }
  }
  if (second !== undefined) return { ...(first && { kind: first }), value: second }
  if (first !== undefined && kindNames.includes(first)) {
    throw new UsageError([`Which ${first}? Say "counters ${first} VALUE".`])
  }
  return first === undefined ? {} : { value: first }
}

async function resolve(given: Given, stdin: NodeJS.ReadableStream): Promise<Given> {
  const { kind, value } = given
  if (value === '-' && kind !== 'file') return { ...given, value: await text(stdin) }
  if (kind !== 'file' || value === undefined || /^[0-9a-f]{64}$/i.test(value)) return given
  return { ...given, value: await hashOf(value === '-' ? stdin : createReadStream(value), value) }
}

async function hashOf(bytes: NodeJS.ReadableStream, name: string): Promise<string> {
  const hash = createHash('sha256')
  try {
    await pipeline(bytes, hash)
  } catch (error) {
    throw new Error(`The file ${name} cannot be read: ${reasonOf(error)}`, { cause: error })
  }
  return hash.digest('hex')
}

/** Where the command writes, and what it knows of that place. */
export type CountersOutput = {
  stdout: { write: (text: string) => unknown; columns?: number }
  env: Readonly<Record<string, string | undefined>>
}

/** Writes the answer, as text or as JSON; 1 when nothing is counted in two weeks, else 0. */
export async function tellCounters(
  { given, isJson, isAll, isPlain }: CountersRequest,
  app: Pick<App, 'pool' | 'clock'>,
  { stdout, env }: CountersOutput,
): Promise<0 | 1> {
  const answer = await ask(app, given, isAll ? 'all' : 'told')
  if ('fault' in answer) throw new UsageError([answer.fault])
  const isUnicode = /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '')
  const look = {
    isAscii: isPlain || !isUnicode,
    columns: stdout.columns ?? COLUMNS_USUAL,
    now: app.clock(),
  }
  stdout.write(`${isJson ? JSON.stringify(answer, undefined, 2) : countersText(answer, look)}\n`)
  return answer.told === null ? 1 : 0
}

const COLUMNS_USUAL = 80
