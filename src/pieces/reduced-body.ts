import type { Header } from '../mail/header.ts'
import type { MessageBody } from '../mail/message.ts'
import { foldedBase64 } from '../mail/transfer-encoding.ts'

const searchedBytesMax = 1024 * 1024
const linksMax = 60
const link = /https?:\/\/[^\s"'<>()\\\x7f-\xff]{1,2000}/gi

/**
 * The body of a message whose body is not read: only the links in it. Searches its first megabyte
 * as it is written, with soft line breaks removed and base64 decoded. Linear.
 */
export function reducedBody(raw: Buffer, { bodyOffset }: Header): MessageBody {
  const text = raw.toString('latin1', bodyOffset, bodyOffset + searchedBytesMax)
  const written = text.replaceAll(/=\r?\n/g, '').replaceAll(/=3d/gi, '=')
  const found = new Set<string>()
  for (const searched of [written, ...foldedBase64(text).map(({ decoded }) => decoded)]) {
    for (const [url] of searched.matchAll(link)) {
      if (found.size < linksMax) found.add(url.replace(/[.,;:!?]+$/, ''))
    }
  }
  return { text: [...found].join('\n'), html: '', attachments: [] }
}
