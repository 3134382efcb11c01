import { parseHeader } from '../mail/header.ts'
import { type BodyAttachment, parseBody } from '../mail/message-body.ts'
import { exceedsLimits, type StructureLimits } from '../mail/mime-leaves.ts'
import { contentsOf, type FileContents, joinedContents, listContents } from './file-contents.ts'
import { type FileText, ofText, readPage, readText } from './file-text.ts'
import type { FileLinks } from './links.ts'
import { reducedBody } from './reduced-body.ts'

/** What is found in the files of a message without unpacking and decoding them. */
export type AttachedFiles = {
  links: FileLinks[]
  files: BodyAttachment[]
  /** Pictures that are written in pages. */
  pictures: Buffer[]
  /** What is inside a file, by its place in the message. */
  contents: (FileContents | undefined)[]
}

const FILES_MAX = 200
const MESSAGES_MAX = 20
const DEPTH_MAX = 4
const PICTURES_MAX = 50
/** Maximum number of bytes of attached texts, pages and messages that are read. */
const BYTES_MAX = 20_000_000

/**
 * Looks into the files of a message: links in pages, texts, calendars and attached messages, and
 * the names of the files in archives. Linear time.
 */
export async function lookInto(
  attachments: readonly BodyAttachment[],
  limits: StructureLimits,
): Promise<AttachedFiles> {
  const found: AttachedFiles = { links: [], files: [], pictures: [], contents: [] }
  const state = { found, limits, messages: 0, bytes: 0 }
  const bytes = attachments.reduce((sum, { content }) => sum + content.length, 0)
  // The smallest ones first if not all are read: a large one must not hide the others.
  const isMuch = bytes > BYTES_MAX || attachments.length > FILES_MAX
  const bySize = (a: BodyAttachment, b: BodyAttachment) => a.content.length - b.content.length
  const ordered = isMuch ? attachments.toSorted(bySize) : attachments
  const contents = new Map<BodyAttachment, FileContents | undefined>()
  for (const one of ordered.slice(0, FILES_MAX)) contents.set(one, await lookAt(one, state, 0))
  found.contents = attachments.map((one) => contents.get(one))
  return found
}

type State = { found: AttachedFiles; limits: StructureLimits; messages: number; bytes: number }

async function lookAt(file: BodyAttachment, state: State, depth: number) {
  const { found } = state
  const { content } = file
  if (found.files.length < FILES_MAX) found.files.push(file)
  if (state.bytes > BYTES_MAX) return listContents(content, file.name ?? '')
  if (isMessage(file) && depth < DEPTH_MAX && state.messages++ < MESSAGES_MAX) {
    state.bytes += content.length
    return lookIntoMessage(content, state, depth)
  }
  const text = readText(file)
  if (!text) return listContents(content, file.name ?? '')
  state.bytes += content.length
  add(found, text)
  return undefined
}

function add(found: AttachedFiles, { links, pictures }: FileText): void {
  if (links.text !== '' || links.urls.length > 0) found.links.push(links)
  found.pictures.push(...pictures.slice(0, PICTURES_MAX - found.pictures.length))
}

function isMessage({ type, name = '', content }: BodyAttachment): boolean {
  const isNamed =
    /^message\/(?:rfc822|global|news)$/.test(type) || /\.(?:eml|mht(?:ml)?)\s*$/i.test(name)
  return (
    isNamed &&
    /^[\s\uFEFF]{0,9}[\x21-\x39\x3b-\x7e]{1,80}[ \t]{0,9}:|^From /.test(
      content.toString('latin1', 0, 200),
    )
  )
}

/** Looks into an attached message; the names of its files are its contents. */
async function lookIntoMessage(content: Buffer, state: State, depth: number) {
  const header = parseHeader(content)
  const isReduced = exceedsLimits(content, state.limits, header) !== undefined
  const body = isReduced ? reducedBody(content, header) : await parseBody(content, header)
  if (body.html !== '') add(state.found, readPage(body.html))
  if (body.text !== '') add(state.found, ofText(body.text))
  const names = body.attachments.flatMap(({ name }) => name ?? [])
  let contents = contentsOf({ names })
  for (const one of body.attachments) {
    contents = joinedContents(contents, await lookAt(one, state, depth + 1))
  }
  return contents
}
