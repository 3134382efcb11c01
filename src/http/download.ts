import type { Response } from 'express'

/** Hands a message out as a file: never shown, never guessed at, never run. */
export function sendMessage(res: Response, fileName: string, raw: Buffer): void {
  res.statusCode = 200
  res.setHeader('content-type', 'message/rfc822')
  res.setHeader('content-disposition', `attachment; filename="${fileName}"`)
  res.setHeader('content-security-policy', "default-src 'none'; sandbox")
  res.setHeader('cache-control', 'no-store')
  res.setHeader('content-length', raw.length)
  res.end(raw)
}
