import { z } from 'zod'
import { reasonOf } from '../errors.ts'
import { encodeEntries, type SpoolEntry } from './spool.ts'

/** The main installation did not take or answer a request; the message says why. */
export class MainUnavailable extends Error {
  override name = 'MainUnavailable'
}

/** Where a main installation serves its fronts, below MAIN_URL. */
const FRONT_PATH = '/api/front'

/** The requests of a front to its main installation. They reject with `MainUnavailable`. */
export type MainClient = {
  ask: <T>(question: string, given: object, answer: z.ZodType<T>) => Promise<T>
  /**
   * Resolves when the main installation has stored the entries. Returns those that cannot be
   * stored. May be repeated, because an entry that is stored already changes nothing.
   */
  forward: (entries: readonly SpoolEntry[]) => Promise<SpoolEntry[]>
}

const ASK_MS_MAX = 10_000
/** Enough for a message of 25 MB at 2 Mbit/s. */
const FORWARD_MS_MAX = 120_000
const ANSWER_BYTES_MAX = 2_000_000
/** Maximum size in bytes of a request with several entries. A larger entry is sent alone. */
const PART_BYTES_MAX = 8_000_000

/** The answer to forwarded entries: how many arrived, and the ids of those that are refused. */
export type ForwardAnswer = z.infer<typeof forwardAnswer>
const forwardAnswer = z.object({ taken: z.number(), refused: z.array(z.string()) })

type Sent = { body: string | Buffer; type: string; msMax: number }

/** Creates a client. The certificate of the main installation is always verified. */
export function createMainClient(mainUrl: string, frontKey: string): MainClient {
  async function post(question: string, { body, type, msMax }: Sent) {
    try {
      const answer = await fetch(`${mainUrl}${FRONT_PATH}/${question}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${frontKey}`, 'content-type': type },
        body: body as string | Buffer<ArrayBuffer>,
        redirect: 'manual',
        signal: AbortSignal.timeout(msMax),
      })
      return { status: answer.status, text: await readBounded(answer) }
    } catch (error) {
      if (error instanceof MainUnavailable) throw error
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
      const reason = reasonOf(cause).replace(/\.$/, '')
      throw new MainUnavailable(`The main installation does not answer: ${reason}.`)
    }
  }

  async function forwardPart(entries: readonly SpoolEntry[]): Promise<SpoolEntry[]> {
    const sent = { type: 'application/octet-stream', msMax: FORWARD_MS_MAX }
    const { status, text } = await post('reports', { ...sent, body: encodeEntries(entries) })
    const { taken, refused } = readAnswer(status, text, forwardAnswer)
    if (taken !== entries.length) {
      throw new MainUnavailable('The main installation did not get all reports.')
    }
    return entries.filter(({ id }) => refused.includes(id))
  }

  return {
    async ask(question, given, schema) {
      const body = JSON.stringify(given)
      const sent = { body, type: 'application/json', msMax: ASK_MS_MAX }
      const { status, text } = await post(question, sent)
      return readAnswer(status, text, schema)
    },
    async forward(entries) {
      const refused: SpoolEntry[] = []
      for (const part of partsOf(entries)) refused.push(...(await forwardPart(part)))
      return refused
    },
  }
}

async function readBounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) {
      throw new MainUnavailable('The answer of the main installation is too large.')
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function readAnswer<T>(status: number, text: string, schema: z.ZodType<T>): T {
  if (status !== 200) throw new MainUnavailable(refusals[status] ?? unexpected(status))
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    const says = 'The answer of the main installation is not valid. Install the same version there.'
    throw new MainUnavailable(says, { cause: error })
  }
}

const refusals: Readonly<Record<number, string>> = {
  401: 'The main installation refuses FRONT_KEY. Set the same FRONT_KEY there and here.',
  404: 'There is no main installation with FRONT_KEY at MAIN_URL. Check both settings.',
  503: 'The main installation is temporarily unavailable.',
  413: 'The main installation or its proxy refuses large messages. Raise MESSAGE_BYTES_MAX there.',
}

function unexpected(status: number): string {
  return `The main installation answered HTTP ${status}.`
}

/** Divides entries into parts of at most `PART_BYTES_MAX`, in their order. */
function partsOf(entries: readonly SpoolEntry[]): SpoolEntry[][] {
  const parts: SpoolEntry[][] = []
  let bytes = 0
  for (const entry of entries) {
    const last = parts.at(-1)
    bytes += entry.content.length
    if (last && bytes <= PART_BYTES_MAX) last.push(entry)
    else {
      parts.push([entry])
      bytes = entry.content.length
    }
  }
  return parts
}
