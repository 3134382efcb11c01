import { Busboy } from '@fastify/busboy'
import { ProblemError } from '../problem.ts'

/** One part of a form, its bytes exact. */
export type FormPart = {
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
 * Reads the parts of a form while its body comes. Every method throws a ProblemError at the first
 * limit that is exceeded; nothing more is read then.
 */
export type FormParser = {
  write: (chunk: Buffer) => void | Promise<void>
  /** The parts in their order. */
  end: () => FormPart[] | Promise<FormPart[]>
}

/** The first bytes of a body, which tell the boundary where the Content-Type does not. */
const START_BYTES = 300
/** What one write may take: a limit stops the parser within these bytes. */
const SLICE_BYTES = 8_192
/** Bytes outside the contents of parts: for the start of the form and of each part. */
const OVERHEAD_BYTES_MAX = 64_000
const PART_OVERHEAD_BYTES_MAX = 16_000

/**
 * A parser of multipart/form-data (RFC 7578).
 *
 * @throws ProblemError 400 for a broken form, 422 for one with too many parts
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

/** Whether bytes begin as a multipart form does, whatever their Content-Type says. */
export function looksMultipart(body: Buffer): boolean {
  return /^--[^\r\n]{1,200}\r?\nContent-Disposition: *form-data/i.test(
    body.toString('latin1', 0, START_BYTES),
  )
}

/** Some clients forget the boundary parameter: the first line of the body tells it too. */
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
  const failBroken = () => fail(broken('The multipart form is cut off or malformed.'))
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
  // This may come with the last delimiter, before the end of the body.
  busboy.on('finish', () => {
    isFinished = true
    wake()
  })
  /** Resolves when the parser is done with it, or has failed. */
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
