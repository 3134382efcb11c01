import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { countRaisedSymbols } from '../../db/analyses.ts'
import { readRuleListKinds } from '../../db/rule-lists.ts'
import { listRuleProcesses, listRuleSets, type RuleProcess } from '../../db/rule-sets.ts'
import { RULE_PROCESS_FORGOTTEN_MS } from '../../judging/live-rules.ts'
import {
  actingRules,
  applyRules,
  dryRunRules,
  findRules,
  rollBackRules,
  RULE_NOTE_CHARS_MAX,
  ruleKnowledge,
  rulesOf,
  shippedMeanings,
} from '../../judging/rule-versions.ts'
import { concealKeys } from '../../mail/conceal-keys.ts'
import { storableText } from '../../mail/text.ts'
import { dryRunReports, type DryRunResult } from '../../verdict/rules/dry-run.ts'
import {
  changeLines,
  compareRules,
  compileRules,
  type RuleHealth,
  signed,
} from '../../verdict/rules/rule-book.ts'
import type { Texts } from '../../texts/messages.ts'
import { ruleBounds, type RuleFault } from '../../verdict/rules/rule-file.ts'
import { type FormReader, readForm, readShortForm } from '../pages/form.ts'
import { sayMeaning } from '../history/symbols.ts'
import { queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { digitsParam, listPage, readNames } from './list-page.ts'
import { keptReportsPath } from './mass-actions.ts'
import { adminPage, type PageCall } from './page.ts'
import { requireRole } from './require-role.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'readWritten'> & FormReader

/** Percent-encoding may turn each byte into three, and line ends into six. */
const FORM_BYTES_MAX = ruleBounds.fileBytesMax * 6 + 64_000
const LAST_MAX = 10_000
const CHANGED_SHOWN = 100
const { definitions } = ruleKnowledge

/** A rule set being edited, and the results of its checks. */
type Draft = {
  content: string
  /** The version that the draft is based on. */
  base: number
  note: string
  last: number
  faults: readonly RuleFault[]
  /** A problem other than an error in the text. */
  problem?: string
  isSound?: boolean
  changes?: readonly string[]
  result?: DryRunResult
  /** Proves that this text was tested: only then it may be applied. */
  proof?: string
}

/** The rule editor: check rules, test them on past reports and apply them. */
function ruleEditorRoutes(site: Needs): Router {
  const router = Router()
  let isTrying = false
  router.get('/', async (req, res) => {
    const acting = await actingRules(site.pool)
    const given = req.query['from']
    const from =
      typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : acting.version
    const { content } = (await findRules(site.pool, from)) ?? acting
    const fresh = { base: acting.version, note: '', last: dryRunReports.usual, faults: [] }
    sendEditor(req, res, { ...fresh, content })
  })
  router.post('/', requireRole(site, 'operator'), async (req, res) => {
    const administrator = requireReporter(req)
    const { draft, action } = await readDraft(req, res, site)
    if (req.headers.accept === 'application/json') return sendFaults(req, res, draft, site)
    const isTested = isProof(draft, administrator.id, site)
    if (action === 'apply' && isTested) {
      const act = { at: site.clock(), reporterId: administrator.id, note: draft.note }
      return apply(req, res, site, draft, act)
    }
    const compared = await compare(draft, site)
    if (action === 'check' || compared.isSound !== true) return sendEditor(req, res, compared)
    if (isTrying) {
      const problem = visitOf(req).texts('editor.busy')
      return sendEditor(req, res, { ...compared, problem })
    }
    isTrying = true
    try {
      const tried = await dryRunRules(site.pool, draft.content, ruleKnowledge, {
        ...{ last: draft.last, now: site.clock(), readWritten: site.readWritten },
        isOver: () => res.destroyed,
      })
      const proof = proofOf(draft, administrator.id, site.config.secret.key('form'))
      const tested = 'faults' in tried ? tried : { ...tried, proof }
      const problem = action === 'apply' && visitOf(req).texts('editor.testedFirst')
      sendEditor(req, res, { ...compared, ...tested, ...(problem && { problem }) })
    } finally {
      isTrying = false
    }
  })
  return router
}

async function readDraft(req: Request, res: Response, site: Needs) {
  const limits = { bytesMax: FORM_BYTES_MAX, partBytesMax: FORM_BYTES_MAX }
  const sent = await readForm(req, res, site, limits)
  const content = (sent.bytes('content') ?? Buffer.alloc(0)).toString().replaceAll('\r\n', '\n')
  const number = (name: string, usual: number, most: number) => {
    const given = sent.text(name) ?? ''
    return /^\d{1,9}$/.test(given) ? Math.min(Number(given), most) : usual
  }
  const draft: Draft = {
    content,
    base: number('base', 0, Number.MAX_SAFE_INTEGER),
    note: storableText(sent.text('note') ?? '', RULE_NOTE_CHARS_MAX),
    last: Math.max(1, number('last', dryRunReports.usual, LAST_MAX)),
    proof: sent.text('proof') ?? '',
    faults: [],
  }
  return { draft, action: sent.text('do') }
}

/** Proves that a person tested a text on past reports, against the rules of `base`. */
function proofOf({ content, base }: Draft, reporterId: string, key: Buffer): string {
  const hash = createHash('sha256').update(content).digest('hex')
  const tested = `tested rules\n${reporterId}\n${base}\n${hash}`
  return createHmac('sha256', key).update(tested).digest('base64url')
}

function isProof(draft: Draft, reporterId: string, { config }: Needs): boolean {
  const given = Buffer.from(draft.proof ?? '')
  const compare = (key: Buffer) => {
    const proof = Buffer.from(proofOf(draft, reporterId, key))
    return (given.length === proof.length && timingSafeEqual(given, proof)) || undefined
  }
  return config.secret.find('form', compare) ?? false
}

/** A longer text is checked only when a person asks: it would delay other requests. */
const LIVE_CHARS_MAX = 100_000

/** Answers the script of the editor, which checks while a person writes. */
async function sendFaults(req: Request, res: Response, { content }: Draft, { pool }: Needs) {
  const { texts } = visitOf(req)
  res.setHeader('cache-control', 'no-store')
  if (content.length > LIVE_CHARS_MAX) {
    return void res.json({ faults: [], summary: texts('editor.tooLong') })
  }
  const compiled = compileRules(content, definitions, {
    knownLists: await readRuleListKinds(pool),
  })
  const faults = 'faults' in compiled ? compiled.faults : []
  const summary = texts(faults.length > 0 ? 'editor.faults' : 'editor.valid')
  const answer = { summary, faults: faults.map((fault) => describeFault(fault, texts)) }
  // As on all pages of the administration.
  res.type('application/json').send(concealKeys(JSON.stringify(answer)))
}

/** The place of an error as a sentence for the reader, and the reason, in English. */
function describeFault({ line, column, symbol, reason }: RuleFault, texts: Texts) {
  const place = texts('editor.line', { line })
  const at = column === undefined ? place : `${place}, ${texts('editor.column', { column })}`
  return { line, at, symbol, reason }
}

async function compare(draft: Draft, site: Needs): Promise<Draft> {
  const knownLists = await readRuleListKinds(site.pool)
  const compiled = compileRules(draft.content, definitions, { knownLists })
  if ('faults' in compiled) return { ...draft, faults: compiled.faults }
  const acting = await actingRules(site.pool)
  const changes = compareRules(rulesOf(acting, definitions), compiled.rules.rules)
  return { ...draft, isSound: true, changes: changeLines(changes) }
}

async function apply(
  req: Request,
  res: Response,
  site: Needs,
  draft: Draft,
  act: Parameters<typeof applyRules>[3],
): Promise<void> {
  const applied = await applyRules({ pool: site.pool, definitions }, draft.content, draft.base, act)
  if ('version' in applied) {
    res.redirect(303, `/admin/rules${queryOf({ done: String(applied.version) })}`)
  } else if ('faults' in applied) sendEditor(req, res, { ...draft, faults: applied.faults })
  else {
    const version = applied.overtakenBy
    const problem = visitOf(req).texts('editor.overtaken', { version })
    const compared = await compare({ ...draft, base: version }, site)
    sendEditor(req, res, { ...compared, problem })
  }
}

function sendEditor(req: Request, res: Response, draft: Draft): void {
  const { result, changes, isSound } = draft
  const { texts } = visitOf(req)
  sendAdminPage(req, res, {
    view: 'admin/rule-editor',
    title: texts('editor.title'),
    status: draft.faults.length > 0 || draft.problem !== undefined ? 422 : 200,
    data: {
      ...draft,
      faults: draft.faults.map((fault) => describeFault(fault, texts)),
      isSound: isSound === true,
      changes: changes ?? [],
      result: result && { ...result, changed: result.changed.slice(0, CHANGED_SHOWN) },
      lastMax: LAST_MAX,
      noteCharsMax: RULE_NOTE_CHARS_MAX,
    },
  })
}

const REPORTS_COUNTED = 1_000

const cutOffCodes = {
  'slow once': 'once',
  'slow always': 'always',
  'over budget': 'budget',
}

/** The active rules, their health, and their versions. */
export function ruleRoutes(site: Site): Router {
  const router = Router()
  router.use(
    adminPage(site, {
      view: 'admin/rules',
      title: 'rules.title',
      data: (call) => describeRules(call, site),
    }),
    adminPage(site, {
      at: '/facts',
      view: 'admin/rule-facts',
      title: 'rules.facts',
      data: () => ({ definitions }),
    }),
    listPage(site, {
      at: '/versions',
      view: 'admin/rule-versions',
      title: 'rules.versionsTitle',
      cursor: { before: digitsParam },
      read: async ({ before, limit }, { texts }) => {
        const rows = await listRuleSets(site.pool, { before: versionIn(before), limit })
        const people = rows.map(({ appliedBy }) => appliedBy)
        const nameOf = await readNames(site, people, texts)
        return rows.map(({ appliedBy, ...row }) => ({ ...row, who: nameOf(appliedBy) }))
      },
      next: ({ version }) => ({ before: String(version) }),
    }),
  )
  router.use('/edit', ruleEditorRoutes(site))
  router.get('/versions/:version', (req, res) => sendVersion(req, res, site))
  router.post('/versions/:version', requireRole(site, 'operator'), async (req, res) => {
    const administrator = requireReporter(req)
    await readShortForm(req, res, site)
    const act = { at: site.clock(), reporterId: administrator.id }
    const version = versionIn(req.params['version'])
    const applied =
      version === undefined
        ? undefined
        : await rollBackRules({ pool: site.pool, definitions }, version, act)
    if (!applied) throw new ProblemError('not-found', 'Version not found.')
    if ('version' in applied) {
      res.redirect(303, `/admin/rules${queryOf({ done: String(applied.version) })}`)
      return
    }
    const faults =
      'faults' in applied
        ? [visitOf(req).texts('rules.cannotRun')]
        : [visitOf(req).texts('rules.appliedMeanwhile')]
    await sendVersion(req, res, site, faults)
  })
  return router
}

async function describeRules({ req, language }: PageCall, site: Needs) {
  const since = new Date(site.clock().getTime() - RULE_PROCESS_FORGOTTEN_MS)
  const [acting, processes, counted] = await Promise.all([
    actingRules(site.pool),
    listRuleProcesses(site.pool, since),
    countRaisedSymbols(site.pool, REPORTS_COUNTED),
  ])
  const rules = rulesOf(acting, definitions).map((rule) => ({
    ...rule,
    weight: signed(rule.weight),
    raised: counted.raised.get(rule.symbol) ?? 0,
    ...conditionOf(healthOf(rule.symbol, processes, acting.version)),
  }))
  const done = versionIn(req.query['done'])
  const meaning = ({ symbol, meaning: written }: { symbol: string; meaning: string }) => {
    const isShipped = written === shippedMeanings().get(symbol)
    const named = { name: symbol, ...(isShipped ? {} : { meaning: written }) }
    return sayMeaning(named, language, 'operator')
  }
  const keptPath = keptReportsPath(site)
  return { meaning, acting, rules, processes, reports: counted.reports, done, keptPath }
}

function healthOf(symbol: string, processes: readonly RuleProcess[], acting: number): RuleHealth[] {
  return processes
    .filter(({ version }) => version === acting)
    .flatMap(({ health }) => health.filter((one) => one.symbol === symbol))
}

/** The health of a rule in all processes that run it: the worst value of each measure. */
function conditionOf(all: readonly RuleHealth[]) {
  const costs = all.flatMap(({ costUs }) => costUs ?? [])
  const cutOffs = all.flatMap(({ cutOff }) => cutOff ?? [])
  return {
    costUs: costs.length > 0 ? Math.max(...costs) : undefined,
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
    cutOff: cutOffs[0] && cutOffCodes[cutOffs[0].why],
  }
}

async function sendVersion(
  req: Request,
  res: Response,
  site: Needs,
  faults: readonly string[] = [],
): Promise<void> {
  const number = versionIn(req.params['version'])
  const [found, acting] = await Promise.all([
    number === undefined ? undefined : findRules(site.pool, number),
    actingRules(site.pool),
  ])
  if (!found) throw new ProblemError('not-found', 'Version not found.')
  const before = found.version === 0 ? undefined : await findRules(site.pool, found.version - 1)
  const rules = rulesOf(found, definitions)
  const changesFrom = (former: typeof found | undefined) =>
    former ? changeLines(compareRules(rulesOf(former, definitions), rules)) : []
  sendAdminPage(req, res, {
    view: 'admin/rule-version',
    title: visitOf(req).texts('rules.versionTitle', { version: found.version }),
    status: faults.length > 0 ? 422 : 200,
    data: {
      found,
      faults,
      isActing: found.version === acting.version,
      since: changesFrom(before),
      back: changesFrom(acting),
    },
  })
}

function versionIn(given: unknown): number | undefined {
  return typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : undefined
}
