import { fieldValues } from '../../mail/header.ts'
import type { HeaderField } from '../../mail/header.ts'
import { parseIp } from '../../mail/ip.ts'
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

/** Messages with more Received fields than this are read to there: no honest one has as many. */
export const hopsMax = 100

/** The Received fields of a header, top first, read and made ready to compare. */
export function readHops(fields: readonly HeaderField[]): Hop[] {
  return fieldValues(fields, 'received')
    .slice(0, hopsMax)
    .map((value, index) => {
      const field = parseReceived(value)
      return {
        index,
        field,
        fromIp: addressOf(field?.from?.ip),
        byIp: addressOf(field?.by.ip),
        helo: field?.from?.helo?.toLowerCase(),
        rdns: field?.from?.rdns?.toLowerCase(),
        byHost: field?.by.host?.toLowerCase(),
      }
    })
}

function addressOf(ip: string | undefined): IpAddress | undefined {
  return ip === undefined ? undefined : parseIp(ip)
}
