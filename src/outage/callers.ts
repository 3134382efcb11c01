import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { LRUCache } from 'lru-cache'
import type { CallerKeys, ValidKey } from '../db/known-callers.ts'
import { openBytes, sealBytes } from '../db/sealed-bytes.ts'
import { HOUR_MS } from '../durations.ts'
import { reasonOf } from '../errors.ts'
import type { KeyRing } from '../key-ring.ts'
import type { Logger } from '../log.ts'
import type { Clock } from '../world.ts'
import { needsDatabase, type Outage } from './outage.ts'

/** `limits`: what limits the callers. */
type Kind = keyof CallerKeys | 'limits'

type Question<T> = {
  kind: Kind
  key: string
  find: () => Promise<T | undefined>
  /** Changes when the caller may no longer use what was found, as `listValidKeys` returns it. */
  markOf?: (found: T) => string
}

/**
 * What the database said about callers, so that known ones can report while it is away. What is
 * found is remembered for an hour after the database last confirmed it.
 */
export type Callers = {
  /**
   * Asks the database and remembers the answer. While it is away, returns the remembered answer.
   *
   * @throws BusyError while the database is away, if nothing is remembered
   */
  find: <T>(question: Question<T>) => Promise<T | undefined>
  /** Confirms with the database what is remembered, and forgets what was revoked. */
  confirm: () => Promise<void>
  /**
   * Stores what is remembered in the file, for a process that starts during the outage. The file is
   * deleted when the database answers again.
   */
  save: () => Promise<void>
}

/** Asks the database about each caller, where nothing is remembered. */
export const unknownCallers: Pick<Callers, 'find'> = { find: ({ find }) => find() }

type Known = { kind: Kind; key: string; found: unknown; mark: string | null; at: number }

const KNOWN_MAX = 5_000
const KNOWN_MS = HOUR_MS
const SEALED_FOR = { purpose: 'known callers' } as const

type Needs = {
  /** Returns the keys, of those given, that are still valid. */
  listValid: (keys: CallerKeys, now: Date) => Promise<ValidKey[]>
  clock: Clock
  log: Logger
  config: { secret: KeyRing }
  outage: Pick<Outage, 'since' | 'run'>
}

/** Creates the memory of a process. Reads the file that an earlier process stored. */
export async function createCallers(app: Needs, file: string): Promise<Callers> {
  const known = new LRUCache<string, Known>({ max: KNOWN_MAX })
  const { outage, clock } = app
  const stored = callersFile(file, app)
  for (const one of await stored.read()) known.set(callerKey(one), one)

  function recall<T>({ kind, key }: Question<T>): T {
    const one = known.get(callerKey({ kind, key }))
    if (!one || clock().getTime() - one.at > KNOWN_MS) throw needsDatabase()
    return one.found as T
  }

  return {
    find(question) {
      const { kind, key, find, markOf } = question
      const ask = async () => {
        const found = await find()
        if (found === undefined) {
          known.delete(callerKey(question))
          return undefined
        }
        const mark = markOf?.(found) ?? null
        known.set(callerKey(question), { kind, key, found, mark, at: clock().getTime() })
        return found
      }
      return outage.run(ask, () => recall(question))
    },
    async confirm() {
      const all = [...known.values()]
      const now = clock()
      const valid = await outage.run(
        async () => (all.length > 0 ? app.listValid(keysOf(all), now) : []),
        () => undefined,
      )
      if (!valid) return
      await stored.remove()
      const marks = new Map(valid.map((one) => [callerKey(one), one.mark]))
      for (const one of all) {
        const name = callerKey(one)
        if (one.kind === 'limits' || marks.get(name) === one.mark) one.at = now.getTime()
        else if (known.peek(name) === one) known.delete(name)
      }
    },
    save: () => stored.save([...known.values()]),
  }
}

function keysOf(all: readonly Known[]): CallerKeys {
  const of = (kind: Kind) => all.flatMap((one) => (one.kind === kind ? [one.key] : []))
  return {
    ...{ token: of('token'), account: of('account'), session: of('session') },
    ...{ reporter: of('reporter'), 'mail-in': of('mail-in') },
  }
}

function callerKey({ kind, key }: { kind: Kind; key: string }): string {
  return `${kind} ${key}`
}

/** The file of the callers that a process knew when the database went away. */
function callersFile(file: string, { config, log, clock }: Needs) {
  let mayExist = true
  return {
    async read(): Promise<Known[]> {
      const bytes = await readFile(file).catch(() => undefined)
      if (!bytes) return []
      try {
        const opened = openBytes(bytes, SEALED_FOR, config.secret)
        if (!opened) throw new Error('They were stored with another SECRET.')
        const found = deserialize(opened) as Known[]
        return found.filter(({ at }) => clock().getTime() - at <= KNOWN_MS)
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'The stored callers are not valid. They are ignored.')
        return []
      }
    },
    /** Stores them encrypted, because they contain hashes of passwords and session ids. */
    async save(all: readonly Known[]): Promise<void> {
      mayExist = true
      try {
        await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
        const unfinished = `${file}.${process.pid}`
        await writeFile(unfinished, sealBytes(serialize(all), SEALED_FOR, config.secret), {
          mode: 0o600,
        })
        await rename(unfinished, file)
      } catch (error) {
        log.warn({ reason: reasonOf(error) }, 'Could not store the known callers on disk.')
      }
    },
    /** While the database answers, the file must not bring back callers that are revoked. */
    async remove(): Promise<void> {
      if (mayExist) await rm(file, { force: true })
      mayExist = false
    },
  }
}
