import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import type { Request, Response } from 'express'

/** The encodings we use, the best one first. */
const encodings = ['br', 'gzip'] as const

type Encoding = (typeof encodings)[number]

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/**
 * Fast settings: a page of 9 KB takes 0.11 ms with Brotli and 0.12 ms with gzip. The usual quality
 * 4 of Brotli takes 0.24 ms and makes it 3 % smaller.
 */
const pageOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: 16 },
}
const pageLevel = 3

/**
 * Ends a response with a text that differs from request to request, compressed if the client
 * accepts it. A compressed text must not contain a secret beside input of another site (BREACH).
 */
export function endText(req: Request, res: Response, text: string): void {
  const encoding = encodingFor(req, res)
  if (encoding === 'br') return void res.end(brotliCompressSync(text, pageOptions))
  if (encoding === 'gzip') return void res.end(gzipSync(text, { level: pageLevel }))
  res.end(text)
}

/**
 * Returns a function that ends responses with the same content. It is compressed as small as
 * possible when the first client accepts that encoding, and kept in memory.
 */
export function createFixedContent(content: Buffer | string) {
  const kept = new Map<Encoding, Promise<Buffer>>()
  return async (req: Request, res: Response): Promise<void> => {
    const encoding = encodingFor(req, res)
    if (encoding === undefined) return void res.end(content)
    res.end(await kept.getOrInsertComputed(encoding, () => compress[encoding](content)))
  }
}

/** Chooses the encoding of a response and states it in its header. */
function encodingFor(req: Request, res: Response): Encoding | undefined {
  res.vary('Accept-Encoding')
  const encoding = encodings.find((one) => req.acceptsEncodings(one) === one)
  if (encoding !== undefined) res.setHeader('content-encoding', encoding)
  return encoding
}
