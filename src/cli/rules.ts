import { concealKeys } from '../mail/conceal-keys.ts'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { shownLine } from '../mail/text.ts'
import type { App } from '../app.ts'
import {
  listRuleProcesses,
  listRuleSets,
  type RuleProcess,
  type RuleSetLine,
} from '../db/rule-sets.ts'
import { reasonOf, UsageError } from '../errors.ts'
import { RULE_PROCESS_FORGOTTEN_MS } from '../judging/live-rules.ts'
import {
  actingRules,
  type Applied,
  applyRules,
  dryRunRules,
  findRules,
  rollBackRules,
  ruleKnowledge,
  rulesOf,
  type RuleVersion,
} from '../judging/rule-versions.ts'
import type { FactDefinition } from '../verdict/facts/fact.ts'
import { dryRunReports, type DryRunResult } from '../verdict/rules/dry-run.ts'
import {
  changeLines,
  changesInWords,
  compareRules,
  compileRules,
  signed,
} from '../verdict/rules/rule-book.ts'
import { faultLine, type Rule, ruleBounds, type RuleFault } from '../verdict/rules/rule-file.ts'
import { columns } from './command.ts'

/** The subcommands of `rules`; a file is given by its path, `-` is standard input. */
export type RulesRequest =
  | { action: 'list' }
  | { action: 'history' }
  | { action: 'facts' }
  | { action: 'show'; version: number | undefined }
  | { action: 'check'; file: string }
  | { action: 'diff'; file: string }
  | { action: 'dry-run'; file: string; last: number }
  | { action: 'apply'; file: string; note: string }
  | { action: 'rollback'; version: number }

/**
 * Parses the arguments of `rules`.
 *
 * @throws UsageError
 */
export function parseRules(args: readonly string[]): RulesRequest {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { last: { type: 'string' }, note: { type: 'string' } },
  })
  const [action, given, ...rest] = positionals
  const { last, note } = values
  if (last !== undefined && action !== 'dry-run') refuse('--last works only with "rules dry-run".')
  if (note !== undefined && action !== 'apply') refuse('--note works only with "rules apply".')
  if (rest.length > 0) refuse(`Unexpected argument "${rest[0]}".`)
  switch (action) {
    case 'list':
    case 'history':
    case 'facts':
      if (given !== undefined) refuse(`Unexpected argument "${given}".`)
      return { action }
    case 'show':
      return { action, version: given === undefined ? undefined : versionOf(given) }
    case 'rollback':
      return { action, version: versionOf(given) }
    case 'check':
    case 'diff':
      return { action, file: fileOf(given) }
    case 'dry-run':
      return { action, file: fileOf(given), last: lastOf(last) }
    case 'apply':
      return { action, file: fileOf(given), note: note ?? '' }
    default:
      return refuse('Name an action. See "rules --help".')
  }
}

function fileOf(given: string | undefined): string {
  return given ?? refuse('Name a FILE, or - for standard input.')
}

function versionOf(given: string | undefined): number {
  if (given !== undefined && /^\d{1,9}$/.test(given)) return Number(given)
  return refuse('VERSION must be a number. "rules history" lists them; 0 is the shipped version.')
}

function lastOf(given: string | undefined): number {
  if (given === undefined) return dryRunReports.usual
  const last = /^\d{1,9}$/.test(given) ? Number(given) : 0
  if (last >= 1 && last <= dryRunReports.max) return last
  return refuse(`--last must be a number from 1 to ${dryRunReports.max}.`)
}

function refuse(problem: string): never {
  throw new UsageError([problem])
}

const CHANGED_SHOWN = 100

/** Formats the active rules, the processes that use them, and the rules that were cut off. */
function rulesText(
  { version, isShipped }: RuleVersion,
  rules: readonly Rule[],
  processes: readonly RuleProcess[],
): string {
  const origin = isShipped ? ', as shipped' : ''
  const cutOff = new Set(
    processes
      .filter((process) => process.version === version)
      .flatMap(({ health }) => health.filter((one) => one.cutOff).map(({ symbol }) => symbol)),
  )
  return [
    `Version ${version}${origin}: ${rules.length} rules.`,
    ...processes.map(({ name, version: its, fault }) =>
      fault === null
        ? `${name} runs version ${its}.`
        : `${name} runs version ${its}, as it cannot use a newer one:\n${shownLine(fault, 500)}`,
    ),
    '',
    ...columns(
      rules.map(({ symbol, weight, meaning, isEnabled }) => [
        symbol,
        signed(weight),
        `${isEnabled ? '' : '(off) '}${cutOff.has(symbol) ? '(switched off) ' : ''}${meaning}`,
      ]),
    ),
  ].join('\n')
}

/** Formats the list of versions, newest first. */
function historyText(lines: readonly RuleSetLine[]): string {
  if (lines.length === 0)
    return 'No rules have been applied. The rules shipped with the program are active.'
  return columns(
    lines.map(({ version, appliedAt, note }) => [
      String(version),
      appliedAt.toISOString().slice(0, 19).replace('T', ' '),
      shownLine(note),
    ]),
  ).join('\n')
}

/** Formats the list of all facts that conditions may use. */
function factsText(definitions: readonly FactDefinition[]): string {
  const types = { bool: 'bool', double: 'number', string: 'string', strings: 'list of strings' }
  return columns(
    definitions.map(({ group, name, type, meaning }) => [`${group}.${name}`, types[type], meaning]),
  ).join('\n')
}

/** Describes the effect that a set of rules would have had. */
function dryRunText(result: DryRunResult): string {
  const { reports, changed, changedTotal, moves, symbols, errors, cutOff } = result
  const more = changedTotal - Math.min(changed.length, CHANGED_SHOWN)
  return [
    ...columns(
      changed
        .slice(0, CHANGED_SHOWN)
        .map(({ id, before, after, scoreBefore, scoreAfter, gained, lost }) => [
          id,
          `${before} → ${after}`,
          `${rounded(scoreBefore)} → ${rounded(scoreAfter)}`,
          [...gained.map((name) => `+${name}`), ...lost.map((name) => `-${name}`)].join(' '),
        ]),
    ),
    ...(more > 0 ? [`And ${more} more.`] : []),
    ...(symbols.length === 0 ? [] : ['', 'Symbols raised before and after:']),
    ...columns(symbols.map((one) => [`  ${one.symbol}`, String(one.before), String(one.after)])),
    ...errors.map((one) => `${one.symbol} could not be evaluated ${one.errors} times.`),
    ...cutOff.map((symbol) => `${symbol} takes too much time and would be switched off.`),
    ...(moves.length === 0 ? [] : ['']),
    ...moves.map(({ before, after, reports: count }) => `${count}: ${before} → ${after}`),
    `${changedTotal} of ${reports} reports would get a different verdict.`,
  ].join('\n')
}

function rounded(score: number): string {
  return String(Math.round(score * 100) / 100)
}

type Needs = Pick<App, 'pool' | 'clock'>

export type OpenDatabase = <T>(chore: (app: Needs) => Promise<T>) => Promise<T>

export type RulesIo = {
  stdin: NodeJS.ReadableStream
  stdout: { write: (text: string) => unknown }
  stderr: { write: (text: string) => unknown; isTTY?: boolean }
}

const VERSIONS_SHOWN = 100
const EVERYWHERE_MS = 5_000
const { definitions } = ruleKnowledge

/**
 * Runs the subcommand. Returns 0 on success, or 1 if it was refused because a file has errors or a
 * version does not exist.
 *
 * @throws UsageError if a file cannot be read
 */
export async function runRules(
  request: RulesRequest,
  open: OpenDatabase,
  io: RulesIo,
): Promise<0 | 1> {
  const say = (text: string) => void io.stdout.write(`${text}\n`)
  switch (request.action) {
    case 'facts':
      say(factsText(definitions))
      return 0
    case 'check':
      return check(await contentOf(request.file, io), request.file, io)
    case 'list':
      say(await open(list))
      return 0
    case 'history':
      say(await open(history))
      return 0
    case 'show': {
      const found = await open(({ pool }) =>
        request.version === undefined ? actingRules(pool) : findRules(pool, request.version),
      )
      if (!found) return noVersion(request.version, io)
      io.stdout.write(found.content)
      return 0
    }
    case 'diff':
      return diff(await contentOf(request.file, io), request.file, open, io)
    case 'dry-run':
      return dryRun(await contentOf(request.file, io), request, open, io)
    case 'apply':
      return apply(await contentOf(request.file, io), request, open, io)
    case 'rollback':
      return rollBack(request.version, open, io)
  }
}

async function contentOf(file: string, { stdin }: RulesIo): Promise<string> {
  const bytes = await (file === '-' ? buffer(stdin) : readFile(file)).catch((error: unknown) => {
    throw new UsageError([`Cannot read ${file}: ${reasonOf(error)}`])
  })
  if (bytes.length > ruleBounds.fileBytesMax) {
    throw new UsageError([`${file} is larger than ${ruleBounds.fileBytesMax / 1024} KB.`])
  }
  return bytes.toString()
}

/** Compiles the rules of a file; prints its errors and returns undefined if there are any. */
function compiled(content: string, file: string, io: RulesIo): readonly Rule[] | undefined {
  const result = compileRules(content, definitions)
  if ('rules' in result) return result.rules.rules
  printFaults(result.faults, file, io)
  return undefined
}

function printFaults(faults: readonly RuleFault[], file: string, { stderr }: RulesIo): void {
  for (const fault of faults) stderr.write(`${file}:${faultLine(fault)}\n`)
}

function check(content: string, file: string, io: RulesIo): 0 | 1 {
  const rules = compiled(content, file, io)
  if (!rules) return 1
  const off = rules.filter(({ isEnabled }) => !isEnabled).length
  const besides = off === 0 ? '' : `, ${off} of them switched off`
  io.stdout.write(`${file} is valid: ${rules.length} rules${besides}.\n`)
  return 0
}

async function list({ pool, clock }: Needs): Promise<string> {
  const acting = await actingRules(pool)
  const since = new Date(clock().getTime() - RULE_PROCESS_FORGOTTEN_MS)
  const processes = await listRuleProcesses(pool, since)
  return rulesText(acting, rulesOf(acting, definitions), processes)
}

async function history({ pool }: Needs): Promise<string> {
  return historyText(await listRuleSets(pool, { before: undefined, limit: VERSIONS_SHOWN }))
}

async function diff(content: string, file: string, open: OpenDatabase, io: RulesIo) {
  const rules = compiled(content, file, io)
  if (!rules) return 1
  const acting = await open(({ pool }) => actingRules(pool))
  const changes = compareRules(rulesOf(acting, definitions), rules)
  const lines = [...changeLines(changes), `Against version ${acting.version}:`]
  io.stdout.write(`${lines.join('\n')} ${changesInWords(changes)}.\n`)
  return 0
}

async function dryRun(
  content: string,
  { file, last }: { file: string; last: number },
  open: OpenDatabase,
  io: RulesIo,
): Promise<0 | 1> {
  const { stdout, stderr } = io
  const tell = stderr.isTTY
    ? (reports: number) => void stderr.write(`\r${reports} of ${last} reports`)
    : undefined
  const { createParserPool } = await import('../parsing/parser-pool.ts')
  const parser = createParserPool(1)
  const tried = await open(({ pool, clock }) =>
    dryRunRules(pool, content, ruleKnowledge, {
      ...{ last, now: clock(), readWritten: parser.readWritten },
      ...(tell && { tell }),
    }),
  ).finally(() => parser.close())
  if (tell) stderr.write('\r\u001B[K')
  if ('faults' in tried) {
    printFaults(tried.faults, file, io)
    return 1
  }
  stdout.write(`${concealKeys(dryRunText(tried.result))}\n`)
  return 0
}

async function apply(
  content: string,
  { file, note }: { file: string; note: string },
  open: OpenDatabase,
  io: RulesIo,
): Promise<0 | 1> {
  return open(async (app) => {
    const { version } = await actingRules(app.pool)
    const act = { at: app.clock(), reporterId: null, note }
    const needs = { pool: app.pool, definitions }
    return printApplied(await applyRules(needs, content, version, act), file, app, io)
  })
}

async function rollBack(version: number, open: OpenDatabase, io: RulesIo): Promise<0 | 1> {
  return open(async (app) => {
    const act = { at: app.clock(), reporterId: null }
    const applied = await rollBackRules({ pool: app.pool, definitions }, version, act)
    if (!applied) return noVersion(version, io)
    return printApplied(applied, `version ${version}`, app, io)
  })
}

async function printApplied(
  applied: Applied,
  file: string,
  app: Needs,
  io: RulesIo,
): Promise<0 | 1> {
  if ('faults' in applied) {
    printFaults(applied.faults, file, io)
    return 1
  }
  if ('overtakenBy' in applied) {
    io.stderr.write(
      `Version ${applied.overtakenBy} was applied at the same time. Review it first.\n`,
    )
    return 1
  }
  io.stdout.write(`Applied version ${applied.version}: ${applied.changes}.\n`)
  io.stdout.write(`${await describeActivation(applied.version, app)}\n`)
  return 0
}

/** Waits a moment for the running processes and describes which have loaded the version. */
async function describeActivation(version: number, { pool, clock }: Needs): Promise<string> {
  const since = new Date(clock().getTime() - RULE_PROCESS_FORGOTTEN_MS)
  for (const end = performance.now() + EVERYWHERE_MS; ; await wait(100)) {
    const processes = await listRuleProcesses(pool, since)
    if (processes.length === 0) return 'No running process judges messages.'
    const outdated = processes.filter((one) => one.version < version)
    if (outdated.length === 0) return `All ${processes.length} running processes use it.`
    const allFailed = outdated.every(({ fault }) => fault !== null)
    if (allFailed || performance.now() > end) {
      const names = outdated.map(({ name, fault }) => `${name}: ${fault ?? 'no answer yet'}`)
      return [
        `${outdated.length} of ${processes.length} processes do not use it yet.`,
        ...names,
      ].join('\n')
    }
  }
}

function noVersion(version: number | undefined, { stderr }: RulesIo): 1 {
  stderr.write(`There is no version ${version}. "rules history" lists the versions.\n`)
  return 1
}
