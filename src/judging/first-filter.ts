import { domainToASCII } from 'node:url'
import { houseOf } from '../mail/domain.ts'
import type { Subject } from '../reputation/subject.ts'
import { FIRST_FILTER } from '../verdict/check-action.ts'
import type { Verdict } from '../verdict/verdict.ts'
import type { Envelope } from './envelope.ts'

/** What is known of subjects, in their order: a reputation reader's `read` is one. */
export type FlagsOf = (
  subjects: readonly Subject[],
) => Promise<readonly { flags: readonly string[] }[]>

/**
 * What the envelope alone can be blamed on: the client's address; the domain of MAIL FROM, under
 * which reputations are kept, and the registered one, which an administrator may have meant. Who
 * logged in is no stranger: his address is that of wherever he is today.
 */
export function subjectsOf({ ip, returnPath, user }: Envelope): Subject[] {
  const subjects: Subject[] = []
  if (user !== undefined) return subjects
  if (ip !== undefined) subjects.push({ kind: 'address', name: ip })
  const domain = domainToASCII(returnPath?.slice(returnPath.lastIndexOf('@') + 1) ?? '')
  const house = houseOf(domain)
  for (const name of new Set(house === undefined ? [] : [domain, house])) {
    subjects.push({ kind: 'return-path-domain', name })
  }
  return subjects
}

/**
 * The verdict on a message that need not be read: one of its subjects is listed. Undefined for all
 * others, and where the client is welcome or exempt: anybody may write its domain into MAIL FROM.
 * It gets a header, not a refusal: nobody has looked at the message.
 */
export function flaggedVerdict(
  subjects: readonly Subject[],
  known: readonly { flags: readonly string[] }[],
): Verdict | undefined {
  const isAny = (kinds: readonly string[], flags: readonly string[]) =>
    subjects.some(({ kind }, index) => {
      return kinds.includes(kind) && known[index]?.flags.some((flag) => flags.includes(flag))
    })
  if (!isAny(['address', 'return-path-domain'], ['listed'])) return undefined
  if (isAny(['address'], ['welcome', 'exempt'])) return undefined
  const meaning = 'The client or the return path is listed; the message was not read.'
  const symbols = [{ name: FIRST_FILTER, weight: 10, meaning }]
  return { class: 'spam', confidence: 0.9, score: 10, symbols }
}
