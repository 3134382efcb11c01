import type { Header } from '../mail/header.ts'
import type { MessageBody } from '../mail/message-body.ts'
import { trimmedEnd } from '../mail/text.ts'
import { foldedBase64 } from '../mail/transfer-encoding.ts'

const searchedBytesMax = 1024 * 1024
const linksMax = 60
const link = /https?:\/\/[^\s"'<>()\\\x7f-\xff]{1,2000}/gi

/** A line of base64; in a body without line breaks, all of it. */
const base64Line = /^[A-Za-z0-9+/]{40,}/gm

/**
 * The body of a message whose body is not read: only the links in it. Searches its first megabyte
 * as it is written, with soft line breaks removed and base64 decoded. Linear.
 */
export function reducedBody(raw: Buffer, { bodyOffset }: Header): MessageBody {
  const text = raw.toString('latin1', bodyOffset, bodyOffset + searchedBytesMax)
  const written = text.replaceAll(/=\r?\n/g, '').replaceAll(/=3d/gi, '=')
  const found = new Set<string>()
  for (const searched of [written, ...decodedBase64(text)]) {
    for (const [url] of searched.matchAll(link)) {
      if (found.size < linksMax) found.add(trimmedEnd(url, '.,;:!?'))
    }
  }
  return { text: [...found].join('\n'), html: '', attachments: [] }
}

/** Base64 over several lines, and in single lines. */
function decodedBase64(text: string): string[] {
  const folded = foldedBase64(text)
  const ends = [0, ...folded.map(({ end }) => end)]
  const lines = ends.flatMap((end, index) => {
    return text.slice(end, folded[index]?.start).match(base64Line) ?? []
  })
  const decoded = lines.map((line) => Buffer.from(line, 'base64').toString('latin1'))
  return [...folded.map((one) => one.decoded), ...decoded]
}
