import { createHmac } from 'node:crypto'
import type { KeyRing } from '../key-ring.ts'
import { uuidOf, uuidTime } from '../world.ts'

/** The bytes of an id with its tag. The last byte contains the shard and stays random. */
const [TAG_START, TAG_END] = [12, 15]

/**
 * Returns an id that differs from the version 7 UUID `id` only in a tag. The tag shows to all
 * processes with the same secret that the id was given to a report of this reporter that waits in a
 * spool. To others it looks random. 50 bits of the id stay random.
 */
export function spooledId(id: string, reporterId: string, secret: KeyRing): string {
  return taggedId(id, reporterId, secret.key('spooled id'))
}

function taggedId(id: string, reporterId: string, key: Buffer): string {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
  tagOf(bytes, reporterId, key).copy(bytes, TAG_START)
  return uuidOf(bytes.toString('hex'))
}

/** Whether `spooledId` made this id for this reporter with this secret, or with a previous one. */
export function isSpooledId(id: string, reporterId: string, secret: KeyRing): boolean {
  const isTagged = (key: Buffer) => taggedId(id, reporterId, key) === id.toLowerCase() || undefined
  return secret.find('spooled id', isTagged, uuidTime(id)) ?? false
}

function tagOf(id: Buffer, reporterId: string, key: Buffer): Buffer {
  return createHmac('sha256', key)
    .update('signalpost spooled id')
    .update(id.subarray(0, TAG_START))
    .update(id.subarray(TAG_END))
    .update(reporterId)
    .digest()
    .subarray(0, TAG_END - TAG_START)
}
