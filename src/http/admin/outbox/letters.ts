import { Router, type Request } from 'express'
import {
  findLetter,
  findLetterMessage,
  type Letter,
  type LetterState,
  listLetters,
} from '../../../db/letters.ts'
import { unpack } from '../../../db/packed.ts'
import { releaseLettersToPeople } from '../../../feedback/release-held.ts'
import { sendMessage } from '../../download.ts'
import { type FormReader, readShortForm } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { isUuid, pageOf } from '../../paging.ts'
import { ProblemError } from '../../problem.ts'
import { shownBytes } from '../../shown-text.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock'> & FormReader

const LINES = 50
const COPY_BYTES_SHOWN = 256 * 1024

const states: readonly LetterState[] = [
  ...(['queued', 'held', 'sent', 'bounced', 'refused', 'suppressed'] as const),
]

/** What the forms do: `held` letters leave, `refused` ones are sent again. */
const releases = [
  { path: 'release', from: 'held' },
  { path: 'resend', from: 'refused' },
] as const

/** Mail to people: the list by state, the exact copy of each, and the forms that send them. */
export function letterRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const state = states.find((name) => name === req.query['state'])
    const before = isUuid(req.query['before']) ? req.query['before'] : undefined
    const rows = await listLetters(site.pool, { state, before }, LINES + 1)
    const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ state, before: id }))
    const released = Number(req.query['released'] ?? Number.NaN)
    sendAdminPage(req, res, {
      view: 'admin/letters',
      title: 'Letters',
      data: {
        ...{ lines, next, state, states, isFirst: before === undefined },
        released: Number.isSafeInteger(released) ? released : undefined,
      },
    })
  })
  router.get('/:id', async (req, res) => {
    const { letter, raw } = await requireLetter(req, site)
    const copyText = shownBytes(raw, COPY_BYTES_SHOWN)
    sendAdminPage(req, res, {
      view: 'admin/letter',
      title: 'Letter',
      data: { letter, copyText },
    })
  })
  router.get('/:id/message.eml', async (req, res) => {
    const { letter, raw } = await requireLetter(req, site)
    sendMessage(res, `letter-${letter.id}.eml`, raw)
  })
  releaseRoutes(router, site)
  return router
}

/** Puts letters in line again: one or all. */
function releaseRoutes(router: Router, site: Needs): void {
  for (const { path, from } of releases) {
    router.post(`/${path}`, async (req, res) => {
      const form = await readShortForm(req, res, site)
      const administrator = requireReporter(req, res)
      if (!administrator) return
      const letterId = form.text('id')
      // A broken name of one is not all of them.
      if (letterId !== undefined && !isUuid(letterId)) {
        throw new ProblemError('not-found', 'There is no such letter.')
      }
      const which = letterId === undefined ? 'all' : { letterId }
      const released = await releaseLettersToPeople(site, { which, from }, administrator.id)
      res.redirect(303, `/admin/outbox/letters?released=${released}`)
    })
  }
}

async function requireLetter(
  req: Request<{ id: string }>,
  { pool }: Needs,
): Promise<{ letter: Letter; raw: Buffer }> {
  const { id } = req.params
  const letter = isUuid(id) ? await findLetter(pool, id) : undefined
  const packed = letter && (await findLetterMessage(pool, letter.id))
  if (!letter || !packed) throw new ProblemError('not-found', 'There is no such letter.')
  return { letter, raw: await unpack(packed) }
}
