import { addressScope, parseIp } from './ip.ts'
import { addressShape, composeMailDate } from './mail-parts.ts'

/** What is known of the delivery of a message, besides the message. */
export type Delivery = {
  recipients: readonly string[]
  /** The SMTP client that delivered it, and the server that took it. */
  client?: { ip: string; host: string; id?: string; at: Date } | undefined
}

const RECIPIENTS_MAX = 10
const LINE_END_BYTES = 10_000
const hostShape = /^[A-Za-z0-9.-]{1,253}$/

/**
 * Adds the lines that a mail server adds at delivery: the recipients, whose addresses are then
 * hidden from abuse desks, and the client. A client in a private network is omitted: it is a mail
 * server of the site, which added its own line. So are addresses that could break the header.
 */
export function withDeliveryTrace(raw: Buffer, { recipients, client }: Delivery): Buffer {
  const named = [...new Set(recipients)].filter((one) => addressShape.test(one))
  const lines = named.slice(0, RECIPIENTS_MAX).map((one) => `Delivered-To: ${one}`)
  const ip = client && parseIp(client.ip)
  if (ip && isReachable(ip) && hostShape.test(client.host)) {
    const literal = ip.family === 6 ? `[IPv6:${ip.text}]` : `[${ip.text}]`
    const id = client.id === undefined ? '' : ` id ${client.id}`
    lines.push(`Received: from ${literal} (${literal}) by ${client.host} with ESMTP${id}`)
    lines.push(`${named[0] ? `\tfor <${named[0]}>` : '\t'}; ${composeMailDate(client.at)}`)
  }
  const lineEnd = /\r\n|\n|\r/.exec(raw.toString('latin1', 0, LINE_END_BYTES))?.[0] ?? '\r\n'
  return Buffer.concat([Buffer.from(lines.map((line) => line + lineEnd).join('')), raw])
}

/** Whether an address is one on the Internet; addresses of documents are used in tests. */
function isReachable(ip: NonNullable<ReturnType<typeof parseIp>>): boolean {
  return ['public', 'documentation'].includes(addressScope(ip))
}
