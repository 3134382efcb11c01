import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import { isOutage } from '../db/follow.ts'
import { createPool } from '../db/pool.ts'
import { withoutData } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Callers, createCallers } from '../outage/callers.ts'
import { createOutage, endlessOutage, type Outage } from '../outage/outage.ts'
import { openSpool, type Spool, type SpoolEntry } from '../outage/spool.ts'
import { Boss } from '../queue/boss.ts'
import { takeSpooled } from '../reports/take-spooled.ts'
import { systemClock } from '../world.ts'
import { keptSecret } from './data-dir.ts'
import { takeSpooledMail } from './receive/keep-mail.ts'

/** What a process needs to accept reports while the database is away. */
export type Standby = {
  tools: { outage: Outage; callers: Callers; spool: Spool }
  close: () => Promise<void>
}

const CONFIRM_MS = 10_000
const TAKE_MS = 1_000

/**
 * Opens the spool of a process. Stores what is in it while the database answers: what this process
 * accepted during an outage, and what other processes left in the same folder.
 */
export async function openStandby(app: App, name: string): Promise<Standby> {
  const { folder, bytesMax } = app.config.spool
  const onBegin = () => void (bytesMax > 0 && callers.save())
  const outage = createOutage(app, onBegin)
  const callers = await createCallers({ ...app, outage }, path.join(folder, `callers-${name}`))
  const spool = openSpool({ ...app, folder, bytesMax })
  const stop = new AbortController()

  async function every(ms: number, work: () => Promise<void>): Promise<void> {
    while (!stop.signal.aborted) {
      await work().catch((error: unknown) => {
        if (!isOutage(error)) app.log.error(withoutData(error), 'Could not empty the spool.')
      })
      await wait(ms, undefined, { signal: stop.signal, ref: false }).catch(() => undefined)
    }
  }

  async function take(): Promise<void> {
    if (outage.since()) return
    const taken = await spool.take((entries) => takeEntries(entries, app))
    if (taken > 0) app.log.info({ entries: taken }, 'Stored the reports of the spool.')
  }

  const running = [every(CONFIRM_MS, callers.confirm), every(TAKE_MS, take)]
  return {
    tools: { outage, callers, spool },
    async close() {
      stop.abort()
      await Promise.all(running)
      await outage.close()
      await spool.close()
    },
  }
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
  const databaseUrl = `postgres:///none?host=${encodeURIComponent(path.join(folder, 'none'))}`
  const onLost = () => undefined
  const secret = config.secret ?? (await keptSecret(config.dataDir))
  const app: App = {
    config: { ...config, secret, databaseUrl, drainMs: 0 },
    pool: createPool(databaseUrl, { connectionsMax: 1, name, onLost }),
    boss: new Boss({ connectionString: databaseUrl }),
    clock: systemClock,
    log,
  }
  const outage = endlessOutage(app.clock())
  const callers = await createCallers({ ...app, outage }, path.join(folder, `callers-${name}`))
  const spool = openSpool({ ...app, folder, bytesMax })
  const close = async () => {
    await spool.close()
    await app.pool.end()
  }
  return { app, standIn: { tools: { outage, callers, spool }, close } }
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
