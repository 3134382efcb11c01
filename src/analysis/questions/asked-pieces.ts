import type { Attachment } from '../attachments.ts'
import type { Link } from '../links.ts'
import type { HeaderField } from '../../mail/header.ts'
import { viewBody } from '../pieces/body-view.ts'
import { addAddresses, type Signer } from '../shingles/address-shingles.ts'
import { addFiles } from '../shingles/file-shingles.ts'
import { addHeader } from '../shingles/header-shingles.ts'
import { addContacts, addLinks } from '../shingles/link-shingles.ts'
import { addOrigin, type Way } from '../shingles/origin-shingles.ts'
import { hexOf, shingleHash } from '../shingles/hash.ts'
import { pieceTypes, type PieceName } from '../shingles/piece-types.ts'
import { ShingleList } from '../shingles/shingle-list.ts'
import { addPassages, addWholeText } from '../shingles/text-shingles.ts'

/** A piece that somebody asks about. */
export type AskedPiece = {
  name: PieceName
  /** As it is hashed, without disguise. */
  piece: string
  /** 16 hexadecimal digits. */
  hash: string
}

/** A message with nothing in it but what is asked about; see `questionKinds`. */
export type Draft = {
  /** Values by the names of their fields, as Unicode. */
  fields?: Readonly<Record<string, string>>
  text?: string
  html?: string
  links?: readonly string[]
  attachments?: readonly Attachment[]
  signers?: readonly Signer[]
  way?: Way
  /** Pieces that are known only beside a message, and spelled as they are. */
  later?: Readonly<Partial<Record<PieceName, string>>>
}

const nowhere: Way = { hops: [], origin: null, submitter: null }

/**
 * The pieces of a draft by the very code that takes messages apart, so that what is asked for has
 * the hash of what was counted, however it is disguised. Only of the given types, in their order.
 */
export function piecesOfDraft(draft: Draft, types: readonly PieceName[]): AskedPiece[] {
  const { text = '', html = '', links = [], attachments = [], signers = [] } = draft
  const fields = Object.entries(draft.fields ?? {}).map(fieldOf)
  const view = viewBody({ text, html })
  const list = new NotedList()
  addAddresses(list, fields, signers)
  addOrigin(list, draft.way ?? nowhere)
  addHeader(list, fields)
  addLinks(list, links.map(linkOf), view)
  addContacts(list, view)
  addFiles(list, attachments)
  addWholeText(list, view)
  addPassages(list, view)
  for (const [name, piece] of Object.entries(draft.later ?? {})) list.add(name as PieceName, piece)
  const found = list.noted()
  return types.flatMap((name) => found.filter((one) => one.name === name))
}

/** A piece of a type as it is, for who knows how it is spelled. */
export function pieceAsWritten(name: PieceName, piece: string): AskedPiece {
  return { name, piece, hash: hexOf(shingleHash(pieceTypes[name].number, piece)) }
}

/** Of one type no more are told; messages keep so many of most types too. */
const typeMax = 8

/** Keeps what the pieces say, which is hashed and forgotten otherwise. */
class NotedList extends ShingleList {
  readonly #pieces = new Map<string, AskedPiece>()
  readonly #ofType = new Map<PieceName, number>()

  override add(name: PieceName, piece: string | null | undefined): void {
    if (piece === null || piece === undefined || piece === '') return
    // The key of a signer whose selector is not asked for.
    if (name === 'signer-key' && piece.endsWith(' ')) return
    const asked = pieceAsWritten(name, piece)
    const known = this.#ofType.get(name) ?? 0
    if (known >= typeMax || this.#pieces.has(asked.hash)) return
    this.#pieces.set(asked.hash, asked)
    this.#ofType.set(name, known + 1)
  }

  noted(): AskedPiece[] {
    return [...this.#pieces.values()]
  }
}

/** As `parseHeader` has fields: unfolded, each byte a character. */
function fieldOf([name, text]: [string, string]): HeaderField {
  const value = Buffer.from(text.replaceAll(/[\r\n]+/g, ' ')).toString('latin1')
  return { name, key: name.toLowerCase(), value, raw: `${name}: ${value}` }
}

/** As a form's, which is taken apart as all others are, and once more as a form. */
function linkOf(url: string): Link {
  return { url, host: '', domain: null, where: 'form' }
}
