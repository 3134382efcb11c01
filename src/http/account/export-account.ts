import { listConsents } from '../../db/consents.ts'
import { findKarmas } from '../../db/karmas.ts'
import { findMailInAddress } from '../../db/mail-in-addresses.ts'
import { findReporterSettings } from '../../db/reporter-settings.ts'
import { listRelays } from '../../db/reporter-relays.ts'
import { findAccount, type Reporter } from '../../db/reporters.ts'
import { listSessions } from '../../db/sessions.ts'
import { listTokens } from '../../db/tokens.ts'
import { listWebhooks } from '../../db/webhooks.ts'
import { karmaOf } from '../../reputation/karma.ts'
import type { Site } from '../site.ts'

/** What we hold of an account itself. Nothing in it opens the account. */
export async function describeAccount(
  { id, email, isAdmin }: Reporter,
  { pool, clock }: Pick<Site, 'pool' | 'clock'>,
) {
  const now = clock()
  const [account, settings, consents, tokens, sessions, mailIn, relays, webhooks, karmas] =
    await Promise.all([
      findAccount(pool, id),
      findReporterSettings(pool, id),
      listConsents(pool, id),
      listTokens(pool, id),
      listSessions(pool, id, now),
      findMailInAddress(pool, id),
      listRelays(pool, id),
      listWebhooks(pool, id),
      findKarmas(pool, [id]),
    ])
  return {
    exported_at: now,
    id,
    email,
    is_administrator: isAdmin,
    created_at: account?.createdAt,
    has_second_step: account?.hasTotp,
    settings,
    consents,
    karma: karmaOf(karmas[0], now),
    karma_counts: karmas[0]?.counts,
    tokens,
    sessions,
    mail_in_address_since: mailIn?.since ?? null,
    relays: relays.map(({ cidr, how, name, evidence, since }) => ({
      cidr,
      how,
      name,
      evidence,
      since,
    })),
    webhooks: webhooks.map(({ url, events, state, createdAt }) => ({
      url,
      events,
      state,
      created_at: createdAt,
    })),
  }
}
