import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { ReportedBy } from '../../reports/message-refusal.ts'
import { ProblemError, type ProblemName } from '../problem.ts'
import { bodyTasks, type BodyTasks } from './body-tasks.ts'

/** A task on one body; a transferred Buffer arrives as a plain Uint8Array. */
export type ThreadTask = {
  name: keyof BodyTasks
  bytes: Uint8Array
  bytesMax: number
  by: ReportedBy | undefined
}

export type ThreadMade =
  | { made: ReturnType<BodyTasks[keyof BodyTasks]> }
  | { problem: ProblemName; detail: string }

/** Runs in a thread of the body pool. The bytes of the message are transferred, not copied. */
export default function run({ name, bytes, bytesMax, by }: ThreadTask): unknown {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const made = bodyTasks[name](body, bytesMax, by)
    if ('message' in made) {
      const { header, raw } = made.message
      return raw === body ? { made: { message: { header } } } : moved({ message: { header } }, raw)
    }
    return 'raw' in made && made.raw ? moved(made, made.raw) : { made }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return { problem: error.problem, detail: error.message }
  }
}

function moved(made: object, bytes: Buffer): unknown {
  const raw = new Uint8Array(bytes)
  return move({
    [transferableSymbol]: [raw.buffer],
    [valueSymbol]: { made: { ...made, raw } },
  })
}
