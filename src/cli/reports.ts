import { z } from 'zod'
import { textField } from '../actions.ts'
import { listMassActions } from '../db/mass-actions.ts'
import { listFoundReports } from '../db/search.ts'
import { UsageError } from '../errors.ts'
import { refusal } from '../phrase.ts'
import { decideCampaign, undecideCampaign } from '../reports/campaign-decisions.ts'
import { listFound, openSearch } from '../search/find-reports.ts'
import {
  startDeletion,
  startMassAction,
  stopMassAction,
  undoMassAction,
} from '../search/mass-actions.ts'
import { parseSearch, SEARCH_CHARS_MAX } from '../search/syntax.ts'
import { refusalsIn } from '../texts/phrases.ts'
import { defineQuery, type Operations } from './command.ts'

const LINES_MAX = 1_000
const ACTIONS_MAX = 50

const search = defineQuery({
  name: 'reports search',
  summary: 'find reports, newest first, as JSON lines',
  input: z.object({
    search: textField(SEARCH_CHARS_MAX, refusal('refused.search')).meta({ argument: 'SEARCH' }),
  }),
  async print({ search: q }, { pool }) {
    const parsed = parseSearch(q)
    if ('problems' in parsed) throw new UsageError(refusalsIn('en', parsed.problems))
    const opened = await openSearch(pool, parsed.clauses)
    const ids = await listFound(pool, opened, { before: undefined, limit: LINES_MAX })
    return listFoundReports(pool, ids)
  },
})

const actions = defineQuery({
  name: 'reports actions',
  summary: 'list the latest actions on many reports, as JSON lines',
  print: (_, { pool }) => listMassActions(pool, ACTIONS_MAX),
})

export const operations: Operations = [
  ...[search, actions],
  ...[startMassAction, startDeletion, stopMassAction, undoMassAction],
  ...[decideCampaign, undecideCampaign],
]
