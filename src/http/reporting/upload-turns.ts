import { ProblemError } from '../problem.ts'
import { AbortedError } from '../read-body.ts'

/** Who waits for a turn: whose upload it is, how big, and whether he is still there. */
export type Waiting = { reporterId: string; bytes: number; gone: AbortSignal }

/** Does the work when it has its turn, and answers as the work does. */
export type TakeTurn = <T>(who: Waiting, work: () => Promise<T>) => Promise<T>

/**
 * Turns for so many pieces of work at once, never two of the same reporter: one who sends what
 * takes long waits for himself. What of one reporter waits is at most `ownBytesMax`, or one upload.
 * Who has gone gives up his place, and is rejected with an AbortedError.
 */
export function createTurns(places: number, ownBytesMax: number): TakeTurn {
  const served = new Set<string>()
  const waiting: (Waiting & { start: () => void })[] = []

  function pump(): void {
    while (served.size < places) {
      const at = waiting.findIndex(({ reporterId }) => !served.has(reporterId))
      const [next] = at < 0 ? [] : waiting.splice(at, 1)
      if (!next) return
      served.add(next.reporterId)
      next.start()
    }
  }

  function hasTurn(who: Waiting): Promise<void> {
    const own = waiting.filter(({ reporterId }) => reporterId === who.reporterId)
    const ownBytes = own.reduce((sum, { bytes }) => sum + bytes, 0)
    if (own.length > 0 && ownBytes + who.bytes > ownBytesMax) throw tooMuch()
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(entry), 1)
        reject(new AbortedError('the client went away'))
      }
      const start = () => {
        who.gone.removeEventListener('abort', leave)
        resolve()
      }
      const entry = { ...who, start }
      waiting.push(entry)
      who.gone.addEventListener('abort', leave)
      pump()
    })
  }

  return async (who, work) => {
    if (who.gone.aborted) throw new AbortedError('the client went away')
    await hasTurn(who)
    try {
      return await work()
    } finally {
      served.delete(who.reporterId)
      pump()
    }
  }
}

function tooMuch(): ProblemError {
  return new ProblemError(
    'unavailable',
    'Other uploads of yours wait already. Try again shortly.',
    {
      'retry-after': '5',
    },
  )
}
