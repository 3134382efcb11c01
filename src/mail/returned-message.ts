import { type HeaderField, looksLikeMessage, parseHeader } from './header.ts'
import { type Entity, leafText } from './mime-tree.ts'
import { partFields } from './part-fields.ts'

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
const headerCharsMax = 128 * 1024
const encodedCharsMax = 2 * headerCharsMax

/** The parts of a mail in their order, at most 50; an attached message is one part. */
export function ownParts(tree: Entity): Entity[] {
  const parts: Entity[] = []
  const rest = [tree]
  for (let seen = 0; rest.length > 0 && seen < partsMax; seen++) {
    const entity = rest.shift() as Entity
    if (entity.body.kind === 'multipart') {
      rest.unshift(...entity.body.parts.slice(0, partsMax).map((part) => part.entity))
    } else parts.push(entity)
  }
  return parts
}

/**
 * The headers of the messages that a report or a notification encloses: whole messages or only
 * headers, also in parts without a proper type. The first part never counts as one if its type is
 * text, because people also quote headers.
 */
export function returnedHeaders(parts: readonly Entity[]): HeaderField[][] {
  return parts.flatMap((entity, index) => {
    const fields = headerIn(entity, index === 0)
    return fields ? [fields] : []
  })
}

function headerIn(entity: Entity, isFirst: boolean): HeaderField[] | undefined {
  const { body, type } = entity
  if (body.kind === 'message') return body.message.fields
  if (body.kind !== 'leaf') return undefined
  const isNamed = messageTypes.includes(type) || headerTypes.includes(type)
  if (!isNamed && (isFirst || !mayHoldMessage({ type, name: partFields(entity.fields).name })))
    return undefined
  const start = { ...entity, body: { ...body, text: body.text.slice(0, encodedCharsMax) } }
  const text = leafText(start).slice(0, headerCharsMax).trimStart()
  const header = parseHeader(Buffer.from(text, 'latin1'))
  return isNamed || looksLikeMessage(header) ? header.fields : undefined
}

/** Whether a part may hold a message although its type does not say so. */
export function mayHoldMessage({ type, name = '' }: { type: string; name?: string | undefined }) {
  return vagueTypes.test(type) || /\.eml$/i.test(name.trim())
}
