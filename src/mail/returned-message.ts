import { type HeaderField, looksLikeMessage, parseHeader } from './header.ts'
import { leafBytes, type MimeLeaf } from './mime-leaves.ts'

/** Types of parts that hold a message, as different mail systems name them. */
export const messageTypes: readonly string[] = [
  ...['message/rfc822', 'message/global', 'message/rfc2822', 'message/x-emlx', 'text/rfc822'],
]
/** Types of parts that hold only the header of a message. */
export const headerTypes: readonly string[] = [
  ...['text/rfc822-headers', 'text/rfc822-header', 'message/rfc822-headers'],
  ...['message/global-headers'],
]
/** Types that systems write when they do not know the type of a message. */
const vagueTypes =
  /^(?:application\/(?:octet-stream|x-[\w.-]{1,60}|eml|rfc822)|text\/(?:plain|x-[\w.-]{1,60}))$/

const partsMax = 50
const headerBytesMax = 128 * 1024
const encodedBytesMax = 2 * headerBytesMax

/**
 * The headers of the messages that a report or a notification encloses: whole messages or only
 * headers, also in parts without a proper type. The first part never counts as one if its type is
 * text, because people also quote headers. Reads at most 50 parts.
 */
export function returnedHeaders(leaves: readonly MimeLeaf[]): HeaderField[][] {
  return leaves.slice(0, partsMax).flatMap((leaf, index) => {
    const fields = headerIn(leaf, index === 0)
    return fields ? [fields] : []
  })
}

function headerIn(leaf: MimeLeaf, isFirst: boolean): HeaderField[] | undefined {
  const { type, content } = leaf
  const isNamed = messageTypes.includes(type) || headerTypes.includes(type)
  if (!isNamed && (isFirst || !mayHoldMessage(leaf))) return undefined
  const start = content.subarray(0, encodedBytesMax)
  const text = (leafBytes({ ...leaf, content: start }) ?? start).toString(
    'latin1',
    0,
    headerBytesMax,
  )
  const header = parseHeader(Buffer.from(text.trimStart(), 'latin1'))
  return isNamed || looksLikeMessage(header) ? header.fields : undefined
}

/** Whether a part may hold a message although its type does not say so. */
export function mayHoldMessage({ type, name = '' }: { type: string; name?: string | undefined }) {
  return vagueTypes.test(type) || /\.eml$/i.test(name.trim())
}
