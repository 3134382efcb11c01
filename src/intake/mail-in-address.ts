import type { App } from '../app.ts'
import { findMailInAddress, putMailInAddress } from '../db/mail-in-addresses.ts'
import { mailInHash, mailInSecret } from '../mail/mail-in-secret.ts'
import { composeMailInAddress } from '../mail/verp.ts'

type Needs = Pick<App, 'pool' | 'config'>

/**
 * The address to which a reporter mails reports; undefined when none was made, or the installation
 * has another secret by now than it was made of.
 */
export async function mailInAddressOf(
  { pool, config }: Needs,
  reporterId: string,
): Promise<{ address: string; since: Date } | undefined> {
  const row = await findMailInAddress(pool, reporterId)
  if (!row) return undefined
  const secret = mailInSecret(row, config.secret)
  if (!mailInHash(secret).equals(row.secretHash)) return undefined
  return { address: addressOf(secret, config), since: row.since }
}

/** Makes a new one, and ends the one before it at once. */
export async function makeMailInAddress(
  app: Needs & Pick<App, 'clock'>,
  reporterId: string,
): Promise<string> {
  const { pool, config } = app
  const generation = ((await findMailInAddress(pool, reporterId))?.generation ?? 0) + 1
  const secret = mailInSecret({ reporterId, generation }, config.secret)
  const secretHash = mailInHash(secret)
  // Who asks twice at once is given the same one.
  await putMailInAddress(pool, { reporterId, generation, secretHash, since: app.clock() })
  return addressOf(secret, config)
}

function addressOf(secret: string, { returnPathDomain: domain }: App['config']): string {
  return composeMailInAddress(secret, { domain })
}
