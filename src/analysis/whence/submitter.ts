import { fieldValue } from '../../mail/header.ts'
import type { HeaderField } from '../../mail/header.ts'
import { isRoutable, parseIp } from '../../mail/ip.ts'
import type { Custody } from './custody.ts'
import type { Hop } from './hops.ts'

/** The client behind the provider that handed a message over, as that provider noted it. */
export type Submitter = {
  /** Canonical text of the address. */
  ip: string
  /** Who says so, as a sentence. */
  how: string
  /** How far to believe it, 0 to 1. */
  confidence: number
}

const lineConfidence = 0.95
const sealConfidence = 0.98
const fieldConfidence = 0.6

/**
 * The submitter: the peer in the line at the border of the sending provider, else the address in a
 * field that the provider is known to write. A field may have been brought along by the client, so
 * it is believed less. `sealedIp` is the client that a seal of the provider names (RFC 8617), which
 * we verified. Null where the provider does not say.
 */
export function submitterOf(
  entry: Hop,
  custody: Custody,
  fields: readonly HeaderField[],
  sealedIp: string | undefined,
): Submitter | null {
  const { provider, border, certainty } = custody
  const client = border?.fromIp
  if (border && client && isRoutable(client)) {
    const isSealed = sealedIp === client.text
    const base = isSealed ? sealConfidence : lineConfidence * certainty
    return {
      ip: client.text,
      how:
        `Line ${border.index + 1}: ${provider.name} ${deedOf(border)} ${client.text}` +
        (isSealed ? ', and sealed that.' : '.'),
      confidence: Math.round(base * 100) / 100,
    }
  }
  if (sealedIp !== undefined) {
    const how = `A seal of ${provider.name} names ${sealedIp} as the client.`
    return { ip: sealedIp, how, confidence: sealConfidence }
  }
  return noted(entry, custody, fields)
}

function deedOf({ field }: Hop): string {
  if (field?.auth !== undefined) return 'took the message from its customer at'
  return 'saw the message handed over by'
}

function noted(
  entry: Hop,
  { provider }: Custody,
  fields: readonly HeaderField[],
): Submitter | null {
  for (const key of provider.submitterFields ?? []) {
    const value = fieldValue(fields, key)
    const address = value === undefined ? undefined : parseIp(value.trim())
    if (!address || !isRoutable(address) || address.text === entry.fromIp?.text) continue
    const how = `The field ${key}, which ${provider.name} writes, names ${address.text}.`
    return { ip: address.text, how, confidence: fieldConfidence }
  }
  return null
}
