import type { Request, Response } from 'express'
import type { ConsumerDetails } from '../../../db/consumer-list.ts'
import { listScopes } from '../../../db/consumer-scopes.ts'
import { listFeedbackTo } from '../../../db/feedback-reports.ts'
import { listSuppressed } from '../../../db/suppressions.ts'
import { consumerLink } from '../../../feedback/consumer-link.ts'
import { scopeText } from '../../../verdict/consumers/consumer-scope.ts'
import { healthAt } from '../../../verdict/contact-health.ts'
import { mayTell, stateAt } from '../../../verdict/may-tell.ts'
import { shownTelling } from '../../consumers/telling-form.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config' | 'publicUrl'>

const FEEDBACK_LINES = 20

const deeds: Record<string, string> = {
  set: 'What you said is kept. It holds from now on.',
  pause: 'Nothing is sent to it during the pause.',
  resume: 'It is told again.',
  stop: 'Nothing more is sent to it; what was waiting is called back.',
  enroll: 'It is enrolled.',
  nothing: 'There was nothing to do.',
}

/** The page of one consumer. */
export async function sendConsumer(
  req: Request,
  res: Response,
  site: Needs,
  { consumer, fault }: { consumer: ConsumerDetails; fault: string | undefined },
): Promise<void> {
  const now = site.clock()
  const [scopes, feedback, suppressed] = await Promise.all([
    listScopes(site.pool, [consumer.id]),
    listFeedbackTo(site.pool, consumer.id, FEEDBACK_LINES),
    listSuppressed(site.pool, [consumer.address], now),
  ])
  const suppression = suppressed.get(consumer.address.toLowerCase())
  const done = new URL(req.originalUrl, 'http://site').searchParams.get('done')
  sendAdminPage(req, res, {
    view: 'admin/consumers/one',
    title: consumer.address,
    status: fault === undefined ? 200 : 422,
    data: {
      consumer,
      fault,
      done: done !== null && Object.hasOwn(deeds, done) ? deeds[done] : undefined,
      state: stateAt(consumer, now),
      health: healthAt(consumer, now),
      standing: mayTell(consumer, suppression, now),
      suppression,
      scopes: (scopes.get(consumer.id) ?? []).map(scopeText),
      telling: shownTelling(consumer),
      feedback,
      link: consumerLink(consumer.id, { ...site.config, publicUrl: site.publicUrl }),
    },
  })
}
