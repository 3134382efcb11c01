import type { MessageBody } from '../../mail/body.ts'
import type { HeaderField } from '../../mail/header.ts'
import type { Attachment } from '../attachments.ts'
import { fingerprintsOf } from '../fingerprints/fingerprints-of.ts'
import type { Fingerprints } from '../fingerprints/fingerprints-of.ts'
import type { Link } from '../links.ts'
import { viewBody } from '../pieces/body-view.ts'
import type { BodyView } from '../pieces/body-view.ts'
import { addAddresses } from './address-shingles.ts'
import type { Signer } from './address-shingles.ts'
import { addFiles } from './file-shingles.ts'
import { addHeader } from './header-shingles.ts'
import { addContacts, addLinks } from './link-shingles.ts'
import { addOrigin } from './origin-shingles.ts'
import type { Way } from './origin-shingles.ts'
import { unpackShingles } from './packed-shingles.ts'
import type { PackedShingles } from './packed-shingles.ts'
import { ShingleList } from './shingle-list.ts'
import type { Shingle } from './shingle-list.ts'
import { addPassages, addWholeText } from './text-shingles.ts'

/** What the analysis has found of a message so far. */
export type Findings = Way & {
  fields: readonly HeaderField[]
  body: MessageBody
  links: readonly Link[]
  attachments: readonly Attachment[]
  /** Verified signatures; what the header only claims is found in its fields. */
  signers: readonly Signer[]
}

/**
 * Takes a message apart into the pieces that are counted, and makes the fingerprints that stand
 * for the whole of it. At most 480 shingles, the telling ones first. Linear in the message; asks
 * nobody. What is known only beside the message comes by `withLaterShingles`.
 */
export function takeApartPacked(findings: Findings): {
  shingles: PackedShingles
  fingerprints: Fingerprints
  /** The body as it was read for this. */
  view: BodyView
  telephones: string[]
} {
  const { fields, body, links, attachments, signers } = findings
  const view = viewBody(body)
  list.clear()
  addAddresses(list, fields, signers)
  addOrigin(list, findings)
  addHeader(list, fields)
  addLinks(list, links, view)
  const telephones = addContacts(list, view)
  addFiles(list, attachments)
  addWholeText(list, view)
  list.addPairs()
  addPassages(list, view)
  const fingerprints = fingerprintsOf(view, attachments, list)
  return { shingles: list.packed(), fingerprints, view, telephones }
}

/** One for all messages: nothing is awaited between the first piece and the last. */
const list = new ShingleList()

/** The same with names and in hexadecimal, for people. */
export function takeApart(findings: Findings): {
  shingles: Shingle[]
  fingerprints: Fingerprints
} {
  const { shingles, fingerprints } = takeApartPacked(findings)
  return { shingles: unpackShingles(shingles), fingerprints }
}
