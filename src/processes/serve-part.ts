import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import { UsageError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Standby } from './standby.ts'
import { closeInTime, stopSignal } from './stop-signal.ts'

/**
 * Runs a part of Signalpost until it is asked to stop. Resolves to its exit code.
 *
 * @throws UsageError without a database
 */
export async function serve(
  config: Config,
  log: Logger,
  name: string,
  role: 'sends' | 'works',
  open: (app: App) => Promise<{ close: () => Promise<void> }>,
  { openStandIn, names = [] }: { openStandIn?: StandIn; names?: readonly string[] } = {},
): Promise<number> {
  if (config.databaseUrl === undefined) {
    const { refuseOnFront } = await import('./open-app.ts')
    refuseOnFront(config)
    throw new UsageError([
      'DATABASE_URL is not set. Only "start" can run without it, with its own PostgreSQL.',
    ])
  }
  const stopping = stopSignal()
  const { openApp } = await import('./open-app.ts')
  const its = { ...config, databaseUrl: config.databaseUrl }
  const standIn = openStandIn && (await standInFor(its, log, name, openStandIn))
  const opening = openApp(its, role, log, name)
  const app = await Promise.race([opening, stopping])
  await standIn?.close()
  // No resource is open yet, so the process may exit immediately.
  if (!app) process.exit(0)
  const { startWatch } = await import('./watch.ts')
  const watch = await startWatch(app, name, names.toSorted().join())
  const { keepActivity } = await import('../activity/keep-activity.ts')
  const part = await open(app).catch(async (error: unknown) => {
    await watch.close()
    await app.close()
    throw error
  })
  const activity = keepActivity(app, name)
  process.send?.('ready')
  await stopping
  await closeInTime(async () => {
    await part.close()
    await watch.close()
    await activity.close()
    await app.close()
  }, config.drainMs)
  return 0
}

/** Opens a part that takes reports while the database is away. */
export type StandIn = (app: App, standby: Standby) => Promise<{ close: () => Promise<void> }>

/** Opens the stand-in of a process that starts while the database is away. */
async function standInFor(
  config: Config & { databaseUrl: string },
  log: Logger,
  name: string,
  open: StandIn,
): Promise<{ close: () => Promise<void> } | undefined> {
  const { databaseState } = await import('../db/installation.ts')
  if (config.spool.bytesMax === 0 || (await databaseState(config.databaseUrl)) !== 'away') return
  log.warn('The database is away. New reports are stored on disk until it is back.')
  const { openStandIn } = await import('./standby.ts')
  const { app, standIn } = await openStandIn(config, log, name)
  return open(app, standIn)
}
