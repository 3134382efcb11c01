import type { LibraryResult } from 'mailauth/lib/dkim/dkim-verifier.js'
import type { DnsFindings } from '../dns-findings.ts'
import { textAnswer } from './answers.ts'
import type { Signature } from './signatures.ts'

/**
 * What a signature (RFC 6376) is worth, in the words of RFC 8601 §2.7.1. `fail` accuses nobody: a
 * mail program or mailing list may have changed the message. `permerror`: its key is missing or
 * unusable; `policy`: it verifies too little, or by a key too weak; `neutral`: it cannot be judged.
 */
export type DkimResult = 'pass' | 'fail' | 'neutral' | 'policy' | 'temperror' | 'permerror'

/** One signature, judged. */
export type DkimFinding = {
  /** In lower case. */
  domain: string
  selector: string
  result: DkimResult
  /** Whether the domain and the author's have the same owner. */
  aligned: boolean
  /** A sentence for a person. */
  why: string
}

/** What is known of a signature without looking at the message; undefined when it must be read. */
export function judgeUnread(signature: Signature, dns: DnsFindings): DkimFinding | undefined {
  const { fault, keyName } = signature
  if (fault !== undefined) return finding(signature, 'neutral', fault)
  const answer = textAnswer(dns, keyName)
  if (answer.is === 'none') return finding(signature, 'permerror', 'Its key does not exist.')
  if (answer.is === 'unknown') {
    return finding(signature, 'temperror', 'Its key could not be asked for.')
  }
  if (!answer.records.some((record) => /(^|;)\s*p\s*=\s*[^;\s]/.test(record))) {
    return finding(signature, 'permerror', 'Its key was revoked.')
  }
  return undefined
}

/** What the library says of a signature; undefined when it did not look at it. */
export function judgeRead(signature: Signature, read: LibraryResult | undefined): DkimFinding {
  if (!read) return finding(signature, 'neutral', 'It cannot be read.')
  const { result, comment, underSized } = read.status
  if (result === 'pass') {
    return underSized === undefined
      ? finding(signature, 'pass', 'What it covers is as it was signed.')
      : finding(signature, 'policy', 'It covers only the beginning of the body.')
  }
  if (result === 'policy') return finding(signature, 'policy', 'Its key is too weak.')
  const [known, why] = reasons.get(comment ?? '') ?? ['neutral', 'It cannot be verified.']
  return finding(signature, known, why)
}

/** The library's comments and what they mean. */
const reasons: ReadonlyMap<string, readonly [DkimResult, string]> = new Map([
  ['body hash did not verify', ['fail', 'The body is not the one that was signed.']],
  ['bad signature', ['fail', 'The header is not the one that was signed, or the key another one.']],
  ['expired', ['neutral', 'It had expired when the message arrived.']],
  ['invalid expiration', ['neutral', 'It expires before it was made.']],
  ['invalid public key', ['permerror', 'Its key cannot be read.']],
  ['unknown key version', ['permerror', 'Its key cannot be read.']],
  ['unknown key type', ['permerror', 'Its key cannot be read.']],
  ['inappropriate hash algorithm', ['permerror', 'Its key is not for this algorithm.']],
  ['key not for email', ['permerror', 'Its key is not for mail.']],
])

function finding(
  { domain, selector, isAligned }: Signature,
  result: DkimResult,
  why: string,
): DkimFinding {
  return { domain, selector, result, aligned: isAligned, why }
}
