import { type PackedShingles, PAIR_BYTES, PIECE_BYTES } from './packed-shingles.ts'
import { shingleHash } from './hash.ts'
import { pairTypes, type PieceName, pieceTypes } from './piece-types.ts'

/** A user of a mail server, who authenticates to send mail. */
export type SendingUser = {
  /** The mail system of the user; empty if there is only one. */
  system: string
  /** The login name. */
  user: string
}

/** What is counted about a sending user, each with the different recipients it concerns. */
export type SendingEvent = 'sent' | 'complaint' | 'bounce' | 'read'

const types = {
  sent: typesOf('sending-user'),
  complaint: typesOf('sending-user-complaint'),
  bounce: typesOf('sending-user-bounce'),
  read: typesOf('sending-user-read'),
} as const satisfies Record<SendingEvent, unknown>

function typesOf(counted: PieceName) {
  const pair = pairTypes.find((type) => type.counted === counted && type.unique === 'sent-to')
  return { piece: pieceTypes[counted].number, pair: pair?.number ?? 0 }
}

/**
 * Maximum number of recipients of one message that are counted. Further ones change neither a share
 * nor an alert.
 */
const RECIPIENTS_MAX = 500

/** The keys of a sending user's counters for one kind of event. */
export function sendingKeys(
  user: SendingUser,
  event: SendingEvent,
): { piece: bigint; pairType: number } {
  const { piece, pair } = types[event]
  return { piece: shingleHash(piece, userText(user)), pairType: pair }
}

/** Packs an event about mail of a sending user, with the recipients that it concerns. */
export function sendingShingles(
  user: SendingUser,
  event: SendingEvent,
  recipients: readonly string[],
): PackedShingles {
  const { pair } = types[event]
  const counted = [...new Set(recipients.map((one) => one.toLowerCase()))].slice(0, RECIPIENTS_MAX)
  const packed = Buffer.alloc(PIECE_BYTES + counted.length * PAIR_BYTES)
  let at = packed.writeUInt8(types[event].piece, 0)
  at = packed.writeBigUInt64BE(sendingKeys(user, event).piece, at)
  for (const recipient of counted) {
    at = packed.writeUInt8(pair, at)
    at = packed.writeBigUInt64BE(shingleHash(pieceTypes['sent-to'].number, recipient), at)
    // The place of the piece that the pair is counted under.
    at = packed.writeUInt16BE(0, at)
  }
  return packed
}

/** The text of a user's pieces. Login names are compared without regard to case. */
function userText({ system, user }: SendingUser): string {
  const name = user.normalize('NFC').toLowerCase()
  return system === '' ? name : `${name}\0${system.toLowerCase()}`
}
