import { fieldValues } from '../../mail/header.ts'
import type { HeaderField } from '../../mail/header.ts'
import { isRoutable, parseIp } from '../../mail/ip.ts'
import type { IpAddress } from '../../mail/ip.ts'
import { parseReceived } from '../../mail/received.ts'
import type { ReceivedField } from '../../mail/received.ts'

/** One Received field on its way through the analysis; index 0 is the topmost, the newest. */
export type Hop = {
  index: number
  /** Undefined where the field cannot be read. */
  field: ReceivedField | undefined
  fromIp: IpAddress | undefined
  byIp: IpAddress | undefined
  /** Names in lower case. */
  helo: string | undefined
  rdns: string | undefined
  byHost: string | undefined
}

/** A machine that hands a message over, as the mail server that takes it sees it. */
export type Client = { ip: string; helo?: string; rdns?: string }

/** Messages with more Received fields than this are read to there: no honest one has as many. */
export const hopsMax = 100

/**
 * The Received fields of a header, top first, read and made ready to compare. A `client` stands
 * above them, or in place of the topmost line where that names it already: then the mail server
 * has written its own, or the client brought it along, to say what it likes of itself. Inside an
 * internal network that line stays.
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
