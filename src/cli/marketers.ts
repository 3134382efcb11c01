import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import type { App } from '../app.ts'
import {
  decideProposal,
  findMarketer,
  keepMarketer,
  listMarketers,
  listProposals,
  type MarketerAction,
  removeMarketer,
} from '../db/marketers.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { UsageError } from '../errors.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import {
  checkMarketer,
  marketerFaultLine,
  readMarketers,
  writeMarketers,
} from '../verdict/marketers/marketer-file.ts'
import { isSameMarketer, type Marketer, writtenMarketer } from '../verdict/marketers/marketer.ts'
import { draftMarketer } from '../verdict/marketers/propose.ts'

/** The subcommands of `marketers`; a file is given by its path, `-` is standard input. */
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
 * Parses the arguments of `marketers`.
 *
 * @throws UsageError
 */
export function parseMarketers(args: readonly string[]): MarketersRequest {
  const read = parseArgs({ args: [...args], allowPositionals: true, options })
  const [action, ...given] = read.positionals
  const { 'dry-run': isDryRun = false, jsonl: isJsonl = false, ...fields } = read.values
  const [first, second, third] = given
  if (isDryRun && action !== 'import') refuse('--dry-run works only with "marketers import".')
  if (isJsonl && action !== 'export') refuse('--jsonl works only with "marketers export".')
  if (Object.keys(fields).length > 0 && action !== 'set')
    refuse('Field options work only with "marketers set".')
  const atMost = (most: number) => {
    if (given.length > most) refuse(`Unexpected argument "${given[most]}".`)
  }
  atMost(action === 'proposals' ? 3 : action === 'list' || action === 'export' ? 0 : 1)
  switch (action) {
    case 'import':
      return { action, file: first ?? refuse('Name a FILE, or - for standard input.'), isDryRun }
    case 'export':
      return { action, format: isJsonl ? 'jsonl' : 'yaml' }
    case 'list':
      return { action }
    case 'show':
    case 'remove':
      return { action, key: keyOf(first) }
    case 'set':
      if (Object.keys(fields).length === 0)
        refuse('Name a field to set, for example --state confirmed.')
      return { action, key: keyOf(first), fields }
    case 'proposals':
      if (first === undefined) return { action }
      if (first !== 'take' && first !== 'dismiss')
        refuse('Use "marketers proposals take SIGNER" or "marketers proposals dismiss SIGNER".')
      return {
        action: first,
        signer: second ?? refuse('Name the signer of the proposal.'),
        listId: third ?? '',
      }
    default:
      return refuse('Name an action. See "marketers --help".')
  }
}

function keyOf(given: string | undefined): string {
  return given ?? refuse('Name the key of a marketer. "marketers list" shows the keys.')
}

function refuse(problem: string): never {
  throw new UsageError([problem])
}

type Needs = Pick<App, 'pool' | 'clock' | 'config'>
type Streams = {
  stdin: Readable
  stdout: { write: (text: string) => unknown }
  stderr: { write: (text: string) => unknown }
}
/** The output; with `complaints` the command fails. */
type Told = { text: string; complaints?: readonly string[] }

const PAGE = 500
const PROPOSALS_SHOWN = 200

/** Runs the subcommand and returns the exit code. */
export async function runMarketers(
  request: MarketersRequest,
  withApp: (chore: (app: App) => Promise<Told>) => Promise<Told>,
  { stdin, stdout, stderr }: Streams,
): Promise<number> {
  const given = request.action === 'import' ? await read(request.file, stdin) : ''
  const { text, complaints = [] } = await withApp((app) => tell(request, given, app))
  if (text !== '') stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  for (const complaint of complaints) stderr.write(`signalpost marketers: ${complaint}\n`)
  return complaints.length === 0 ? 0 : 1
}

async function read(file: string, stdin: Readable): Promise<string> {
  return file === '-' ? textOf(stdin) : readFile(file, 'utf8')
}

function tell(request: MarketersRequest, given: string, app: Needs): Promise<Told> {
  switch (request.action) {
    case 'import':
      return importMarketers(given, request.isDryRun ? 'dry-run' : 'keep', app)
    case 'export':
      return exported(request.format, app)
    case 'list':
      return listed(app)
    case 'show':
      return shown(request.key, app)
    case 'remove':
      return removed(request.key, app)
    case 'set':
      return changed(request.key, request.fields, app)
    case 'proposals':
      return proposed(app)
    case 'take':
    case 'dismiss':
      return decided(request, app)
  }
}

/** Imports a file completely or not at all. Marketers already in the registry are not changed. */
async function importMarketers(text: string, mode: 'keep' | 'dry-run', app: Needs): Promise<Told> {
  const reading = readMarketers(text, ownNamesOf(app.config))
  if ('faults' in reading) {
    return { text: '', complaints: reading.faults.map(marketerFaultLine) }
  }
  const known = new Map((await all(app.pool)).map((one) => [one.key, one]))
  const added = reading.marketers.filter(({ key }) => !known.has(key))
  const different = reading.marketers.filter((one) => {
    const before = known.get(one.key)
    return before !== undefined && !isSameMarketer(before, one)
  })
  if (mode === 'keep') {
    await inTransaction(app.pool, async (tx) => {
      for (const one of [...added, ...different]) await keepMarketer(tx, one, deedOf(app))
    })
  }
  const same = reading.marketers.length - added.length - different.length
  const would = mode === 'keep' ? '' : 'Dry run, nothing was saved: '
  const counts = `${added.length} added, ${different.length} changed, ${same} unchanged.`
  return { text: `${would}${counts}` }
}

async function exported(format: 'yaml' | 'jsonl', { pool }: Needs): Promise<Told> {
  return { text: writeMarketers(await all(pool), format) }
}

async function listed({ pool }: Needs): Promise<Told> {
  const lines = (await all(pool)).map(({ key, state, name, signers, ranges }) =>
    [key.padEnd(30), state.padEnd(10), name, `(${[...signers, ...ranges].join(', ')})`].join(' '),
  )
  return { text: lines.length > 0 ? lines.join('\n') : 'There are no marketers.' }
}

async function shown(key: string, { pool }: Needs): Promise<Told> {
  const marketer = await findMarketer(pool, key)
  return marketer ? { text: writeMarketers([marketer], 'yaml') } : missing(key)
}

async function removed(key: string, app: Needs): Promise<Told> {
  const isGone = await inTransaction(app.pool, (tx) => removeMarketer(tx, key, deedOf(app)))
  return isGone ? { text: `Removed ${key}.` } : missing(key)
}

async function changed(
  key: string,
  fields: Readonly<Record<string, string>>,
  app: Needs,
): Promise<Told> {
  const before = await findMarketer(app.pool, key)
  const written = before ? writtenMarketer(before) : { key }
  const said = Object.entries(fields).map(([field, text]) => [
    field.replaceAll('-', '_'),
    listFields.has(field) ? listOf(text) : text === 'none' ? null : text,
  ])
  const draft = { ...written, ...(Object.fromEntries(said) as object) }
  const checked = checkMarketer(draft, ownNamesOf(app.config))
  if ('faults' in checked) {
    const lines = checked.faults.map(({ field = 'marketer', reason }) => `${field}: ${reason}`)
    return { text: '', complaints: lines }
  }
  await inTransaction(app.pool, (tx) => keepMarketer(tx, checked.marketer, deedOf(app)))
  return { text: writeMarketers([checked.marketer], 'yaml') }
}

const listFields: ReadonlySet<string> = new Set(['signers', 'ranges', 'list-ids', 'authors'])

function listOf(text: string): string[] {
  if (text === 'none') return []
  return text.split(',').map((one) => one.trim())
}

async function proposed({ pool }: Needs): Promise<Told> {
  const lines = (await listProposals(pool, PROPOSALS_SHOWN)).map((one) =>
    [
      `${one.signer} ${one.listId}`.trim().padEnd(50),
      `${one.messages} messages from at least ${one.reportersAtLeast} reporters:`,
      JSON.stringify(one.subjects[0] ?? ''),
    ].join(' '),
  )
  return { text: lines.length > 0 ? lines.join('\n') : 'No marketers are proposed.' }
}

async function decided(
  { action, signer, listId }: { action: 'take' | 'dismiss'; signer: string; listId: string },
  app: Needs,
): Promise<Told> {
  const state = action === 'take' ? 'taken' : 'dismissed'
  return inTransaction(app.pool, async (tx): Promise<Told> => {
    const found = await decideProposal(tx, { signer, listId }, state, deedOf(app))
    if (!found)
      return {
        text: '',
        complaints: ['Proposal not found. "marketers proposals" lists the open ones.'],
      }
    if (action === 'dismiss') return { text: `Dismissed ${signer}. It will not be proposed again.` }
    const draft = draftMarketer(found)
    const before = await findMarketer(tx, draft.key)
    if (!before) await keepMarketer(tx, draft, deedOf(app))
    return { text: writeMarketers([before ?? draft], 'yaml') }
  })
}

function missing(key: string): Told {
  return { text: '', complaints: [`Unknown marketer "${key}". "marketers list" shows the keys.`] }
}

/** The actor for the audit log; null stands for the command line. */
function deedOf({ clock }: Needs): MarketerAction {
  return { at: clock(), reporterId: null }
}

async function all(db: Db): Promise<Marketer[]> {
  const found: Marketer[] = []
  for (;;) {
    const page = await listMarketers(db, { after: found.at(-1)?.key ?? '', limit: PAGE })
    found.push(...page)
    if (page.length < PAGE) return found
  }
}
