import path from 'node:path'
import type { App, AppConfig } from '../app.ts'
import type { Config } from '../config.ts'
import { isOutage } from '../db/follow.ts'
import { type CallerKeys, listValidKeys } from '../db/known-callers.ts'
import { createPool } from '../db/pool.ts'
import { withoutData } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Callers, createCallers } from '../outage/callers.ts'
import { createOutage, endlessOutage, type Outage, watchedDatabase } from '../outage/outage.ts'
import { openSpool, type Spool, type SpoolEntry } from '../outage/spool.ts'
import { Boss } from '../queue/boss.ts'
import type { Front } from '../web/site.ts'
import { takeSpooled } from '../reports/take-spooled.ts'
import { type Rounds, runRounds, systemClock, untilNext } from '../world.ts'
import { keyRingOf } from './keep-secret.ts'
import { takeSpooledMail } from './receive/keep-mail.ts'

/** What a process needs to accept reports while the database is away. */
export type Standby = {
  tools: { outage: Outage; callers: Callers; spool: Spool; front?: Front }
  close: () => Promise<void>
}

const CONFIRM_MS = 10_000
/** Pauses in milliseconds between two looks at the spool: during an outage, and otherwise. */
const TAKE_MS = { away: 1_000, usual: 5_000 }

/**
 * Opens the spool of a process. Stores what is in it while the database answers: what this process
 * accepted during an outage, and what other processes left in the same folder.
 */
export async function openStandby(app: App, name: string): Promise<Standby> {
  const { folder, bytesMax } = app.config.spool
  const onBegin = () => void (bytesMax > 0 && callers.save())
  const outage = createOutage(app, watchedDatabase(app.config), onBegin)
  const callers = await createCallers(askDatabase(app, outage), callersFile(folder, name))
  const spool = openSpool({ ...app, folder, bytesMax })
  const complain = (error: unknown) => {
    if (!isOutage(error)) app.log.error(withoutData(error), 'Could not empty the spool.')
  }

  async function take(): Promise<void> {
    if (outage.since()) return
    const taken = await spool.take((entries) => takeEntries(entries, app))
    if (taken > 0) app.log.info({ entries: taken }, 'Stored the reports of the spool.')
  }

  const running = [
    repeat(() => CONFIRM_MS, callers.confirm, complain),
    repeat(() => (outage.since() ? TAKE_MS.away : TAKE_MS.usual), take, complain),
  ]
  return {
    tools: { outage, callers, spool },
    async close() {
      await Promise.all(running.map((one) => one.close()))
      await outage.close()
      await spool.close()
    },
  }
}

/** Does the work again and again with pauses of `ms()` (see `untilNext`). */
export function repeat(
  ms: () => number,
  work: () => Promise<void>,
  onError?: (error: unknown) => void,
): Rounds {
  return runRounds(async () => {
    await work().catch(onError ?? (() => undefined))
    return untilNext(ms())
  })
}

function askDatabase(app: App, outage: Outage) {
  const listValid = (keys: CallerKeys, now: Date) => listValidKeys(app.pool, keys, now)
  return { ...app, outage, listValid }
}

/** The file with the callers that a process knew when an outage began. */
export function callersFile(folder: string, name: string): string {
  return path.join(folder, `callers-${name}`)
}

/**
 * Opens what a process needs that starts while the database is away. It never asks the database:
 * `openApp` prepares a process for that.
 */
export async function openStandIn(
  config: Config & { databaseUrl: string },
  log: Logger,
  name: string,
): Promise<{ app: App; standIn: Standby }> {
  const { folder, bytesMax } = config.spool
  const secret = await keyRingOf(config)
  const app = appWithoutDatabase({ ...config, secret, drainMs: 0 }, log)
  const outage = endlessOutage(app.clock())
  const callers = await createCallers(askDatabase(app, outage), callersFile(folder, name))
  const spool = openSpool({ ...app, folder, bytesMax })
  const close = async () => {
    await spool.close()
    await app.pool.end()
  }
  return { app, standIn: { tools: { outage, callers, spool }, close } }
}

/** An application whose every query fails, as in an outage. */
export function appWithoutDatabase(config: Omit<AppConfig, 'databaseUrl'>, log: Logger): App {
  const nowhere = encodeURIComponent(path.join(config.spool.folder, 'none'))
  const databaseUrl = `postgres:///none?host=${nowhere}`
  const onLost = () => undefined
  return {
    config: { ...config, databaseUrl },
    pool: createPool(databaseUrl, { connectionsMax: 1, name: 'none', onLost }),
    boss: new Boss({ connectionString: databaseUrl }),
    clock: systemClock,
    log,
  }
}

async function takeEntries(entries: readonly SpoolEntry[], app: App): Promise<SpoolEntry[]> {
  const isMail = ({ values }: SpoolEntry) => 'type' in values && values.type === 'mail'
  return [
    ...(await takeSpooled(
      entries.filter((one) => !isMail(one)),
      app,
    )),
    ...(await takeSpooledMail(entries.filter(isMail), app)),
  ]
}
