import { parseMailboxes } from '../mail/address.ts'
import { decodeHeaderText } from '../mail/encoded-word.ts'
import type { HeaderField } from '../mail/header.ts'
import type { Attachment } from './attachment.ts'
import { type BodyView, findMailAddresses } from './body-view.ts'
import { plainLine, withoutInvisible } from './disguise/plain-text.ts'
import { indexHeader, peopleOf } from './features/material.ts'
import { leadsSomewhere, type Link } from './links.ts'

/** Maximum number of characters of the visible text, and of any other text, that are returned. */
const TEXT_CHARS_MAX = 32 * 1024
const FIELD_CHARS_MAX = 1_000
const ADDRESS_FIELDS = ['from', 'reply-to', 'sender', 'return-path']
const ADDRESSES_MAX = 40
const LINKS_MAX = 100
const FILES_MAX = 100

/** What the analysis found. */
type Described = {
  headers: { subject: string | null }
  links: readonly Link[]
  attachments: readonly Attachment[]
}

/**
 * Returns the texts of a message that rules can match. Texts are as a reader sees them, without
 * invisible characters; those that end in `words` consist of normalized words separated by blanks
 * (`wordsOf`). Remote pictures are no links. Linear time.
 */
export function writtenTexts(
  { headers, links, attachments }: Described,
  fields: readonly HeaderField[],
  { written, text, shown }: BodyView,
) {
  const header = indexHeader(fields)
  const { author } = peopleOf(header)
  const subject = withoutInvisible(headers.subject ?? '')
  const name = withoutInvisible(author?.name ?? '')
  const leading = links.filter(leadsSomewhere).slice(0, LINKS_MAX)
  return {
    subject,
    subject_words: plainLine(subject),
    author_name: name,
    author_name_words: plainLine(name),
    author_local: author?.local ?? '',
    text: withoutInvisible(written.slice(0, TEXT_CHARS_MAX)).trim(),
    text_words: shown.line.slice(0, TEXT_CHARS_MAX),
    addresses: addressesIn(header, text),
    link_hosts: [...new Set(leading.map(({ host }) => host))],
    links: [...new Set(leading.map(({ url }) => withoutScheme(url)))],
    file_names: attachments.slice(0, FILES_MAX).flatMap(({ name: its }) => its ?? []),
    file_hashes: attachments.slice(0, FILES_MAX).map(({ sha256 }) => sha256),
  }
}

/** The texts of a message that rules can match, by the names of their facts. */
export type WrittenTexts = ReturnType<typeof writtenTexts>

/** The host of a link, in lower case, its path, and the rest of it. */
function withoutScheme(url: string): string {
  const rest = url.replace(/^[a-z][a-z\d+.-]{0,20}:\/{0,2}/i, '').slice(0, FIELD_CHARS_MAX)
  const end = rest.search(/[/?#]|$/)
  return rest.slice(0, end).toLowerCase() + rest.slice(end)
}

/** The mail addresses in the header fields of its senders and in its text, in lower case. */
function addressesIn(header: ReturnType<typeof indexHeader>, text: string): string[] {
  const stated = ADDRESS_FIELDS.flatMap((key) =>
    parseMailboxes((header.value(key) ?? '').slice(0, FIELD_CHARS_MAX)).map(({ address }) =>
      decodeHeaderText(address).toLowerCase(),
    ),
  )
  const all = [...stated, ...findMailAddresses(text)].filter((address) => address.includes('@'))
  return [...new Set(all)].slice(0, ADDRESSES_MAX)
}
