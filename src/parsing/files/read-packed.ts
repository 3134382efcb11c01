import { hash } from 'node:crypto'
import type { FileFault, UnpackedContents } from '../../pieces/attachment.ts'
import { contentsOf, joinedContents } from '../../pieces/file-contents.ts'
import { type FileText, ofText, readOfficePart, readRtf, readText } from '../../pieces/file-text.ts'
import { isRtf } from '../../pieces/file-text.ts'
import type { FileLinks } from '../../pieces/links.ts'
import { hasWideText, isOfficePart, openArchive } from './archive.ts'

/** What was found in an archive or a document. `fault`: it has more files than are read. */
export type PackedFinding = { links: FileLinks[]; contents?: UnpackedContents; fault?: FileFault }

/** `readOther` returns the links in a PDF file or a picture; undefined for other files. */
export type PackedTools = {
  readOther: (content: Buffer) => Promise<FileLinks[] | undefined>
  onPart: (part: PackedFinding) => void
}

/** How many archives may be inside each other. */
const DEPTH_MAX = 3
/** Maximum length of the texts that are found in all. */
const TEXT_CHARS_MAX = 512 * 1024

/**
 * Reads an archive, an Office document, a document in RTF, or a shortcut: the links in its files,
 * and what their names say.
 */
export async function readPacked(content: Buffer, tools: PackedTools): Promise<PackedFinding> {
  const reading = new PackedReading(content, tools)
  await reading.read('', content, 0)
  return reading.found
}

class PackedReading {
  readonly found: PackedFinding = { links: [] }
  readonly #tools: PackedTools
  readonly #sha256: string
  #chars = 0

  constructor(content: Buffer, tools: PackedTools) {
    this.#tools = tools
    this.#sha256 = hash('sha256', content)
  }

  async read(name: string, content: Buffer, depth: number): Promise<void> {
    const links = await this.#tools.readOther(content)
    if (links) this.found.links.push(...links)
    else if (isRtf(content)) await this.#add(readRtf(content))
    else if (hasWideText(content)) await this.#add(ofText(wideText(content)))
    else if (depth >= DEPTH_MAX || !(await this.#open(name, content, depth))) {
      await this.#add(readText({ name, type: '', content }))
    }
  }

  async #open(name: string, content: Buffer, depth: number): Promise<boolean> {
    const archive = await openArchive(content)
    if (!archive) return false
    const { listed, files, isDocument, isCut } = archive
    if (isCut) this.found.fault = 'too-large'
    const isEncrypted = listed.some((one) => one.isEncrypted)
    this.#note({ names: listed.map((one) => joinedName(name, one.name)), isEncrypted })
    for (const file of files) {
      const unpacked = await file.read()
      const inner = joinedName(name, file.name)
      if (!isDocument || !isOfficePart(file.name)) await this.read(inner, unpacked, depth + 1)
      else {
        await this.#add(readOfficePart(file.name, unpacked))
        // The part with the macros may have any name.
        if (macroRelation.test(unpacked.toString('latin1'))) this.#note({ names: [macroPart] })
      }
      this.#tools.onPart(this.found)
    }
    return true
  }

  #note(listing: Parameters<typeof contentsOf>[0]): void {
    const joined = joinedContents(this.found.contents, contentsOf(listing))
    if (joined) this.found.contents = { ...joined, sha256: this.#sha256 }
    this.#tools.onPart(this.found)
  }

  async #add(text: FileText | undefined): Promise<void> {
    if (!text) return
    const { links, pictures } = text
    this.#chars += links.text.length + links.urls.join('').length
    const isNew = links.urls.length > 0 || links.text.trim() !== ''
    if (isNew && this.#chars <= TEXT_CHARS_MAX) this.found.links.push(links)
    for (const picture of pictures) {
      this.found.links.push(...((await this.#tools.readOther(picture)) ?? []))
    }
  }
}

const macroRelation = /\/relationships\/(?:vbaProject|xlMacrosheet)\b/
const macroPart = 'vbaProject.bin'

const PATH_CHARS_MAX = 1_000

/** The path to a file in an archive that may itself be in one; of a long one, its end. */
function joinedName(outer: string, name: string): string {
  return (outer === '' ? name : `${outer}/${name}`).slice(-PATH_CHARS_MAX)
}

/** The addresses in a file of Microsoft's programs, whose characters take one or two bytes. */
function wideText(content: Buffer): string {
  const found = content.toString('latin1').matchAll(wideAddress)
  return Array.from(found, ([one]) => one.replaceAll('\0', '')).join('\n')
}

const wideAddress =
  /h\0?t\0?t\0?p\0?(?:s\0?)?:\0?\/\0?\/\0?(?:[\x21\x23-\x26\x28-\x3b\x3d\x3f-\x7e]\0?){1,2000}/gi
