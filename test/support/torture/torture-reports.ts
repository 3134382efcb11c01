import { setTimeout as wait } from 'node:timers/promises'
import { seedShingles, shingleSeed } from '../../../src/pieces/shingles/hash.ts'
import { usualScopes } from '../../../src/db/sessions.ts'
import { addAccount } from '../../../src/processes/add-account.ts'
import { systemClock } from '../../../src/world.ts'
import { findShingleSeed } from '../../../src/db/installation.ts'
import type { Pool } from '../../../src/db/pool.ts'
import { chanceFrom } from '../chance.ts'
import { startSmtpSink } from '../smtp-sink.ts'
import { type Examined, examine } from './examine.ts'
import { type ExaminedMail, examineMail } from './examine-mail.ts'
import { type Line, startLine } from './line.ts'
import { type Account, startReporters } from './reporters.ts'
import { settle, silenceWorkers } from './settle.ts'
import { pick } from './written-mail.ts'

/** The result of a torture run of the whole line; `faults` is empty on success. */
export type TorturedLine = Examined & {
  mail: ExaminedMail
  kills: string[]
  requests: number
  /** Process ends that the test did not cause. */
  surprises: readonly string[]
}

/** The parameters of a run: equal seeds give equal messages and victims, but not equal times. */
export type Torture = {
  kills: number
  seed: number
  say: (line: string) => void
  /** After an abort no more processes are killed, and the state so far is checked. */
  enough?: AbortSignal
}

const REPORTERS = 4
/** Number of relays per reporter. */
const RELAYS = 5
const LAST_WORDS_MS = 1_500
const PAUSE_MS_MIN = 200
const PAUSE_MS_MORE = 1_300
const STANDSTILL_MS_MAX = 1_500

/**
 * Lets simulated reporters report while it kills the processes one after another. Then waits until
 * all reports are processed, compares the counts with an offline count of the accepted reports, and
 * checks that each feedback report was sent.
 */
export async function tortureReports(torture: Torture): Promise<TorturedLine> {
  const startedAt = new Date()
  const sink = await startSmtpSink()
  const line = await startLine(sink.url)
  try {
    const accounts = await addAccounts(line.pool)
    await line.untilReady()
    const reporters = startReporters(line.url, accounts, torture.seed)
    const kills = await killByChance(line, torture)
    await wait(LAST_WORDS_MS)
    await reporters.stop()
    torture.say('Everybody has been answered; waiting for the end of all work.')
    await line.untilReady()
    await settle(line.pool)
    const { ledger } = reporters
    const examined = await seeded(line.pool, () => examine(line.pool, ledger, startedAt))
    const mail = await examineMail(line.pool, sink.messages)
    const faults = [...examined.faults, ...mail.faults]
    const { requests } = ledger
    return { kills, requests, surprises: line.surprises, ...examined, mail, faults }
  } finally {
    await line.close()
    await sink.close()
  }
}

/** Runs work with the shingle seed of the instance under test. */
async function seeded<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  const seed = await findShingleSeed(pool)
  if (seed === undefined) throw new Error('The instance has no seed.')
  const before = shingleSeed()
  seedShingles(seed)
  return work().finally(() => seedShingles(before))
}

async function killByChance(line: Line, { kills, seed, say, enough }: Torture): Promise<string[]> {
  const chance = chanceFrom(seed)
  const killed: string[] = []
  while (killed.length < kills && enough?.aborted !== true) {
    // A process that was just killed may be killed again while starting.
    if (chance() < 0.75) await line.untilReady()
    await wait(PAUSE_MS_MIN + chance() * PAUSE_MS_MORE)
    const victim = pick(chance, line.victims)
    const sleeper = chance() < 0.3 ? pick(chance, line.parts) : undefined
    killed.push(victim)
    const meanwhile = sleeper === undefined ? '' : `, while ${sleeper} stands still`
    say(`${killed.length} of ${kills}: ${victim}${meanwhile}`)
    const goOn = sleeper === undefined ? undefined : line.freeze(sleeper)
    await line.kill(victim)
    // The database may be unavailable, which is part of the test.
    if (chance() < 0.3) await silenceWorkers(line.pool).catch(() => undefined)
    if (goOn) await wait(chance() * STANDSTILL_MS_MAX)
    goOn?.()
  }
  return killed
}

async function addAccounts(pool: Pool): Promise<Account[]> {
  const accounts: Account[] = []
  for (let number = 1; number <= REPORTERS; number++) {
    const email = `reporter${number}@home.example`
    const request = {
      email,
      password: undefined,
      isAdmin: false,
      wantsToken: true,
      scopes: [...usualScopes, 'account' as const],
    }
    const { id, token = '' } = await addAccount(request, { pool, clock: systemClock })
    const relayIps = Array.from({ length: RELAYS }, (_, relay) => `192.0.2.${number * 10 + relay}`)
    accounts.push({ id, token, email, relayIps })
  }
  return accounts
}
