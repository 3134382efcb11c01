import { Busboy } from '@fastify/busboy'
import { ProblemError } from './problem.ts'

/** One part of a form, its bytes exact. */
export type Part = {
  name: string
  /** Undefined for a part that came without one; never used as a path. */
  fileName: string | undefined
  content: Buffer
  /** Whether the part had more bytes than it may. */
  isCut: boolean
}

/** What a form may be at most. */
export type FormLimits = { partBytesMax: number; partsMax: number }

/**
 * The parts of a multipart/form-data body (RFC 7578) in their order.
 *
 * @throws ProblemError 400 for a broken form, 422 for one with too many parts
 */
export function parseMultipart(body: Buffer, contentType: string, limits: FormLimits) {
  return new Promise<Part[]>((resolve, reject) => {
    const busboy = openForm(boundaryGiven(contentType, body), limits)
    const parts: Part[] = []
    const fail = () => reject(broken('The multipart form is cut off or malformed.'))
    busboy.on('file', (name: string | undefined, stream, fileName: string | undefined) => {
      const chunks: Buffer[] = []
      const part: Part = { name: name ?? '', fileName, content: Buffer.alloc(0), isCut: false }
      parts.push(part)
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('limit', () => (part.isCut = true))
      stream.on('error', fail)
      stream.on('end', () => (part.content = Buffer.concat(chunks)))
    })
    const tooMany = () =>
      reject(new ProblemError('bad-field', `A form may have at most ${limits.partsMax} parts.`))
    busboy.on('partsLimit', tooMany)
    busboy.on('filesLimit', tooMany)
    busboy.on('error', fail)
    busboy.on('finish', () => resolve(parts))
    busboy.end(body)
  })
}

/** Whether bytes begin as a multipart form does, whatever their Content-Type says. */
export function looksMultipart(body: Buffer): boolean {
  return /^--[^\r\n]{1,200}\r?\nContent-Disposition: *form-data/i.test(
    body.toString('latin1', 0, 300),
  )
}

function openForm(contentType: string, { partBytesMax, partsMax }: FormLimits) {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      isPartAFile: () => true,
      limits: {
        fileSize: partBytesMax,
        files: partsMax,
        parts: partsMax,
        headerPairs: 20,
        headerSize: 8_000,
      },
    })
  } catch (error) {
    throw broken('The Content-Type must be multipart/form-data with a boundary.', error)
  }
}

/** Some clients forget the boundary parameter: the first line of the body tells it too. */
function boundaryGiven(contentType: string, body: Buffer): string {
  if (/boundary\s*=/i.test(contentType) || !looksMultipart(body)) return contentType
  const [line = ''] = body.toString('latin1', 2, 300).split(/\r?\n/)
  return `multipart/form-data; boundary="${line}"`
}

function broken(detail: string, cause?: unknown): ProblemError {
  return Object.assign(new ProblemError('bad-request', detail), { cause })
}
