import { createPrivateKey, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { reasonOf, UsageError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { registrableDomainOf } from '../mail/address.ts'
import { type SigningKey, signMail } from '../mail/dkim-signature.ts'
import type { Mailer } from './mailer.ts'

/** Receivers ignore signatures with shorter keys (RFC 8301 §3.2). */
const RSA_BITS_MIN = 1024

/** The DKIM domain, selector and key file, and the address from which this program sends mail. */
export type SigningSettings = {
  dkim: { domain: string; selector: string; keyFile: string } | undefined
  mailFrom: string
}

/**
 * Reads and checks the key that signs mail; undefined when none is configured. Warns when its
 * domain differs from that of MAIL_FROM, because DMARC then ignores the signature.
 *
 * @throws UsageError that describes what is wrong with the file
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
  if (registrableDomainOf(domain) !== registrableDomainOf(mailFrom.split('@').at(-1))) {
    log.warn(
      { domain },
      'DKIM_DOMAIN is not the domain of MAIL_FROM, so the signature does not count for DMARC.',
    )
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

/** Returns a function that signs a finished mail; the same bytes get the same signature. */
export function createSigner(key: SigningKey | undefined): (raw: Buffer) => Buffer {
  return key ? (raw) => signMail(raw, key) : (raw) => raw
}

/** Returns a mailer that signs every mail that has no signature yet. */
export function signing(
  mailer: Mailer | undefined,
  key: SigningKey | undefined,
): Mailer | undefined {
  if (!mailer || !key) return mailer
  const sign = createSigner(key)
  return { ...mailer, send: (mail) => mailer.send({ ...mail, raw: sign(mail.raw) }) }
}
