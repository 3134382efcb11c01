import { composeToken, parseToken } from './signed-token.ts'

const PURPOSE = 'advice off 1'

/** The page on which a reporter switches letters of advice off. It asks before it acts. */
export function adviceOffLink(
  reporterId: string,
  { publicUrl, secret }: { publicUrl: string; secret: string },
): string {
  return `${publicUrl}/advice/off/${composeToken({ id: reporterId, number: 1 }, PURPOSE, secret)}`
}

/** Whose letters the token of such a link is about; undefined when it is none of ours. */
export function parseAdviceOffToken(token: string, secret: string): string | undefined {
  const content = parseToken(token, PURPOSE, secret)
  return content === undefined || content === 'forged' ? undefined : content.id
}
