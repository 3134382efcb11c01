import type { App } from '../app.ts'
import { listProbeLetters, PROBE_DAYS } from '../db/mail-probes.ts'
import { inTransaction } from '../db/pool.ts'
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

/**
 * Sends a test letter to a reporter. Its address for answers is signed and leads to this letter, so
 * it is recognized when it is reported. `no-mail`: this site sends no mail; `too-many`: the
 * reporter had three within a day.
 */
export async function sendProbe(
  app: Needs,
  { id, email }: Pick<Reporter, 'id' | 'email'>,
): Promise<'sent' | 'no-mail' | 'too-many'> {
  const { publicUrl, smtpUrl } = app.config
  if (smtpUrl === undefined) return 'no-mail'
  const now = app.clock()
  return inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [id], 'change')
    const earlier = await listProbeLetters(tx, id, new Date(now.getTime() - DAY_MS))
    if (earlier.length >= PROBES_A_DAY) return 'too-many'
    const language = (await findReporterSettings(tx, id))?.language ?? 'en'
    const about = { kind: 'probe', reporterId: id, to: email, language } as const
    const how = { isAnswerable: true, autoSubmitted: 'generated' } as const
    await queueLetter(tx, { ...about, ...how, ...composeProbe(language, publicUrl) }, app, now)
    return 'sent'
  })
}
