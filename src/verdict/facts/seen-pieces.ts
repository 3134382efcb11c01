import {
  isPairType,
  PAIR_BYTES,
  PIECE_BYTES,
  type PackedShingles,
} from '../../analysis/shingles/packed-shingles.ts'
import { pairTypes } from '../../analysis/shingles/pair-types.ts'
import { type PieceName, pieceTypes } from '../../analysis/shingles/piece-types.ts'

/** Groups of pieces of which it tells how often they were seen, and what a group is. */
export const seenGroups = {
  campaign: 'the campaign it is of',
  text: 'its text',
  subject: 'its subject',
  structure: 'the structure of its HTML',
  author: 'its author’s address',
  author_name: 'its author’s name at that organization',
  author_domain: 'its author’s organization',
  reply_to: 'where answers go',
  return_path: 'the organization of its return path',
  signer: 'a verified signer',
  list: 'its mailing list or Feedback-ID',
  origin_ip: 'the address it came from',
  origin_network: 'the /24 or /48 it came from',
  origin_as: 'the autonomous system it came from',
  link: 'a link',
  link_host: 'the host of a link',
  link_domain: 'the domain of a link',
  attachment: 'an attached file',
  contact: 'a telephone number, account or mail address in its text',
} as const

/** The name of such a group. */
export type SeenGroup = keyof typeof seenGroups

/** What one key tells of: how often the piece was seen, or how many reporters it has. */
export type SeenKey = { group: SeenGroup; counts: 'piece' | 'reporters' }

/** Keys to ask the counters for, and what each tells; the same number of both. */
export type SeenPieces = { keys: readonly bigint[]; groups: readonly SeenKey[] }

type Choice = readonly [piece: PieceName, group: SeenGroup, pieces: number, reporters?: number]

/** Which pieces are asked for, how many of each, and of how many of those the reporters: 47. */
const choices: readonly Choice[] = [
  ['campaign', 'campaign', 1, 1],
  ['text', 'text', 1, 1],
  ['text-letters', 'text', 1],
  ['subject', 'subject', 1],
  ['subject-template', 'subject', 1, 1],
  ['html-structure', 'structure', 1],
  ['author-address', 'author', 1, 1],
  ['author-name-and-organization', 'author_name', 1],
  ['author-organization', 'author_domain', 1, 1],
  ['reply-to-address', 'reply_to', 1],
  ['return-path-organization', 'return_path', 1],
  ['signer-organization', 'signer', 2, 1],
  ['list-id', 'list', 1, 1],
  ['feedback-id', 'list', 1],
  ['origin-ip', 'origin_ip', 1, 1],
  ['origin-network', 'origin_network', 1, 1],
  ['origin-as', 'origin_as', 1, 1],
  ['link', 'link', 4],
  ['link-host', 'link_host', 3],
  ['link-organization', 'link_domain', 3, 2],
  ['attachment', 'attachment', 2, 1],
  ['telephone', 'contact', 1],
  ['cryptocurrency-address', 'contact', 1],
  ['bank-account', 'contact', 1],
  ['body-address', 'contact', 1],
]

type Chosen = {
  group: SeenGroup
  pieces: number
  /** The number of the type of pairs with reporters, and of how many pieces they are asked. */
  pairType: number
  reporters: number
}

const chosenByType: (Chosen | undefined)[] = Array.from({ length: 256 })
for (const [piece, group, pieces, reporters = 0] of choices) {
  const pair = pairTypes.find(({ counted, unique }) => counted === piece && unique === 'reporter')
  const pairType = pair?.number ?? 0
  chosenByType[pieceTypes[piece].number] = { group, pieces, pairType, reporters }
}

/** So many keys are asked for at most. */
export const seenKeysMax = choices.reduce((sum, [, , pieces, reporters = 0]) => {
  return sum + pieces + reporters
}, 0)

/**
 * Chooses what the counters are asked for about a message: the pieces that tell, and how many
 * reporters those have. `pairKey` gives the key under which pairs of a type are counted of a piece
 * (`counters/pair-key.ts`).
 */
export function seenPieces(
  packed: PackedShingles,
  pairKey: (type: number, piece: bigint) => bigint,
): SeenPieces {
  const keys: bigint[] = []
  const groups: SeenKey[] = []
  const taken = new Uint8Array(256)
  for (let at = 0; at + PIECE_BYTES <= packed.length;) {
    const type = packed[at] ?? 0
    const chosen = chosenByType[type]
    const nth = taken[type] ?? 0
    if (chosen && nth < chosen.pieces) {
      taken[type] = nth + 1
      const { group, pairType, reporters } = chosen
      const key = packed.readBigUInt64BE(at + 1)
      keys.push(key)
      groups.push({ group, counts: 'piece' })
      if (nth < reporters) {
        keys.push(pairKey(pairType, key))
        groups.push({ group, counts: 'reporters' })
      }
    }
    at += isPairType[type] === 1 ? PAIR_BYTES : PIECE_BYTES
  }
  return { keys, groups }
}
