import { createInflate } from 'node:zlib'
import type { FileFault, UnpackedContents } from '../../pieces/attachment.ts'
import type { FileLinks } from '../../pieces/links.ts'
import { type FileToRead, isPdf } from './choose-files.ts'
import { readPdf } from './pdf.ts'
import { isWorthReading, type Picture } from './picture.ts'
import { examinePicture } from './picture-file.ts'
import { pictureLook, decodePicture } from './picture-look.ts'
import { readQrCodes } from './qr-codes.ts'
import { readPacked } from './read-packed.ts'

/** What was found in a file, and what kept it from being read to its end. */
export type FileFinding = {
  links: FileLinks[]
  contents?: UnpackedContents
  look?: string
  fault?: FileFault
}

/** Bytes of a pixel of 16 bits per channel, and of the passes of an interlaced picture. */
const PIXEL_BYTES_MAX = 9

/**
 * Reads a PDF file, an archive or a document, or a picture that `examinePicture` has checked. Calls
 * `onPart` with what was found so far, because the rest of the file may exceed a limit.
 */
export async function readFile(
  { kind, content, needsLook }: Pick<FileToRead, 'kind' | 'content' | 'needsLook'>,
  onPart: (part: FileFinding) => void,
): Promise<FileFinding> {
  try {
    switch (kind) {
      case 'pdf':
        return await readPdfFile(content, onPart)
      case 'packed':
        return await readPacked(content, { readOther, onPart })
      case 'picture':
        return await readPicture(content, needsLook, onPart)
    }
  } catch (error) {
    const isMemory = error instanceof RangeError && /alloc|length|size/i.test(error.message)
    return { links: [], fault: isMemory ? 'too-large' : 'unreadable' }
  }
}

async function readPdfFile(
  content: Buffer,
  onPart: (part: FileFinding) => void,
): Promise<FileFinding> {
  const found: FileFinding = { links: [] }
  const keep = ({ urls, text, more }: { urls: string[]; text: string; more: number }) => {
    found.links = [{ where: 'pdf', urls, text, ...(more > 0 && { more }) }]
    onPart(found)
  }
  const { pictures, isWhole, ...whole } = await readPdf(content, keep)
  keep(whole)
  if (!isWhole) found.fault = 'unreadable'
  for (const picture of pictures) {
    const codes = await codesIn(picture)
    found.links.push(...codes)
    if (codes.length > 0) onPart(found)
  }
  return found
}

/** The links in a PDF file or a picture inside another file; undefined for other files. */
async function readOther(content: Buffer): Promise<FileLinks[] | undefined> {
  if (isPdf(content)) return (await readPdfFile(content, () => undefined)).links
  const picture = examinePicture(content)
  if (!picture) return undefined
  if ('fault' in picture || !isWorthReading(picture)) return []
  return (await readPicture(picture.content, false, () => undefined)).links
}

async function readPicture(
  content: Buffer,
  needsLook: boolean,
  onPart: (part: FileFinding) => void,
): Promise<FileFinding> {
  const fault = content[0] === 0x89 ? await inflationFault(content) : undefined
  if (fault) return { links: [], fault }
  const links = await codesIn(content)
  if (!needsLook) return { links }
  if (links.length > 0) onPart({ links })
  const picture = decodePicture(content)
  return picture ? { links, look: pictureLook(picture) } : { links, fault: 'unreadable' }
}

async function codesIn(picture: Picture | Buffer): Promise<FileLinks[]> {
  const codes = await readQrCodes(picture)
  return codes.length === 0 ? [] : [{ where: 'qr', urls: [], text: codes.join('\n') }]
}

/** What is left to the decoder, which reads as far as it can: an end that is missing or wrong. */
const harmless = ['unexpected end of file', 'incorrect data check']

/**
 * Why the data of a checked PNG file must not be decoded: they inflate to more than its pixels
 * need, or it is unknown to how much, because only some decoders accept them.
 */
async function inflationFault(file: Buffer): Promise<FileFault | undefined> {
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  const bytesMax = width * height * PIXEL_BYTES_MAX + height * 2 + 64
  const inflate = createInflate()
  const fault = Promise.withResolvers<FileFault | undefined>()
  let bytes = 0
  inflate.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax) fault.resolve('too-large')
  })
  inflate.on('end', () => fault.resolve(undefined))
  inflate.on('error', ({ message }) => {
    fault.resolve(harmless.includes(message) ? undefined : 'unreadable')
  })
  for (let at = 8; at + 12 <= file.length;) {
    const length = file.readUInt32BE(at)
    const isData = file.toString('latin1', at + 4, at + 8) === 'IDAT'
    if (isData) inflate.write(file.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  inflate.end()
  const found = await fault.promise
  inflate.destroy()
  return found
}
