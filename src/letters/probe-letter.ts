import type { App } from '../app.ts'
import { listProbeLetters, listProbes, PROBE_DAYS } from '../db/mail-probes.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { findReporterSettings, holdReporters, type Reporter } from '../db/reporters.ts'
import { DAY_MS } from '../durations.ts'
import { type Language, textsIn } from '../texts/messages.ts'
import { composeBody, type LetterBody } from './letter-body.ts'
import { queueLetter } from './send-letter.ts'

const PROBES_A_DAY = 3

/** Composes a letter that its reader reports, so that it shows the way of the reader's mail. */
export function composeProbe(
  language: Language,
  publicUrl: string,
): LetterBody & { subject: string } {
  const texts = textsIn(language)
  const parts = [
    texts('accountLetters.greeting'),
    ...texts('probeLetter.text'),
    { action: texts('relays.show'), url: `${publicUrl}/relays` },
    { small: texts('probeLetter.after', { days: PROBE_DAYS }) },
  ]
  return { subject: texts('probeLetter.subject'), ...composeBody(parts, language) }
}

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'>
type Recipient = Pick<Reporter, 'id' | 'email'>
type Refused = 'no-mail' | 'too-many'

/**
 * Sends a test letter to a reporter. Its address for answers is signed and leads to this letter, so
 * it is recognized when it is reported. `no-mail`: this site sends no mail; `too-many`: the
 * reporter had three within a day.
 */
export async function sendProbe(app: Needs, reporter: Recipient): Promise<'sent' | Refused> {
  const { is } = await sendUnless<never>(app, reporter, () => Promise.resolve(undefined))
  return is
}

/** How long a program is not sent another letter after one came back, or did not. */
const KNOWN_DAYS = 30
const UNDER_WAY_DAYS = 7

/** The answer to a program. `known`: a letter showed the way recently. */
export type DueProbe =
  | { is: 'sent' | 'under-way'; letterId: string }
  | { is: 'known' | Refused; letterId: null }

/**
 * Sends a test letter that a program reports by itself, unless one showed the way within 30 days,
 * or was sent within 7 days: then it is that one for which the program should look.
 */
export function sendDueProbe(app: Needs, reporter: Recipient): Promise<DueProbe> {
  return sendUnless<DueProbe>(app, reporter, async (tx, now) => {
    const since = (days: number) => new Date(now.getTime() - days * DAY_MS)
    const came = await listProbes(tx, reporter.id)
    if (came[0] && came[0].cameAt >= since(KNOWN_DAYS)) return { is: 'known', letterId: null }
    const [last] = await listProbeLetters(tx, reporter.id, since(UNDER_WAY_DAYS))
    return last && { is: 'under-way', letterId: last.id }
  })
}

type Sent = { is: 'sent'; letterId: string } | { is: Refused; letterId: null }

/** Sends a test letter unless `find` returns a reason not to. */
async function sendUnless<Reason>(
  app: Needs,
  { id, email }: Recipient,
  find: (tx: Db, now: Date) => Promise<Reason | undefined>,
): Promise<Sent | Reason> {
  const { publicUrl, smtpUrl } = app.config
  if (smtpUrl === undefined) return { is: 'no-mail', letterId: null }
  const now = app.clock()
  return inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [id], 'change')
    const reason = await find(tx, now)
    if (reason !== undefined) return reason
    const earlier = await listProbeLetters(tx, id, new Date(now.getTime() - DAY_MS))
    if (earlier.length >= PROBES_A_DAY) return { is: 'too-many', letterId: null }
    const language = (await findReporterSettings(tx, id))?.language ?? 'en'
    const about = { kind: 'probe', reporterId: id, to: email, language } as const
    const how = { isAnswerable: true, autoSubmitted: 'generated' } as const
    const letter = { ...about, ...how, ...composeProbe(language, publicUrl) }
    return { is: 'sent', letterId: await queueLetter(tx, letter, app, now) }
  })
}
