import type { BodyAttachment } from '../../mail/message-body.ts'
import type { Material } from './material.ts'

const attachmentsMax = 100
const extensionsMax = 10
const kinds: readonly (readonly [keyof Sums, string])[] = [
  ['executables', 'exe scr com pif dll msi msix appx jar apk cpl sys xll ocx'],
  ['scripts', 'js jse vbs vbe wsf wsh hta ps1 psm1 bat cmd sh reg chm sct'],
  ['web_pages', 'html htm shtml xhtml mht mhtml svg'],
  ['archives', 'zip rar 7z gz tgz tar bz2 xz ace arj cab lzh z uue'],
  ['disk_images', 'iso img vhd vhdx dmg udf'],
  ['shortcuts', 'lnk url website desktop library-ms search-ms'],
  ['office', 'doc docx docm dot dotm xls xlsx xlsm xlsb xlam ppt pptx pptm rtf odt ods one'],
  ['pdfs', 'pdf'],
  ['messages', 'eml msg'],
  ['calendars', 'ics'],
]
const kindOf = new Map(
  kinds.flatMap(([kind, extensions]) => extensions.split(' ').map((one) => [one, kind] as const)),
)
const macroExtensions = new Set(['docm', 'dotm', 'xlsm', 'xlsb', 'xlam', 'pptm', 'xll'])
const running = new Set<keyof Sums>(['executables', 'scripts', 'shortcuts'])
const innocent =
  /\.(?:pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|txt|html?|mp[34]|csv|zip)\s*\.[a-z\d]{2,5}$/i

/** Computes features from the names of attached files and the first bytes of their content. */
export function attachmentFeatures({ body, fileFaults = [] }: Material) {
  const sums = { ...nothing }
  const extensions = new Set<string>()
  let bytes = 0
  for (const attachment of body.attachments.slice(0, attachmentsMax)) {
    bytes += attachment.content.length
    const extension = addAttachment(sums, attachment)
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

function addAttachment(sums: Sums, { name = '', type, content }: BodyAttachment): string {
  const shown = name.slice(-255).trim()
  const extension = extensionOf(shown)
  const magic = magicOf(content)
  const kind = kindOf.get(extension) ?? kindOfType(type)
  if (kind !== undefined) sums[kind]++
  else if (magic === 'program') sums.executables++
  if (/[\u202a-\u202e\u2066-\u2069\u200b]|\s{10}/.test(shown)) sums.disguised_names++
  const doesRun = kind !== undefined && running.has(kind)
  if (innocent.test(shown) && (doesRun || kind === 'web_pages')) sums.double_extensions++
  if (macroExtensions.has(extension) || hasMacros(magic, content)) sums.macros++
  if (magic === 'zip' && kind === 'archives' && isEncrypted(content)) sums.encrypted_archives++
  if (differs(kind, type, magic)) sums.type_differs++
  return extension
}

function extensionOf(name: string): string {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return name.includes('.') && /^[a-z\d-]{1,10}$/.test(extension) ? extension : ''
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

/** Whether the first entry of a ZIP file is encrypted (APPNOTE 4.4.4, bit 0). */
function isEncrypted(content: Buffer): boolean {
  return content.length > 8 && (content.readUInt16LE(6) & 1) === 1
}

const searchedBytes = 512 * 1024

function hasMacros(magic: Magic, content: Buffer): boolean {
  const searched = content.subarray(0, searchedBytes)
  if (magic === 'zip') return searched.includes('vbaProject.bin')
  return magic === 'ole' && searched.includes('V\0B\0A\0', 0, 'latin1')
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
