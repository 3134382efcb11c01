import type { BodyAttachment } from '../../mail/message.ts'
import type { FileLinks } from '../../pieces/links.ts'
import { isReadable, type Picture, pictureSize, type Size } from './picture.ts'

const PDFS_MAX = 3
const PDF_BYTES_MAX = 10_000_000
/** PDF files may begin with other bytes. */
const PDF_START_BYTES = 1_024
const PICTURES_MAX = 10
/** Maximum number of pixels in all pictures of a message; their decoding takes up to a second. */
const PIXELS_MAX = 12_000_000

function isPdf({ content }: BodyAttachment): boolean {
  const isSmall = content.length > 0 && content.length <= PDF_BYTES_MAX
  return isSmall && content.subarray(0, PDF_START_BYTES).includes('%PDF-')
}

/**
 * Reads attached PDF files and the QR codes in pictures, also in those of the PDF files; at most
 * three files and ten pictures, the smallest first, because a large one must not hide a code. The
 * libraries are loaded only here, so that other messages do not pay for them.
 */
export async function readFiles(attachments: readonly BodyAttachment[]): Promise<FileLinks[]> {
  const found: FileLinks[] = []
  const pictures: (Size & { picture: Picture | Buffer })[] = attachments.flatMap(({ content }) => {
    const size = pictureSize(content)
    return size && isReadable(size) ? [{ ...size, picture: content }] : []
  })
  for (const { content } of attachments.filter(isPdf).slice(0, PDFS_MAX)) {
    const { readPdf } = await import('./pdf.ts')
    const { urls, text, pictures: its } = await readPdf(content)
    found.push({ where: 'pdf', urls, text })
    pictures.push(...its.map((picture) => ({ ...picture, picture })))
  }
  if (pictures.length === 0) return found
  const { readQrCodes } = await import('./qr-codes.ts')
  pictures.sort((a, b) => a.width * a.height - b.width * b.height)
  let pixels = 0
  for (const { picture, width, height } of pictures.slice(0, PICTURES_MAX)) {
    pixels += width * height
    if (pixels > PIXELS_MAX) break
    const codes = await readQrCodes(picture)
    if (codes.length > 0) found.push({ where: 'qr', urls: [], text: codes.join('\n') })
  }
  return found
}
