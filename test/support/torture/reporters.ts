import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { chanceFrom } from '../chance.ts'
import { createWriter, type Kind, type Mailbox, pick, type Writing } from './written-mail.ts'

/** A reporter with a token for the API. */
export type Account = Mailbox & { id: string; token: string }

/**
 * The facts that a reporter was told about a report. Everything listed here must be true at the
 * end.
 */
export type AcceptedByApi = {
  id: string
  account: Account
  kind: Kind
  /** The bytes that were sent. */
  raw: Buffer
  /** Whether the API has confirmed that the report is retracted, and when. */
  isRetracted: boolean
  retractedMs?: number
}

/**
 * A relay that a reporter has named; `sinceMs` contains the times of the request and of the answer.
 */
type NamedRelay = { account: Account; cidr: string; sinceMs: readonly [number, number] }

/** All answers that the simulated reporters have received so far. */
export type Ledger = {
  told: Map<string, AcceptedByApi>
  /** The other ids that reports got. */
  aliases: Map<string, AcceptedByApi>
  /** In the order in which they were named. */
  relays: NamedRelay[]
  requests: number
  /** By how much the clocks of the instance may differ from ours. */
  clockErrorMs: number
}

/** The running simulated reporters. */
export type Reporters = {
  ledger: Ledger
  stop: () => Promise<void>
  /**
   * Lets each reporter retract the oldest report, and name all relays through which mail came.
   * Called when all reports have been counted: those retracted at random may not have been, and a
   * relay named at random may have no mail that is analyzed again.
   */
  actOnOld: () => Promise<void>
}

/** Number of actions that each reporter performs at the same time. */
const LANES = 2
const PAUSE_MS_MAX = 120
const ANSWER_MS_MAX = 15_000
const PATIENCE_MS = 60_000

/**
 * Lets reporters act at random until stopped: they report, report again, report messages of others,
 * retract (some immediately), and name their relays, each once. A reporter without an answer
 * retries with the same bytes. Rejects at `stop` if an answer was wrong.
 */
export function startReporters(
  url: string,
  accounts: readonly Account[],
  { seed, clockErrorMs }: { seed: number; clockErrorMs: number },
): Reporters {
  const ledger: Ledger = {
    told: new Map(),
    aliases: new Map(),
    relays: [],
    requests: 0,
    clockErrorMs,
  }
  const writer = createWriter(seed)
  const known: Writing[] = []
  const busy = new Set<string>()
  const over = new AbortController()
  const everyone: Tools[] = []
  const lanes = accounts.flatMap((account, number) => {
    const mine = new Map<string, AcceptedByApi>()
    return Array.from({ length: LANES }, async (_, lane) => {
      const chance = chanceFrom(seed * 1_009 + number * 17 + lane)
      const tools: Tools = { url, account, chance, ledger, known, mine, busy }
      if (lane === 0) everyone.push(tools)
      for (let turn = 0; !over.signal.aborted; turn++) {
        const mark = `m${seed}.${number}.${lane}.${turn}`
        await act(tools, {
          write: () => writer.write(chance, account, mark),
          outbreak: () => writer.outbreak(chance, account, mark),
        })
        await wait(chance() * PAUSE_MS_MAX)
      }
    })
  })
  // Errors are collected immediately and thrown at `stop`, because one lane must not end the
  // process.
  const ended = Promise.allSettled(lanes)
  return {
    ledger,
    async stop() {
      over.abort()
      const faults = (await ended).flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
      if (faults.length > 0) throw new AggregateError(faults, String(faults[0]))
    },
    async actOnOld() {
      for (const tools of everyone) {
        const oldest = tools.mine.values().find(({ isRetracted }) => !isRetracted)
        if (oldest) await retract(tools, oldest)
        for (const ip of tools.account.relayIps) {
          const isUsed = tools.mine.values().some(({ raw }) => raw.includes(`[${ip}]`))
          if (isUsed) await tellRelay(tools, [ip])
        }
      }
    },
  }
}

type Tools = {
  url: string
  account: Account
  chance: () => number
  ledger: Ledger
  /** All messages that any reporter has reported. */
  known: Writing[]
  /** The reports of the account, by the digest of their bytes. */
  mine: Map<string, AcceptedByApi>
  /** The reports that are being repeated or retracted, by account and bytes. */
  busy: Set<string>
}

type Pen = { write: () => Writing; outbreak: () => Writing[] }

async function act(tools: Tools, pen: Pen): Promise<void> {
  const { chance, known, mine } = tools
  const what = chance()
  if (what < 0.08 && known.length > 0) {
    const writing = pick(chance, known)
    await repeat(tools, mine.get(digestOf(writing)) ?? writing)
  } else if (what < 0.14 && mine.size > 0) {
    await repeat(tools, pick(chance, [...mine.values()]))
  } else if (what < 0.22 && mine.size > 0) {
    await retract(tools, pick(chance, [...mine.values()]))
  } else if (what < 0.23) {
    await tellRelay(tools)
  } else if (what < 0.26) {
    await Promise.all(pen.outbreak().map((writing) => report(tools, writing)))
  } else {
    const writing = pen.write()
    const told = await report(tools, writing)
    known.push(writing)
    if (chance() < 0.06) await retract(tools, told)
  }
}

/**
 * Repeats a message with the same kind, unless its report is retracted: otherwise the repetition
 * would change the report, which `change-report.test.ts` covers.
 */
async function repeat(tools: Tools, writing: Writing | AcceptedByApi): Promise<void> {
  await alone(tools, writing, async () => {
    if (!('isRetracted' in writing && writing.isRetracted)) await report(tools, writing)
  })
}

/**
 * Acts on a report, unless another lane is acting on it: the later of two actions on one report
 * decides, so only one lane may act at a time.
 */
async function alone(
  { account, busy }: Tools,
  writing: Pick<Writing, 'raw'>,
  act: () => Promise<void>,
): Promise<void> {
  const key = `${account.id} ${digestOf(writing)}`
  if (busy.has(key)) return
  busy.add(key)
  await act().finally(() => busy.delete(key))
}

function digestOf({ raw }: Pick<Writing, 'raw'>): string {
  return hash('sha256', raw)
}

async function report(tools: Tools, { raw, kind }: Writing): Promise<AcceptedByApi> {
  const { account, ledger, mine } = tools
  const body = new Uint8Array(raw)
  const type = 'message/rfc822'
  const { id } = await ask(tools, `/reports?kind=${kind}`, { method: 'POST', body }, type)
  if (typeof id !== 'string') throw new Error('A report was accepted without an id.')
  const known = ledger.told.get(id)
  if (known && (known.account !== account || !known.raw.equals(raw)))
    throw new Error(`Two different reports were given the id ${id}.`)
  // A repeated message that is accepted while the database is away gets another id.
  const digest = digestOf({ raw })
  const told = known ?? mine.get(digest) ?? { id, account, kind, raw, isRetracted: false }
  mine.set(digest, told)
  if (told.id === id) ledger.told.set(id, told)
  else ledger.aliases.set(id, told)
  return told
}

async function retract(tools: Tools, told: AcceptedByApi): Promise<void> {
  await alone(tools, told, async () => {
    const { status } = await ask(tools, `/reports/${told.id}`, { method: 'DELETE' })
    if (status !== 'retracted') throw new Error(`${told.id} was taken back and is "${status}".`)
    told.isRetracted = true
    told.retractedMs ??= Date.now()
  })
}

/** Names the first of the relays that was not named yet. */
async function tellRelay(tools: Tools, relayIps = tools.account.relayIps): Promise<void> {
  const { account, ledger } = tools
  const isTold = (cidr: string) => ledger.relays.some((one) => one.cidr === cidr)
  const cidr = relayIps.map((ip) => `${ip}/32`).find((one) => !isTold(one))
  if (cidr === undefined) return
  const since: [number, number] = [Date.now(), Infinity]
  ledger.relays.push({ account, cidr, sinceMs: since })
  await ask(tools, '/relays', { method: 'PUT', body: JSON.stringify({ cidr }) }, 'application/json')
  since[1] = Date.now()
}

/** Repeats a request until it is answered; a permanent refusal is a fault. */
async function ask(
  { url, account, ledger }: Tools,
  path: string,
  init: RequestInit,
  type?: string,
): Promise<Record<string, unknown>> {
  const headers = {
    authorization: `Bearer ${account.token}`,
    ...(type !== undefined && { 'content-type': type }),
  }
  let obstacle: unknown
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await wait(100)) {
    ledger.requests++
    try {
      const signal = AbortSignal.timeout(ANSWER_MS_MAX)
      const answer = await fetch(`${url}/api/v1${path}`, { ...init, headers, signal })
      const text = await answer.text()
      if (answer.ok) return JSON.parse(text) as Record<string, unknown>
      obstacle = new Error(`${init.method} ${path} was answered ${answer.status}: ${text}`)
    } catch (cause) {
      obstacle = new Error(`${init.method} ${path} was not answered.`, { cause })
      continue
    }
    if (!/ answered (429|5..):/.test(String(obstacle))) throw obstacle
  }
  throw new Error('There was no answer in time.', { cause: obstacle })
}
