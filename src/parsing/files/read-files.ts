import type { BodyAttachment } from '../../mail/message.ts'
import type { FileFindings, FileWishes } from '../../pieces/analyze.ts'
import type { FileLinks } from '../../pieces/links.ts'
import { isReadable, mayBeContent, type Picture, pictureSize, type Size } from './picture.ts'

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

type Found = Size & { picture: Picture | Buffer }

/**
 * Reads attached PDF files and the QR codes in pictures, also in those of the PDF files; at most
 * three files and ten pictures, the smallest first, because a large one must not hide a code. The
 * libraries are loaded only here, so that other messages do not pay for them.
 */
export async function readFiles(
  attachments: readonly BodyAttachment[],
  { needsLook }: FileWishes,
): Promise<FileFindings> {
  const links: FileLinks[] = []
  const pictures = attachments.flatMap(({ content }): Found[] => {
    const size = pictureSize(content)
    return size && isReadable(size) ? [{ ...size, picture: content }] : []
  })
  const look = needsLook ? await lookOfLargest(pictures) : undefined
  for (const { content } of attachments.filter(isPdf).slice(0, PDFS_MAX)) {
    const { readPdf } = await import('./pdf.ts')
    const { urls, text, pictures: its } = await readPdf(content)
    links.push({ where: 'pdf', urls, text })
    pictures.push(...its.map((picture) => ({ ...picture, picture })))
  }
  links.push(...(await qrCodesIn(pictures)))
  return { links, look }
}

async function qrCodesIn(pictures: readonly Found[]): Promise<FileLinks[]> {
  if (pictures.length === 0) return []
  const links: FileLinks[] = []
  const { readQrCodes } = await import('./qr-codes.ts')
  const inOrder = pictures.toSorted((a, b) => a.width * a.height - b.width * b.height)
  let pixels = 0
  for (const { picture, width, height } of inOrder.slice(0, PICTURES_MAX)) {
    pixels += width * height
    if (pixels > PIXELS_MAX) break
    const codes = await readQrCodes(picture)
    if (codes.length > 0) links.push({ where: 'qr', urls: [], text: codes.join('\n') })
  }
  return links
}

/** Returns the look of the largest attached picture that may be the content of the message. */
async function lookOfLargest(pictures: readonly Found[]): Promise<string | undefined> {
  const [largest] = pictures
    .filter(mayBeContent)
    .toSorted((a, b) => b.width * b.height - a.width * a.height)
  if (!Buffer.isBuffer(largest?.picture)) return undefined
  const { decodePicture } = await import('./decode-picture.ts')
  const { pictureLook } = await import('./picture-look.ts')
  const picture = decodePicture(largest.picture)
  return picture && pictureLook(picture)
}
