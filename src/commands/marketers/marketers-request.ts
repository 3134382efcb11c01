import { parseArgs } from 'node:util'
import { UsageError } from '../../errors.ts'

/** The fields that `set` can change, as a file names them; lists between commas. */
export const settableFields = [
  ...['state', 'name', 'signers', 'ranges', 'list-ids', 'authors'],
  ...['website', 'contact', 'feedback'],
] as const

/** What `marketers` was asked to do; a file is given by its path, `-` is standard input. */
export type MarketersRequest =
  | { action: 'import'; file: string; isDryRun: boolean }
  | { action: 'export'; format: 'yaml' | 'jsonl' }
  | { action: 'list' }
  | { action: 'show' | 'remove'; key: string }
  | { action: 'set'; key: string; fields: Readonly<Record<string, string>> }
  | { action: 'proposals' }
  | { action: 'take' | 'dismiss'; signer: string; listId: string }

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const options = {
  ...{ 'dry-run': flag, jsonl: flag },
  ...{ state: text, name: text, signers: text, ranges: text, 'list-ids': text },
  ...{ authors: text, website: text, contact: text, feedback: text },
}

/**
 * Reads what stands after `marketers`.
 *
 * @throws UsageError
 */
export function parseMarketers(args: readonly string[]): MarketersRequest {
  const read = parseArgs({ args: [...args], allowPositionals: true, options })
  const [action, ...given] = read.positionals
  const { 'dry-run': isDryRun = false, jsonl: isJsonl = false, ...fields } = read.values
  const [first, second, third] = given
  if (isDryRun && action !== 'import') refuse('--dry-run is for "marketers import".')
  if (isJsonl && action !== 'export') refuse('--jsonl is for "marketers export".')
  if (Object.keys(fields).length > 0 && action !== 'set') refuse('Fields are for "marketers set".')
  const atMost = (most: number) => {
    if (given.length > most) refuse(`What is "${given[most]}"? Nothing stands there.`)
  }
  atMost(action === 'proposals' ? 3 : action === 'list' || action === 'export' ? 0 : 1)
  switch (action) {
    case 'import':
      return { action, file: first ?? refuse('Which file? "-" is standard input.'), isDryRun }
    case 'export':
      return { action, format: isJsonl ? 'jsonl' : 'yaml' }
    case 'list':
      return { action }
    case 'show':
    case 'remove':
      return { action, key: keyOf(first) }
    case 'set':
      if (Object.keys(fields).length === 0) refuse('Say what to set, as --state confirmed.')
      return { action, key: keyOf(first), fields }
    case 'proposals':
      if (first === undefined) return { action }
      if (first !== 'take' && first !== 'dismiss') refuse('Proposals are taken or dismissed.')
      return { action: first, signer: second ?? refuse('Which signer?'), listId: third ?? '' }
    default:
      return refuse('Say what to do with the marketers.')
  }
}

function keyOf(given: string | undefined): string {
  return given ?? refuse('Which marketer? "marketers list" shows their keys.')
}

function refuse(problem: string): never {
  throw new UsageError([problem])
}
