import type { App } from '../app.ts'
import { createChannels } from '../health/channels.ts'
import { type Heartbeats, startHeartbeats } from '../health/heartbeat.ts'
import { createReadHealth } from '../health/read-health.ts'
import { runAlarms } from '../health/run-alarms.ts'
import type { PartMessage } from './parts.ts'
import { createMailer } from '../net/mailer.ts'
import { readSigningKey, signing } from '../net/signing.ts'

/** Processes of which one evaluates the conditions of health. */
const evaluating = ['work', 'count']
/** Alarms must not wait for a mail server that is stuck. */
const mailerLimits = {
  ...{ connectionMs: 10_000, greetingMs: 10_000, silenceMs: 20_000, sendMsMax: 25_000 },
  ...{ placeMs: 10_000, connectionsMax: 1 },
}

/**
 * Stores heartbeats of a process and lets it take part in the evaluation of alarms, until closed.
 * `duty` says what a process does if processes of its name differ, such as its queues.
 *
 * @throws UsageError about the DKIM key
 */
export async function startWatch(
  app: App,
  name: string,
  duty: string,
): Promise<Pick<Heartbeats, 'close'>> {
  const heartbeats = startHeartbeats(app, name, duty)
  process.send?.({ heartbeat: heartbeats.id } satisfies PartMessage)
  if (!evaluating.includes(name)) return heartbeats
  const key = await readSigningKey(app.config, app.log)
  const mailer = signing(createMailer(app.config.alarms.smtpUrl, mailerLimits), key)
  const channels = createChannels(app, mailer)
  const alarms = runAlarms(app, { channels, readHealth: createReadHealth(app) })
  return {
    async close() {
      await alarms.close()
      await mailer?.close(1_000)
      await heartbeats.close()
    },
  }
}
