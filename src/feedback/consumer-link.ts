import { composeToken, parseToken } from '../mail/signed-token.ts'

const PURPOSE = 'consumer page 1'

type Settings = { publicUrl: string; secret: string }

/** The page on which a consumer looks after itself: who has the link may change all that it may. */
export function consumerLink(consumerId: string, { publicUrl, secret }: Settings): string {
  return `${publicUrl}/consumers/${composeToken({ id: consumerId, number: 1 }, PURPOSE, secret)}`
}

/** The consumer that the token of such a link names; undefined when it is none of ours. */
export function parseConsumerToken(token: string, secret: string): string | undefined {
  const content = parseToken(token, PURPOSE, secret)
  return content === undefined || content === 'forged' ? undefined : content.id
}
