import { takeAccountLink } from '../../db/account-links.ts'
import { insertConsent } from '../../db/consents.ts'
import { insertKarma } from '../../db/karmas.ts'
import { setLetterReporter } from '../../db/letters.ts'
import type { Db } from '../../db/pool.ts'
import { updateReporterSettings } from '../../db/reporter-settings.ts'
import { insertReporter } from '../../db/reporters.ts'
import { uuidv7 } from '../../world.ts'

/**
 * Makes the account that a link was mailed for, and uses the link up. Nobody vouches for it.
 * Undefined when the link does not work, or the address has got an account meanwhile.
 */
export async function makeAccount(
  tx: Db,
  tokenHash: Buffer,
  passwordHash: string,
  now: Date,
): Promise<string | undefined> {
  const link = await takeAccountLink(tx, 'confirm', tokenHash, now)
  if (!link) return undefined
  const { address: email, language, consent, consentedAt } = link
  const fresh = { id: uuidv7(now), email, isAdmin: false, passwordHash, createdAt: now }
  const id = await insertReporter(tx, fresh)
  if (id === undefined) return undefined
  await insertKarma(tx, { reporterId: id, isVouched: false, now })
  await updateReporterSettings(tx, id, { language })
  if (consent !== null && consentedAt !== null) {
    await insertConsent(tx, id, { version: consent, language, consentedAt })
  }
  if (link.letterId !== null) await setLetterReporter(tx, link.letterId, id)
  return id
}
