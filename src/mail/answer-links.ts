import { composeToken, parseToken } from './signed-token.ts'
import type { ReturnPathToken } from './verp.ts'

/** What an abuse desk may say to a feedback report. */
export const answerKinds = ['resolved', 'not-ours', 'wrong', 'stop'] as const

/** One of them. */
export type AnswerKind = (typeof answerKinds)[number]

const PURPOSE = 'answer link 1'

/**
 * The pages on which the consumer of one feedback report answers it, by what they say. Each asks
 * before it acts: mail scanners follow links.
 */
export function answerLinks(
  { reportId, number }: ReturnPathToken,
  { publicUrl, secret }: { publicUrl: string; secret: string },
): Record<AnswerKind, string> {
  const token = composeToken({ id: reportId, number }, PURPOSE, secret)
  const linkOf = (kind: AnswerKind) => `${publicUrl}/answer/${token}/${kind}`
  return {
    resolved: linkOf('resolved'),
    'not-ours': linkOf('not-ours'),
    wrong: linkOf('wrong'),
    stop: linkOf('stop'),
  }
}

/** Which feedback report the token of such a link names; undefined when it is none of ours. */
export function parseAnswerToken(token: string, secret: string): ReturnPathToken | undefined {
  const content = parseToken(token, PURPOSE, secret)
  if (content === undefined || content === 'forged') return undefined
  return { reportId: content.id, number: content.number }
}
