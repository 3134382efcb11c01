import { generateKeyPairSync } from 'node:crypto'
import { sealMessage } from 'mailauth/lib/arc/index.js'
import { dkimSign } from 'mailauth/lib/dkim/sign.js'
import type { Resolve } from '../../src/world.ts'

/** A key pair for signing: the private key, and the record for the DNS. */
export type SigningKey = { privateKey: string; record: string }

export function rsaKey(bits = 2048): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: bits })
  const p = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    record: `v=DKIM1; k=rsa; p=${p}`,
  }
}

/** Creates an Ed25519 key (RFC 8463). */
export function ed25519Key(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const p = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    record: `v=DKIM1; k=ed25519; p=${p}`,
  }
}

/** How to sign a message. */
export type SigningOptions = {
  domain: string
  key: SigningKey
  selector?: string
  canonicalization?: string
  /** Limits the signature to this number of bytes of the body. */
  bodyBytesMax?: number
  /** The names of the fields to sign, separated by colons; by default the usual ones. */
  covering?: string
  signedAt?: Date
  expiresAt?: Date
}

/** Adds a DKIM signature at the top of a message. */
export async function signed(raw: Buffer, options: SigningOptions): Promise<Buffer> {
  const signer = {
    signingDomain: options.domain,
    selector: options.selector ?? 's1',
    privateKey: options.key.privateKey,
    ...(options.bodyBytesMax !== undefined && { maxBodyLength: options.bodyBytesMax }),
    ...(options.covering !== undefined && { headerList: options.covering }),
  }
  const { signatures, errors } = await dkimSign(raw, {
    ...signer,
    canonicalization: options.canonicalization ?? 'relaxed/relaxed',
    signTime: options.signedAt ?? new Date('2026-11-16T09:59:58Z'),
    ...(options.expiresAt && { expires: options.expiresAt }),
    signatureData: [signer],
  })
  if (signatures === '') throw new Error('Not signed.', { cause: errors[0]?.err })
  return Buffer.concat([Buffer.from(signatures), raw])
}

/** Adds an ARC set at the top of a message. */
export async function sealed(
  raw: Buffer,
  options: { domain: string; key: SigningKey; says: string; cv?: string },
): Promise<Buffer> {
  const set = await sealMessage(raw, {
    signingDomain: options.domain,
    selector: 'arc',
    privateKey: options.key.privateKey,
    authResults: options.says,
    ...(options.cv && { cv: options.cv }),
  })
  if (set.length === 0) throw new Error('Not sealed.')
  return Buffer.concat([set, raw])
}

/** Replaces a text in a message, which must contain it. */
export function replaced(raw: Buffer, from: string | RegExp, to: string): Buffer {
  const text = raw.toString('latin1')
  const changed = text.replace(from, to)
  if (changed === text) throw new Error(`The message does not contain ${String(from)}.`)
  return Buffer.from(changed, 'latin1')
}

/** Adds fields at the top of a message, as relays do. */
export function onTop(raw: Buffer, ...lines: readonly string[]): Buffer {
  return Buffer.concat([Buffer.from(lines.map((line) => `${line}\r\n`).join('')), raw])
}

/**
 * A DNS zone written for a test: records by `TYPE name`, `'unknown'` for a server without an
 * answer.
 */
export type FakeZone = Readonly<Record<string, readonly string[] | 'unknown'>>

/** Creates a resolver for a zone; other names do not exist. Records all queries. */
export function fakeDns(zone: FakeZone): { resolve: Resolve; asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    resolve: (name, type) => {
      const question = `${type} ${name.toLowerCase()}`
      asked.push(question)
      const records = zone[question]
      if (records === 'unknown') return Promise.resolve({ is: 'unknown', why: 'SERVFAIL' })
      return Promise.resolve(records ? { is: 'found', records } : { is: 'none' })
    },
  }
}

/** A resolver that never gets an answer. */
export const deadDns: Resolve = () => Promise.resolve({ is: 'unknown', why: 'No server answers.' })
