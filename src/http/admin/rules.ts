import { Router, type Request, type Response } from 'express'
import { countRaisedSymbols } from '../../db/judged-facts.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { listRuleProcesses, type RuleProcess } from '../../db/rule-processes.ts'
import { listRuleSets } from '../../db/rule-sets.ts'
import { RULE_PROCESS_FORGOTTEN_MS } from '../../judging/rules/live-rules.ts'
import { ruleKnowledge } from '../../judging/rules/rule-knowledge.ts'
import {
  actingRules,
  findRules,
  rollBackRules,
  rulesOf,
} from '../../judging/rules/rule-versions.ts'
import { changeLines, compareRules, signed } from '../../verdict/rules/compare-rules.ts'
import type { RuleHealth } from '../../verdict/rules/rule-book.ts'
import { readShortForm, type FormReader } from '../pages/form.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { pageOf, queryOf } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { ruleEditorRoutes } from './rule-editor.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LINES = 50
const REPORTS_COUNTED = 1_000
const { definitions } = ruleKnowledge

const cutOffWords = {
  'slow once': 'one evaluation took too long',
  'slow always': 'it is always slow',
  'over budget': 'all rules together cost too much',
}

/** The rules that judge, how they do, and their versions. */
export function ruleRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendRules(req, res, site))
  router.get('/facts', (req, res) =>
    sendAdminPage(req, res, {
      view: 'admin/rule-facts',
      title: 'Facts',
      data: { definitions, types: { double: 'number', string: 'text', strings: 'list of texts' } },
    }),
  )
  router.use('/edit', ruleEditorRoutes(site))
  router.get('/versions', (req, res) => sendVersions(req, res, site))
  router.get('/versions/:version', (req, res) => sendVersion(req, res, site))
  router.post('/versions/:version', async (req, res) => {
    const administrator = requireReporter(req, res)
    if (!administrator) return
    await readShortForm(req, res, site)
    const deed = { at: site.clock(), reporterId: administrator.id }
    const version = versionIn(req.params['version'])
    const applied =
      version === undefined
        ? undefined
        : await rollBackRules({ pool: site.pool, definitions }, version, deed)
    if (!applied) throw new ProblemError('not-found', 'There is no such version.')
    if ('version' in applied) {
      res.redirect(303, `/admin/rules${queryOf({ done: String(applied.version) })}`)
      return
    }
    const faults =
      'faults' in applied
        ? ['This program cannot run these rules any more: they are below, to be mended.']
        : ['Other rules were applied at the same moment. Look at them first.']
    await sendVersion(req, res, site, faults)
  })
  return router
}

async function sendRules(req: Request, res: Response, site: Needs): Promise<void> {
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
  sendAdminPage(req, res, {
    view: 'admin/rules',
    title: 'Rules',
    data: { acting, rules, processes, reports: counted.reports, done },
  })
}

function healthOf(symbol: string, processes: readonly RuleProcess[], acting: number): RuleHealth[] {
  return processes
    .filter(({ version }) => version === acting)
    .flatMap(({ health }) => health.filter((one) => one.symbol === symbol))
}

/** How a rule does in all processes that run it: the worst of each. */
function conditionOf(all: readonly RuleHealth[]) {
  const costs = all.flatMap(({ costUs }) => costUs ?? [])
  const cutOffs = all.flatMap(({ cutOff }) => cutOff ?? [])
  return {
    costUs: costs.length > 0 ? Math.max(...costs) : undefined,
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
    cutOff: cutOffs[0] ? cutOffWords[cutOffs[0].why] : undefined,
  }
}

async function sendVersions(req: Request, res: Response, site: Needs): Promise<void> {
  const before = versionIn(req.query['before'])
  const rows = await listRuleSets(site.pool, { before, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ version }) => ({ before: String(version) }))
  const emails = await listReporterEmails(site.pool, [
    ...new Set(lines.flatMap(({ appliedBy }) => appliedBy ?? [])),
  ])
  sendAdminPage(req, res, {
    view: 'admin/rule-versions',
    title: 'Versions of the rules',
    data: {
      lines: lines.map((line) => ({
        ...line,
        who: line.appliedBy === null ? 'command line' : (emails.get(line.appliedBy) ?? ''),
      })),
      next,
      isFirst: before === undefined,
    },
  })
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
  if (!found) throw new ProblemError('not-found', 'There is no such version.')
  const before = found.version === 0 ? undefined : await findRules(site.pool, found.version - 1)
  const rules = rulesOf(found, definitions)
  const changesFrom = (former: typeof found | undefined) =>
    former ? changeLines(compareRules(rulesOf(former, definitions), rules)) : []
  sendAdminPage(req, res, {
    view: 'admin/rule-version',
    title: `Rules, version ${found.version}`,
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
