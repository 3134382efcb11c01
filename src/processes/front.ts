import { mkdir } from 'node:fs/promises'
import { z } from 'zod'
import type { App } from '../app.ts'
import type { Config } from '../config.ts'
import { reasonOf, UsageError } from '../errors.ts'
import { createKeyRing } from '../key-ring.ts'
import type { Logger } from '../log.ts'
import { createCallers } from '../outage/callers.ts'
import { createMainClient, type MainClient, MainUnavailable } from '../outage/main-client.ts'
import { createOutage, endlessOutage, type Outage } from '../outage/outage.ts'
import { openSpool, type Spool } from '../outage/spool.ts'
import { createFrontLookUps, listValidAtMain } from '../people/front-callers.ts'
import { systemClock } from '../world.ts'
import { appWithoutDatabase, callersFile, repeat, type Standby } from './standby.ts'

const CONFIRM_MS = 10_000
const FORWARD_MS = 1_000

/**
 * Opens what the `web` of a front needs: it has no database, accepts all reports into its spool,
 * and forwards them to the main installation. FRONT_KEY is its only secret.
 *
 * @throws UsageError if the folder of the spool cannot be used
 */
export async function openFront(
  config: Config,
  log: Logger,
): Promise<{ app: App; standIn: Standby }> {
  const { mainUrl, frontKey } = config
  if (mainUrl === undefined || frontKey === undefined) throw new Error('This is no front.')
  const { folder, bytesMax } = config.spool
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new UsageError([`SPOOL_DIR cannot be used: ${reasonOf(error)}`])
  })
  const app = appWithoutDatabase(
    { ...config, secret: createKeyRing(frontKey, [], systemClock) },
    log,
  )
  const main = createMainClient(mainUrl, frontKey)
  const watched = watchedMain(main)
  const link = createOutage(app, watched, () => void callers.save())
  const listValid = listValidAtMain.bind(undefined, main)
  const callers = await createCallers(
    { ...app, outage: link, listValid },
    callersFile(folder, 'front'),
  )
  const spool = openSpool({ ...app, folder, bytesMax })
  const lookUps = createFrontLookUps(main, callers)

  /** Also notices an outage that no request has met. */
  async function confirm(): Promise<void> {
    await callers.find({ kind: 'limits', key: 'all', find: lookUps.listLimits })
    await callers.confirm()
  }

  const { forward, refusal } = createForwarder(main, { link, spool, log })
  const running = [repeat(() => CONFIRM_MS, confirm), repeat(() => FORWARD_MS, forward)]
  const obstacle = () => (link.since() ? watched.reason() : refusal())
  const front = { ...lookUps, link, obstacle }
  return {
    app,
    standIn: {
      tools: { outage: endlessOutage(app.clock()), callers, spool, front },
      async close() {
        await Promise.all(running.map((one) => one.close()))
        await link.close()
        await spool.close()
        await app.pool.end()
      },
    },
  }
}

type Forwarding = { link: Outage; spool: Spool; log: Logger }

/** Forwards the spool; `refusal` says why the last attempt failed. */
function createForwarder(main: MainClient, { link, spool, log }: Forwarding) {
  let refusal: string | undefined
  async function forward(): Promise<void> {
    if (link.since()) return
    try {
      const entries = await spool.take(main.forward)
      refusal = undefined
      if (entries > 0) log.info({ entries }, 'Forwarded reports to the main installation.')
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== refusal) log.error({ reason }, 'Could not forward reports. They stay here.')
      refusal = reason
    }
  }
  return { forward, refusal: () => refusal }
}

/** The main installation as something that may be away, and why it was the last time. */
function watchedMain(main: MainClient) {
  let reason: string | undefined
  const isOutage = (error: unknown) => {
    if (!(error instanceof MainUnavailable)) return false
    reason = error.message
    return true
  }
  return {
    isOutage,
    isBack: () =>
      main.ask('limits', {}, z.unknown()).then(
        () => true,
        (error: unknown) => !isOutage(error),
      ),
    messages: {
      away: 'The main installation is away. New reports stay on this machine.',
      back: 'The main installation answers again.',
    },
    reason: () => reason ?? 'The main installation does not answer.',
  }
}
