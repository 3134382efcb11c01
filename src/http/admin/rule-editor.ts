import { Router, type Request, type Response } from 'express'
import { dryRunRules } from '../../judging/rules/dry-run-rules.ts'
import { ruleKnowledge } from '../../judging/rules/rule-knowledge.ts'
import {
  actingRules,
  applyRules,
  findRules,
  RULE_NOTE_CHARS_MAX,
  rulesOf,
} from '../../judging/rules/rule-versions.ts'
import { storableText } from '../../mail/storable-text.ts'
import { changeLines, compareRules } from '../../verdict/rules/compare-rules.ts'
import { compileRules } from '../../verdict/rules/compile-rules.ts'
import { dryRunReports, type DryRunResult } from '../../verdict/rules/dry-run.ts'
import { ruleBounds, type RuleFault } from '../../verdict/rules/rule.ts'
import { readForm, type FormReader } from '../pages/form.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { queryOf } from '../paging.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

/** Every byte may come as three, and the line ends as six. */
const FORM_BYTES_MAX = ruleBounds.fileBytesMax * 6 + 64_000
const LAST_MAX = 10_000
const CHANGED_SHOWN = 100
const { definitions } = ruleKnowledge

/** Rules in the making: what was written, and what came of looking at it. */
type Draft = {
  content: string
  /** The version it was made from. */
  base: number
  note: string
  last: number
  faults: readonly RuleFault[]
  /** What went wrong besides the text. */
  problem?: string
  isSound?: boolean
  changes?: readonly string[]
  result?: DryRunResult
}

/** The rules as text, to be checked, tried on past reports and applied. */
export function ruleEditorRoutes(site: Needs): Router {
  const router = Router()
  let isTrying = false
  router.get('/', async (req, res) => {
    const acting = await actingRules(site.pool)
    const wish = req.query['from']
    const from = typeof wish === 'string' && /^\d{1,9}$/.test(wish) ? Number(wish) : acting.version
    const { content } = (await findRules(site.pool, from)) ?? acting
    const fresh = { base: acting.version, note: '', last: dryRunReports.usual, faults: [] }
    sendEditor(req, res, { ...fresh, content })
  })
  router.post('/', async (req, res) => {
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const { draft, wish } = await readDraft(req, res, site)
    if (wish === 'apply') {
      const deed = { at: site.clock(), reporterId: administrator.id, note: draft.note }
      return apply(req, res, site, draft, deed)
    }
    const compared = await compare(draft, site)
    if (wish !== 'try' || compared.isSound !== true) return sendEditor(req, res, compared)
    if (isTrying) {
      const problem = 'Somebody else is trying rules on past reports. Try again in a moment.'
      return sendEditor(req, res, { ...compared, problem })
    }
    isTrying = true
    try {
      const tried = await dryRunRules(site.pool, draft.content, ruleKnowledge, {
        last: draft.last,
        isOver: () => res.destroyed,
      })
      return sendEditor(req, res, { ...compared, ...tried })
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
    faults: [],
  }
  return { draft, wish: sent.text('do') }
}

async function compare(draft: Draft, site: Needs): Promise<Draft> {
  const compiled = compileRules(draft.content, definitions)
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
  deed: Parameters<typeof applyRules>[3],
): Promise<void> {
  const applied = await applyRules(
    { pool: site.pool, definitions },
    draft.content,
    draft.base,
    deed,
  )
  if ('version' in applied) {
    res.redirect(303, `/admin/rules${queryOf({ done: String(applied.version) })}`)
  } else if ('faults' in applied) sendEditor(req, res, { ...draft, faults: applied.faults })
  else {
    const problem =
      `Version ${applied.overtakenBy} was applied since you began. ` +
      'Below are your rules, and what they would change of it; apply them if that is what you want.'
    const compared = await compare({ ...draft, base: applied.overtakenBy }, site)
    sendEditor(req, res, { ...compared, problem })
  }
}

function sendEditor(req: Request, res: Response, draft: Draft): void {
  const { result, changes, isSound } = draft
  sendAdminPage(req, res, {
    view: 'admin/rule-editor',
    title: 'Edit the rules',
    status: draft.faults.length > 0 || draft.problem !== undefined ? 422 : 200,
    data: {
      ...draft,
      isSound: isSound === true,
      changes: changes ?? [],
      result: result && { ...result, changed: result.changed.slice(0, CHANGED_SHOWN) },
      lastMax: LAST_MAX,
      noteCharsMax: RULE_NOTE_CHARS_MAX,
    },
  })
}
