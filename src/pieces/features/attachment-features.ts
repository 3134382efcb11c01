import type { BodyAttachment } from '../../mail/message-body.ts'
import type { FileContents } from '../file-contents.ts'
import { extensionOf, kindOfExtension, namesMacros } from '../file-kinds.ts'
import type { Material } from './material.ts'

const attachmentsMax = 100
const extensionsMax = 10
const running = new Set<keyof Sums>(['executables', 'scripts', 'shortcuts'])
const innocent =
  /\.(?:pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|txt|html?|mp[34]|csv|zip)\s*\.[a-z\d]{2,5}$/i

/**
 * Computes features from the names of attached files and of the files in them, and from the first
 * bytes of their content.
 */
export function attachmentFeatures({ body, attachments, fileFaults = [] }: Material) {
  const sums = { ...nothing }
  const extensions = new Set<string>()
  let bytes = 0
  for (const [at, attachment] of body.attachments.slice(0, attachmentsMax).entries()) {
    bytes += attachment.content.length
    const extension = addAttachment(sums, attachment, attachments[at]?.contents)
    if (extension !== '' && extensions.size < extensionsMax) extensions.add(extension)
  }
  return {
    ...sums,
    count: body.attachments.length,
    kilobytes: Math.round(bytes / 1_024),
    extensions: [...extensions].sort(),
    unreadable: fileFaults.filter((fault) => fault === 'unreadable').length,
    too_slow: fileFaults.filter((fault) => fault === 'too-slow').length,
    too_large: fileFaults.filter((fault) => fault === 'too-large').length,
    unread: fileFaults.filter((fault) => fault === 'unread').length,
  }
}

const nothing = {
  images: 0,
  pdfs: 0,
  office: 0,
  macros: 0,
  executables: 0,
  scripts: 0,
  web_pages: 0,
  archives: 0,
  encrypted_archives: 0,
  disk_images: 0,
  shortcuts: 0,
  messages: 0,
  calendars: 0,
  double_extensions: 0,
  disguised_names: 0,
  type_differs: 0,
}

type Sums = typeof nothing

function addAttachment(
  sums: Sums,
  { name = '', type, content }: BodyAttachment,
  contents: FileContents = {},
): string {
  const shown = name.slice(-255).trim()
  const extension = extensionOf(shown)
  const magic = magicOf(content)
  const kind = kindOfExtension(extension) ?? kindOfType(type)
  if (kind !== undefined) sums[kind]++
  else if (magic === 'program') sums.executables++
  addName(sums, shown, kind)
  if (contents.hasMacros || namesMacros(shown)) sums.macros++
  if (contents.isEncrypted) sums.encrypted_archives++
  for (const inner of contents.names ?? []) addInner(sums, inner.trim())
  if (differs(kind, type, magic)) sums.type_differs++
  return extension
}

/** Kinds of files that are counted in archives, too. */
const inside = new Set<keyof Sums | undefined>([...running, 'disk_images', 'web_pages'])

function addInner(sums: Sums, name: string): void {
  const kind = kindOfExtension(extensionOf(name))
  if (kind !== undefined && inside.has(kind)) sums[kind]++
  addName(sums, name, kind)
}

function addName(sums: Sums, name: string, kind: keyof Sums | undefined): void {
  if (/[\u202a-\u202e\u2066-\u2069\u200b]|\s{10}/.test(name)) sums.disguised_names++
  const doesRun = kind !== undefined && running.has(kind)
  if (innocent.test(name) && (doesRun || kind === 'web_pages')) sums.double_extensions++
}

function kindOfType(type: string): keyof Sums | undefined {
  if (type.startsWith('image/')) return 'images'
  if (type === 'application/pdf') return 'pdfs'
  if (type === 'text/html') return 'web_pages'
  if (type === 'text/calendar') return 'calendars'
  if (type === 'message/rfc822') return 'messages'
  return undefined
}

type Magic = 'program' | 'zip' | 'ole' | 'pdf' | 'image' | 'unknown'

function magicOf(content: Buffer): Magic {
  const start = content.length < 4 ? 0 : content.readUInt32BE(0)
  if (start >>> 16 === 0x4d5a || start === 0x7f454c46) return 'program'
  if (start === 0x504b0304) return 'zip'
  if (start === 0xd0cf11e0) return 'ole'
  if (start === 0x25504446) return 'pdf'
  if (start === 0x89504e47 || start >>> 8 === 0xffd8ff || start === 0x47494638) return 'image'
  return 'unknown'
}

/**
 * Whether the content contradicts the name or the media type: a program whose name does not say so,
 * or a file that is declared as a picture or PDF but is neither.
 */
function differs(kind: keyof Sums | undefined, type: string, magic: Magic): boolean {
  if (magic === 'unknown') return false
  if (magic === 'program') return kind !== 'executables'
  const saysImage = kind === 'images' || type.startsWith('image/')
  if (saysImage) return magic !== 'image' && type !== 'image/svg+xml'
  return kind === 'pdfs' && magic !== 'pdf'
}
