import { attachmentFeatures } from './attachment-features.ts'
import type { AttachmentFeatures } from './attachment-features.ts'
import { authenticationFeatures } from './authentication-features.ts'
import type { AuthenticationFeatures } from './authentication-features.ts'
import { authorFeatures } from './author-features.ts'
import type { AuthorFeatures } from './author-features.ts'
import { bulkFeatures } from './bulk-features.ts'
import type { BulkFeatures } from './bulk-features.ts'
import { headerFeatures } from './header-features.ts'
import type { HeaderFeatures } from './header-features.ts'
import { linkFeatures } from './link-features.ts'
import type { LinkFeatures } from './link-features.ts'
import { indexHeader, peopleOf } from './material.ts'
import type { Material } from './material.ts'
import { originFeatures } from './origin-features.ts'
import type { OriginFeatures } from './origin-features.ts'
import { textFeatures } from './text-features.ts'
import type { TextFeatures } from './text-features.ts'

/** What sort of mail it is; what each means says `verdict/facts/message-facts.ts`. */
export type KindFeatures = {
  kind: string
  is_machine_answer: boolean
  kilobytes: number
  has_text: boolean
  has_html: boolean
  has_attachment: boolean
  has_list_unsubscribe: boolean
}

/** What a message alone tells to who judges it: plain data that survives structured cloning. */
export type MessageFeatures = {
  message: KindFeatures
  headers: HeaderFeatures
  author: AuthorFeatures
  bulk: BulkFeatures
  authentication: AuthenticationFeatures
  origin: OriginFeatures
  links: LinkFeatures
  attachments: AttachmentFeatures
  text: TextFeatures
}

/** Works out the features of a message from what its analysis found. Linear; asks nobody. */
export function featuresOf(material: Material): MessageFeatures {
  const header = indexHeader(material.fields)
  const people = peopleOf(header)
  const { kind, bytes, body, unsubscribe } = material
  return {
    message: {
      kind,
      is_machine_answer: kind !== 'message',
      kilobytes: Math.round(bytes / 102.4) / 10,
      has_text: body.text.trim() !== '',
      has_html: body.html !== '',
      has_attachment: body.attachments.length > 0,
      has_list_unsubscribe: unsubscribe !== null,
    },
    headers: headerFeatures(material, header, people),
    author: authorFeatures(people),
    bulk: bulkFeatures(material, header, people),
    authentication: authenticationFeatures(material, header, people),
    origin: originFeatures(material),
    links: linkFeatures(material, people),
    attachments: attachmentFeatures(material),
    text: textFeatures(material),
  }
}
