import { hash, timingSafeEqual } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import type { ForwardAnswer } from '../../outage/main-client.ts'
import { decodeEntries } from '../../outage/spool.ts'
import {
  answerPassword,
  answerToken,
  answerValid,
  passwordQuestion,
  tokenQuestion,
  validQuestion,
} from '../../people/front-callers.ts'
import { listPresentLimits } from '../../people/limits.ts'
import { takeForwarded } from '../../reports/take-forwarded.ts'
import { readJson } from '../bodies/body-tasks.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendJson } from './submission.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'log' | 'config' | 'credentials' | 'limits' | 'readBody'
>

/** Enough for the keys of all callers that a front remembers. */
const QUESTION_BYTES_MAX = 2_500_000
/** The values of a report, besides its message. */
const VALUES_BYTES_MAX = 1_000_000
const REPORTS_BYTES_MIN = 9_000_000

/**
 * The requests of fronts (`outage/main-client.ts`), for those that send FRONT_KEY. Without
 * FRONT_KEY, these URLs do not exist.
 */
export function frontApi(site: Needs): Router {
  const router = Router()
  router.use((req, _res, next) => {
    requireFrontKey(req, site.config.frontKey)
    next()
  })
  const questions: Readonly<Record<string, (given: Buffer) => object | Promise<object>>> = {
    '/token': (given) => answerToken(site.pool, readJson(given, tokenQuestion)),
    '/password': (given) => answerPassword(site, readJson(given, passwordQuestion)),
    '/valid': (given) => answerValid(site.pool, readJson(given, validQuestion), site.clock()),
    '/limits': async () => ({ limits: await listPresentLimits(site.pool) }),
  }
  for (const [path, answer] of Object.entries(questions)) {
    router.post(path, async (req, res) => {
      const given = await site.readBody(req, res, QUESTION_BYTES_MAX, 'front')
      sendJson(res, 200, await answer(given), 'owner')
    })
  }
  router.post('/reports', (req, res) => takeReports(req, res, site))
  return router
}

async function takeReports(req: Request, res: Response, site: Needs): Promise<void> {
  const largest = site.config.messageBytesMax + VALUES_BYTES_MAX
  const bytesMax = Math.max(REPORTS_BYTES_MIN, largest)
  const { entries, isDamaged } = decodeEntries(await site.readBody(req, res, bytesMax, 'front'))
  if (isDamaged || entries.length === 0) {
    throw new ProblemError('bad-request', 'The reports are incomplete or damaged.')
  }
  const refused = await takeForwarded(entries, site)
  const answer: ForwardAnswer = { taken: entries.length, refused: refused.map(({ id }) => id) }
  sendJson(res, 200, answer, 'owner')
}

function requireFrontKey(req: Request, frontKey: string | undefined): void {
  if (frontKey === undefined) throw new ProblemError('not-found', 'The API has no such URL.')
  const digestOf = (text: string) => hash('sha256', text, 'buffer')
  const given = digestOf(req.headers.authorization ?? '')
  if (timingSafeEqual(given, digestOf(`Bearer ${frontKey}`))) return
  throw new ProblemError('sign-in-needed', 'This is not the FRONT_KEY of this installation.')
}
