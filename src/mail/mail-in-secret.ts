import { createHash, createHmac, hkdfSync } from 'node:crypto'
import { base32 } from './base32.ts'

const SECRET_CHARS = 26
const SECRET_BYTES = 17

/**
 * The secret of the address to which a reporter mails reports: 130 bits that only our own secret
 * can make, so nothing that tells it is stored. A new generation has a new one.
 */
export function mailInSecret(
  { reporterId, generation }: { reporterId: string; generation: number },
  secret: string,
): string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'signalpost mail-in address 1', 32))
  const mac = createHmac('sha256', key).update(`${reporterId.toLowerCase()} ${generation}`).digest()
  return base32(mac.subarray(0, SECRET_BYTES)).slice(0, SECRET_CHARS)
}

/** By which a secret is looked up; nobody can turn it back. */
export function mailInHash(mailSecret: string): Buffer {
  return createHash('sha256').update(`mail-in ${mailSecret.toLowerCase()}`).digest()
}
