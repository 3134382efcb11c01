import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { App } from '../../app.ts'
import { listRuleProcesses } from '../../db/rule-processes.ts'
import { listRuleSets } from '../../db/rule-sets.ts'
import { reasonOf, UsageError } from '../../errors.ts'
import { dryRunRules } from '../../judging/rules/dry-run-rules.ts'
import { RULE_PROCESS_FORGOTTEN_MS } from '../../judging/rules/live-rules.ts'
import { ruleKnowledge } from '../../judging/rules/rule-knowledge.ts'
import {
  actingRules,
  applyRules,
  findRules,
  rollBackRules,
  rulesOf,
  type Applied,
} from '../../judging/rules/rule-versions.ts'
import { changeLines, changesInWords, compareRules } from '../../verdict/rules/compare-rules.ts'
import { compileRules } from '../../verdict/rules/compile-rules.ts'
import { faultLine, ruleBounds, type Rule, type RuleFault } from '../../verdict/rules/rule.ts'
import type { RulesRequest } from './rules-request.ts'
import { dryRunText, factsText, historyText, rulesText } from './rules-text.ts'

type Needs = Pick<App, 'pool' | 'clock'>

/** Runs a chore on the database. */
export type OpenDatabase = <T>(chore: (app: Needs) => Promise<T>) => Promise<T>

/** Where the command reads and writes. */
export type RulesIo = {
  stdin: NodeJS.ReadableStream
  stdout: { write: (text: string) => unknown }
  stderr: { write: (text: string) => unknown; isTTY?: boolean }
}

const VERSIONS_SHOWN = 100
const EVERYWHERE_MS = 5_000
const { definitions } = ruleKnowledge

/**
 * Does what was asked of the rules. 0 when it is done, 1 when it was refused: a file with faults,
 * or a version that is not there.
 *
 * @throws UsageError when a file cannot be read
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
    throw new UsageError([`${file} cannot be read: ${reasonOf(error)}`])
  })
  if (bytes.length > ruleBounds.fileBytesMax) {
    throw new UsageError([`${file} is larger than ${ruleBounds.fileBytesMax / 1024} KB.`])
  }
  return bytes.toString()
}

/** The rules of a file, or undefined after its faults were told. */
function compiled(content: string, file: string, io: RulesIo): readonly Rule[] | undefined {
  const result = compileRules(content, definitions)
  if ('rules' in result) return result.rules.rules
  tellFaults(result.faults, file, io)
  return undefined
}

function tellFaults(faults: readonly RuleFault[], file: string, { stderr }: RulesIo): void {
  for (const fault of faults) stderr.write(`${file}:${faultLine(fault)}\n`)
}

function check(content: string, file: string, io: RulesIo): 0 | 1 {
  const rules = compiled(content, file, io)
  if (!rules) return 1
  const off = rules.filter(({ isEnabled }) => !isEnabled).length
  const besides = off === 0 ? '' : `, ${off} of them off`
  io.stdout.write(`${file} has no faults: ${rules.length} rules${besides}.\n`)
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
  const tried = await open(({ pool }) =>
    dryRunRules(pool, content, ruleKnowledge, { last, ...(tell && { tell }) }),
  )
  if (tell) stderr.write('\r\u001B[K')
  if ('faults' in tried) {
    tellFaults(tried.faults, file, io)
    return 1
  }
  stdout.write(`${dryRunText(tried.result)}\n`)
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
    const deed = { at: app.clock(), reporterId: null, note }
    const needs = { pool: app.pool, definitions }
    return tellApplied(await applyRules(needs, content, version, deed), file, app, io)
  })
}

async function rollBack(version: number, open: OpenDatabase, io: RulesIo): Promise<0 | 1> {
  return open(async (app) => {
    const deed = { at: app.clock(), reporterId: null }
    const applied = await rollBackRules({ pool: app.pool, definitions }, version, deed)
    if (!applied) return noVersion(version, io)
    return tellApplied(applied, `version ${version}`, app, io)
  })
}

async function tellApplied(
  applied: Applied,
  file: string,
  app: Needs,
  io: RulesIo,
): Promise<0 | 1> {
  if ('faults' in applied) {
    tellFaults(applied.faults, file, io)
    return 1
  }
  if ('overtakenBy' in applied) {
    io.stderr.write(`Version ${applied.overtakenBy} was applied meanwhile. Look at it first.\n`)
    return 1
  }
  io.stdout.write(`Version ${applied.version} acts: ${applied.changes}.\n`)
  io.stdout.write(`${await whereItActs(applied.version, app)}\n`)
  return 0
}

/** Waits a moment for the processes that run, and says which have the version. */
async function whereItActs(version: number, { pool, clock }: Needs): Promise<string> {
  const since = new Date(clock().getTime() - RULE_PROCESS_FORGOTTEN_MS)
  for (const end = performance.now() + EVERYWHERE_MS; ; await wait(100)) {
    const processes = await listRuleProcesses(pool, since)
    if (processes.length === 0) return 'No process is running that judges.'
    const late = processes.filter((one) => one.version < version)
    if (late.length === 0) return `All ${processes.length} running processes have it.`
    const isHopeless = late.every(({ fault }) => fault !== null)
    if (isHopeless || performance.now() > end) {
      const names = late.map(({ name, fault }) => `${name}: ${fault ?? 'nothing heard'}`)
      return [`${late.length} of ${processes.length} processes do not have it.`, ...names].join(
        '\n',
      )
    }
  }
}

function noVersion(version: number | undefined, { stderr }: RulesIo): 1 {
  stderr.write(`There is no version ${version}; "rules history" lists them.\n`)
  return 1
}
