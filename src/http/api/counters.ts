import { Router } from 'express'
import { authenticate } from '../authenticate.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendJson } from './results.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'credentials'>

const parameters = ['kind', 'value', 'type', 'hash', 'series'] as const

/** What is counted of a link, an address, a file …: `/api/v1/counters`, for administrators. */
export function countersApi(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const { isAdmin } = await authenticate(req, site.credentials, ['bearer', 'basic'], 'read')
    if (!isAdmin) throw new ProblemError('not-allowed', 'The counters are for administrators.')
    const { series, ...given } = readParameters(new URL(req.originalUrl, 'http://site'))
    // Loaded by the first who asks: taking messages apart needs much that intake does not.
    const { ask } = await import('../../counters/look-up/ask.ts')
    const answer = await ask(site, given, seriesOf(series))
    if ('fault' in answer) throw new ProblemError('bad-field', answer.fault)
    sendJson(res, 200, answer)
  })
  router.all('/', () => {
    throw new ProblemError('wrong-method', 'This address takes GET.', { allow: 'GET, HEAD' })
  })
  return router
}

/** Each at most once, and nothing else: what is misspelled is not passed over. */
function readParameters({ searchParams }: URL) {
  const given: Partial<Record<(typeof parameters)[number], string>> = {}
  for (const [key, value] of searchParams) {
    const name = parameters.find((one) => one === key)
    if (!name) {
      const known = parameters.join(', ')
      throw new ProblemError('bad-field', `There is no "${key.slice(0, 40)}". Known are ${known}.`)
    }
    if (given[name] !== undefined) throw new ProblemError('bad-field', `Say ${name} only once.`)
    given[name] = value
  }
  return given
}

function seriesOf(given: string | undefined): 'told' | 'all' {
  if (given === undefined || given === 'told') return 'told'
  if (given === 'all') return 'all'
  throw new ProblemError('bad-field', 'series must be "told" or "all".')
}
