import { looksCompound } from '../mail/containers/compound-file.ts'
import { listZip, looksZip } from '../mail/containers/zip-entries.ts'
import { storableText } from '../mail/text.ts'
import { namesMacros, weightOf } from './file-kinds.ts'

/** What was found in an attached file, other than links. */
export type FileContents = {
  /** The names of the files in it, at most 50: of programs first. */
  names?: string[]
  more?: number
  isEncrypted?: true
  hasMacros?: true
}

type Listing = { names: readonly string[]; isEncrypted?: boolean }

const NAMES_MAX = 50
const NAME_CHARS_MAX = 255
/** How many files of an archive are looked at. */
export const ENTRIES_MAX = 20_000
/** Names of the parts of an Office document say nothing; only those of its macros do. */
const documentParts = /^(?:\[Content_Types\]\.xml|META-INF\/manifest\.xml|mimetype)$/

/** Describes the files in an archive; undefined if there is nothing to say. */
export function contentsOf({ names, isEncrypted = false }: Listing): FileContents | undefined {
  const isDocument = names.some((name) => documentParts.test(name))
  const files = names.filter((name) => !/[\\/]$/.test(name))
  const telling = isDocument ? files.filter((name) => weightOf(name) > 1) : files
  // The end of a name counts, which may be hidden behind blanks.
  const shown = (name: string) => storableText(name.slice(-NAME_CHARS_MAX), NAME_CHARS_MAX)
  const distinct = [...new Set(telling.map(shown))]
  const kept = firstBy(distinct, NAMES_MAX, weightOf)
  const contents: FileContents = {
    ...(kept.length > 0 && { names: kept }),
    ...(distinct.length > kept.length && { more: distinct.length - kept.length }),
    ...(isEncrypted && { isEncrypted }),
    ...(files.some(namesMacros) && { hasMacros: true }),
  }
  return Object.keys(contents).length === 0 ? undefined : contents
}

/** Returns the `max` values with the highest weight, in their order. */
function firstBy<T>(values: readonly T[], max: number, weight: (value: T) => number): T[] {
  if (values.length <= max) return [...values]
  const chosen = new Set(values.toSorted((a, b) => weight(b) - weight(a)).slice(0, max))
  return values.filter((value) => chosen.has(value))
}

/** The stream of macros in the directory of a compound file (MS-OVBA 2.2.1), as it is stored. */
const macroStream = Buffer.from('_VBA_PROJECT\0', 'utf16le')

/**
 * Finds what a file says about its contents without unpacking: the names in a zip archive or a gzip
 * file, and macros of older Office documents. Undefined for other files. Linear time.
 */
export function listContents(content: Buffer, name: string): FileContents | undefined {
  if (looksGzip(content)) {
    const its = gzipName(content) ?? name.replace(/\.gz\s*$/i, '')
    return /\.tar$|\.tgz\s*$/i.test(its) ? undefined : contentsOf({ names: [its] })
  }
  if (looksZip(content)) {
    const entries = listZip(content, ENTRIES_MAX)
    const names = entries.map(({ name }) => name)
    return contentsOf({ names, isEncrypted: entries.some((one) => one.isEncrypted) })
  }
  if (!looksCompound(content) || !content.includes(macroStream)) return undefined
  return { hasMacros: true }
}

/** Whether the bytes begin as a gzip file does. */
export function looksGzip(content: Buffer): boolean {
  return content.length > 18 && content.readUInt16BE(0) === 0x1f8b
}

/** The name of the file in a gzip file (RFC 1952, 2.3). */
function gzipName(content: Buffer): string | undefined {
  const flags = content[3] ?? 0
  if ((flags & 8) === 0) return undefined
  const start = (flags & 4) === 0 ? 10 : 12 + content.readUInt16LE(10)
  const end = content.indexOf(0, start)
  return end > start && end - start < GZIP_NAME_MAX
    ? content.toString('utf8', start, end)
    : undefined
}

const GZIP_NAME_MAX = 1_000

/** Adds what two readers found in the same file. */
export function joinedContents(
  one: FileContents | undefined,
  other: FileContents | undefined,
): FileContents | undefined {
  if (!one || !other) return one ?? other
  const names = [...(one.names ?? []), ...(other.names ?? [])]
  const joined = contentsOf({ names, isEncrypted: one.isEncrypted ?? other.isEncrypted ?? false })
  const more = Math.max(one.more ?? 0, other.more ?? 0) + (joined?.more ?? 0)
  return {
    ...joined,
    ...(more > 0 && { more }),
    ...((one.hasMacros ?? other.hasMacros) && { hasMacros: true }),
  }
}
