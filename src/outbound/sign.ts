import { createPrivateKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { reasonOf, UsageError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { signMail } from '../mail/dkim-signature.ts'
import type { SigningKey } from '../mail/dkim-signature.ts'
import { houseOf } from '../mail/domain.ts'
import type { Mailer } from './mailer.ts'

/** Below, receivers take a signature for none (RFC 8301 §3.2). */
const RSA_BITS_MIN = 1024

/** Where the key is, and whose mail it signs. */
export type SigningSettings = {
  dkim: { domain: string; selector: string; keyFile: string } | undefined
  mailFrom: string
}

/**
 * The key that mail is signed with, read and checked; undefined when none is set. Warns when its
 * domain is another one than that of MAIL_FROM: then the signature says nothing for DMARC.
 *
 * @throws UsageError saying what is wrong with the file
 */
export async function readSigningKey(
  { dkim, mailFrom }: SigningSettings,
  log: Pick<Logger, 'warn'>,
): Promise<SigningKey | undefined> {
  if (!dkim) return undefined
  const { domain, selector, keyFile } = dkim
  const privateKey = await readFile(keyFile, 'utf8').catch((error: unknown) => {
    throw new UsageError([`DKIM_KEY_FILE cannot be read: ${reasonOf(error)}`])
  })
  const fault = faultOf(privateKey)
  if (fault !== undefined) throw new UsageError([`DKIM_KEY_FILE ${keyFile} ${fault}.`])
  if (houseOf(domain) !== houseOf(mailFrom.split('@').at(-1))) {
    log.warn({ domain }, 'DKIM_DOMAIN is not the domain of MAIL_FROM: DMARC will not count it.')
  }
  return { domain, selector, privateKey }
}

function faultOf(privateKey: string): string | undefined {
  let key: KeyObject
  try {
    key = createPrivateKey(privateKey)
  } catch {
    return 'holds no private key in PEM that can be read without a password'
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  if (type === 'ed25519') return undefined
  if (type !== 'rsa') return `holds a key of type ${type ?? 'unknown'}, not RSA or Ed25519`
  const bits = details?.modulusLength ?? 0
  if (bits >= RSA_BITS_MIN) return undefined
  return `holds an RSA key of ${String(bits)} bits: at least ${String(RSA_BITS_MIN)} are needed`
}

/** Puts the signature on a finished mail; the same bytes get the same one. */
export function createSigner(key: SigningKey | undefined): (raw: Buffer) => Buffer {
  return key ? (raw) => signMail(raw, key) : (raw) => raw
}

/** A mailer that lets no mail of ours leave unsigned. What bears a signature already stays. */
export function signing(
  mailer: Mailer | undefined,
  key: SigningKey | undefined,
): Mailer | undefined {
  if (!mailer || !key) return mailer
  const sign = createSigner(key)
  return { ...mailer, send: (mail) => mailer.send({ ...mail, raw: sign(mail.raw) }) }
}
