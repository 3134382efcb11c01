import { createInflate } from 'node:zlib'
import type { FileFault } from '../../pieces/attachment.ts'
import type { FileLinks } from '../../pieces/links.ts'
import type { ChosenFile } from './choose-files.ts'
import { decodePicture } from './decode-picture.ts'
import { readPdf } from './pdf.ts'
import { type Picture, PIXELS_MAX } from './picture.ts'
import { pictureLook } from './picture-look.ts'
import { readQrCodes } from './qr-codes.ts'

/** What was found in a file, and what kept it from being read to its end. */
export type FileFinding = { links: FileLinks[]; look?: string; fault?: FileFault }

/** Bytes of a pixel of 16 bits per channel, and of the passes of an interlaced picture. */
const PIXEL_BYTES_MAX = 9

/**
 * Reads a PDF file, or a picture that `examinePicture` has checked. Calls `onPart` with what was
 * found so far, because the rest of the file may exceed a limit.
 */
export async function readFile(
  { kind, content, needsLook }: Pick<ChosenFile, 'kind' | 'content' | 'needsLook'>,
  onPart: (part: FileFinding) => void,
): Promise<FileFinding> {
  try {
    return await (kind === 'pdf' ? readPdfFile(content, onPart) : readPicture(content, needsLook))
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
  const keep = ({ urls, text }: { urls: string[]; text: string }) => {
    found.links = [{ where: 'pdf', urls, text }]
    onPart(found)
  }
  const { pictures, isWhole, ...whole } = await readPdf(content, keep)
  keep(whole)
  if (!isWhole) found.fault = 'unreadable'
  const inOrder = pictures.toSorted((a, b) => a.width * a.height - b.width * b.height)
  let pixels = 0
  for (const picture of inOrder) {
    pixels += picture.width * picture.height
    if (pixels > PIXELS_MAX) break
    found.links.push(...(await codesIn(picture)))
    onPart(found)
  }
  return found
}

async function readPicture(content: Buffer, needsLook: boolean): Promise<FileFinding> {
  if (content[0] === 0x89 && !(await inflatesInBounds(content))) {
    return { links: [], fault: 'too-large' }
  }
  const links = await codesIn(content)
  if (!needsLook) return { links }
  const picture = decodePicture(content)
  return picture ? { links, look: pictureLook(picture) } : { links, fault: 'unreadable' }
}

async function codesIn(picture: Picture | Buffer): Promise<FileLinks[]> {
  const codes = await readQrCodes(picture)
  return codes.length === 0 ? [] : [{ where: 'qr', urls: [], text: codes.join('\n') }]
}

/** Whether the data of a checked PNG file inflates to no more than its pixels need. */
async function inflatesInBounds(file: Buffer): Promise<boolean> {
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)]
  const bytesMax = width * height * PIXEL_BYTES_MAX + height * 2 + 64
  const inflate = createInflate()
  const isSound = Promise.withResolvers<boolean>()
  let bytes = 0
  inflate.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > bytesMax) isSound.resolve(false)
  })
  inflate.on('end', () => isSound.resolve(true))
  // What is damaged is left to the decoder, which reads as far as it can.
  inflate.on('error', () => isSound.resolve(true))
  for (let at = 8; at + 12 <= file.length;) {
    const length = file.readUInt32BE(at)
    const isData = file.toString('latin1', at + 4, at + 8) === 'IDAT'
    if (isData) inflate.write(file.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  inflate.end()
  const result = await isSound.promise
  inflate.destroy()
  return result
}
