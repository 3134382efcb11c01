import { fieldValues, type HeaderField } from '../mail/header.ts'
import { type IpAddress, isRoutable, parseIp } from '../mail/ip.ts'
import { parseReceived, type ReceivedField } from '../mail/received.ts'

/** One Received field, prepared for the analysis; index 0 is the topmost and newest. */
export type Hop = {
  index: number
  /** Undefined when the field cannot be parsed. */
  field: ReceivedField | undefined
  fromIp: IpAddress | undefined
  byIp: IpAddress | undefined
  /** Names in lower case. */
  helo: string | undefined
  rdns: string | undefined
  byHost: string | undefined
}

/** The client that hands a message over, as seen by the receiving mail server. */
export type Client = { ip: string; helo?: string; rdns?: string }

/** Maximum number of Received fields that are read; no legitimate message has more. */
const hopsMax = 100

/**
 * Parses the Received fields of a header, top first, with values ready for comparison. A `client`
 * is added above them, or replaces the topmost line if that line already names it. That line may be
 * from the mail server, or the client may have invented it. In an internal network the line is
 * kept.
 */
export function readHops(fields: readonly HeaderField[], client?: Client): Hop[] {
  const lines = fieldValues(fields, 'received').slice(0, hopsMax).map(parseReceived)
  const clientIp = addressOf(client?.ip)
  const isWritten = clientIp?.text === addressOf(lines[0]?.from?.ip)?.text
  const older = isWritten ? lines.slice(1) : lines
  const isKept = !clientIp || (isWritten && !isRoutable(clientIp))
  const seen: (ReceivedField | undefined)[] =
    client && !isKept ? [{ from: client, by: {} }, ...older] : lines
  return seen.map((field, index) => ({
    index,
    field,
    fromIp: addressOf(field?.from?.ip),
    byIp: addressOf(field?.by.ip),
    helo: field?.from?.helo?.toLowerCase(),
    rdns: field?.from?.rdns?.toLowerCase(),
    byHost: field?.by.host?.toLowerCase(),
  }))
}

function addressOf(ip: string | undefined): IpAddress | undefined {
  return ip === undefined ? undefined : parseIp(ip)
}

/** Whether the peer of one line wrote the next line, by name or by address. */
export function isLinked(hop: Hop, next: Hop): boolean {
  if (hop.fromIp && next.byIp && hop.fromIp.text === next.byIp.text) return true
  return next.byHost !== undefined && (next.byHost === hop.rdns || next.byHost === hop.helo)
}
