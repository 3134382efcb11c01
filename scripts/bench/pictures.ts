import { parseHeader } from '../../src/mail/header.ts'
import { parseBody } from '../../src/mail/message.ts'
import { decodePicture } from '../../src/parsing/files/decode-picture.ts'
import { readPdf } from '../../src/parsing/files/pdf.ts'
import { mayBeContent, type Picture } from '../../src/parsing/files/picture.ts'
import { pictureLook } from '../../src/parsing/files/picture-look.ts'
import { isSameLook, lookBands, lookPieces } from '../../src/pieces/looks.ts'
import { onWhite, reencodings } from '../../test/support/pictures.ts'
import { printTable, readCorpus } from './corpus.ts'

/**
 * Prints for the pictures of real messages how many copies are recognized after each way of
 * encoding them again, and how many pairs of different pictures are confused.
 */
export async function benchPictures(): Promise<void> {
  const pictures = await findPictures()
  const looks = pictures.map(pictureLook)
  const rows = Object.entries(reencodings).map(([name, encode]) => {
    let [same, keys, pieces] = [0, 0, 0]
    for (const [index, picture] of pictures.entries()) {
      const copy = decodePicture(encode(picture))
      const [one, other] = [copy ? pictureLook(copy) : '', looks[index] ?? '']
      if (isSameLook(one, other)) same++
      if (share(lookBands(one), lookBands(other))) keys++
      if (share(lookPieces(one), lookPieces(other))) pieces++
    }
    return [name, ...[pictures.length, same, keys, pieces].map(String)]
  })
  printTable(['copies', 'pictures', 'same look', 'common key', 'common shingle'], rows)
  const confused = looks.flatMap((one, index) =>
    looks.slice(index + 1).filter((other) => isSameLook(one, other)),
  )
  const pairs = (looks.length * (looks.length - 1)) / 2
  console.log(`\n${pairs} pairs of different pictures, ${confused.length} with the same look`)
}

function share(some: readonly string[] = [], others: readonly string[] = []): boolean {
  return some.some((one) => others.includes(one))
}

/** Returns the different pictures that may be the content of a message, and have a pattern. */
async function findPictures(): Promise<Picture[]> {
  const found = new Map<string, Picture>()
  for (const raw of readCorpus(['phishing', 'newsletters', 'spam', 'ham'])) {
    const body = await parseBody(raw, parseHeader(raw))
    for (const { content } of body.attachments) {
      const isPdf = content.subarray(0, 1024).includes('%PDF-')
      const pictures = isPdf ? (await readPdf(content)).pictures : [decodePicture(content)]
      for (const picture of pictures) {
        if (!picture || !mayBeContent(picture)) continue
        const look = pictureLook(picture)
        if (lookBands(look)) found.getOrInsert(look, onWhite(picture))
      }
    }
  }
  return [...found.values()]
}
