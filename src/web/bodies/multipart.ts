import { Busboy } from '@fastify/busboy'
import { ProblemError } from '../problem.ts'

/** One part of a form, with its exact bytes. */
export type FormPart = {
  name: string
  /** Undefined for a part without a file name; never used as a path. */
  fileName: string | undefined
  content: Buffer
  /** Whether the part was truncated at the size limit. */
  isCut: boolean
}

export type FormLimits = { partBytesMax: number; partsMax: number }

/**
 * Parses the parts of a form as the body arrives. Every method throws a ProblemError when a limit
 * is exceeded; nothing more is read then.
 */
export type FormParser = {
  write: (chunk: Buffer) => void | Promise<void>
  end: () => FormPart[] | Promise<FormPart[]>
}

/** Number of bytes at the start of a body in which the boundary is searched. */
const START_BYTES = 300
/** Maximum number of bytes per write, so that a limit stops the parser soon. */
const SLICE_BYTES = 8_192
/** Limits for bytes outside the contents: for the whole form and for each part. */
const OVERHEAD_BYTES_MAX = 64_000
const PART_OVERHEAD_BYTES_MAX = 16_000

/**
 * Creates a parser of multipart/form-data (RFC 7578).
 *
 * @throws ProblemError 400 for an invalid form, 422 for too many parts
 */
export function createMultipartParser(contentType: string, limits: FormLimits): FormParser {
  let start = Buffer.alloc(0)
  let parser = /boundary\s*=/i.test(contentType) ? openParser(contentType, limits) : undefined
  const begin = () => {
    parser = openParser(looksMultipart(start) ? typeOf(start) : contentType, limits)
    return parser.write(start)
  }
  return {
    async write(chunk) {
      if (parser) return parser.write(chunk)
      start = Buffer.concat([start, chunk])
      if (start.length >= START_BYTES) await begin()
    },
    async end() {
      if (!parser) await begin()
      return parser?.end() ?? []
    },
  }
}

/** Whether bytes start like a multipart form, regardless of their Content-Type. */
export function looksMultipart(body: Buffer): boolean {
  return /^--[^\r\n]{1,200}\r?\nContent-Disposition: *form-data/i.test(
    body.toString('latin1', 0, START_BYTES),
  )
}

/**
 * Returns a Content-Type with the boundary from the first line of the body, because some clients
 * omit the parameter.
 */
function typeOf(start: Buffer): string {
  const [line = ''] = start.toString('latin1', 2, START_BYTES).split(/\r?\n/)
  return `multipart/form-data; boundary="${line}"`
}

function openParser(contentType: string, limits: FormLimits): FormParser {
  const busboy = openBusboy(contentType, limits)
  const parts: FormPart[] = []
  let failure: ProblemError | undefined
  let isCut = false
  let isFinished = false
  let [read, kept] = [0, 0]
  let wake = (): void => undefined
  const fail = (error: ProblemError) => {
    failure ??= error
    busboy.destroy()
    wake()
  }
  const failBroken = () => fail(broken('The multipart form is incomplete or malformed.'))
  const failFull = () =>
    fail(new ProblemError('bad-field', `A form may have at most ${limits.partsMax} parts.`))
  busboy.on('file', (name: string | undefined, stream, fileName: string | undefined) => {
    const chunks: Buffer[] = []
    const part: FormPart = { name: name ?? '', fileName, content: Buffer.alloc(0), isCut: false }
    parts.push(part)
    stream.on('data', (chunk: Buffer) => {
      kept += chunk.length
      chunks.push(chunk)
    })
    stream.on('limit', () => (isCut = part.isCut = true))
    stream.on('error', failBroken)
    stream.on('end', () => (part.content = Buffer.concat(chunks)))
  })
  busboy.on('partsLimit', failFull)
  busboy.on('filesLimit', failFull)
  busboy.on('error', failBroken)
  // This event may be emitted for the last delimiter, before the end of the body.
  busboy.on('finish', () => {
    isFinished = true
    wake()
  })
  /** Resolves when the parser has processed the chunk or has failed. */
  const settled = async (start: (done: () => void) => void) => {
    if (!failure) await new Promise<void>((resolve) => start((wake = resolve)))
    if (failure) throw failure
  }
  return {
    async write(chunk) {
      for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
        const slice = chunk.subarray(at, at + SLICE_BYTES)
        await settled((done) => void busboy.write(slice, () => done()))
        read += slice.length
        const overhead = OVERHEAD_BYTES_MAX + parts.length * PART_OVERHEAD_BYTES_MAX
        if (!isCut && read - kept > overhead) failBroken()
      }
      if (failure) throw failure
    },
    async end() {
      await settled((done) => {
        busboy.end()
        if (isFinished) done()
      })
      return parts
    },
  }
}

function openBusboy(contentType: string, { partBytesMax, partsMax }: FormLimits) {
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

function broken(detail: string, cause?: unknown): ProblemError {
  return Object.assign(new ProblemError('bad-request', detail), { cause })
}
