import type { App } from '../app.ts'
import { UsageError } from '../errors.ts'
import { createMessageChecker } from '../judging/check-message.ts'
import { createSenderWatch } from '../judging/sender-watch.ts'
import { queueAlertWebhooks } from '../people/deliver-webhooks.ts'
import { serveChecks } from '../web/check/serve-check.ts'
import { openClientBlacklists } from './open-network.ts'

/**
 * Answers checks of mail servers. Resolves when it listens, and continues until it is closed.
 *
 * @throws UsageError if CHECK_PORT is not set, or listing every invalid entry of BLACKLISTS
 */
export async function check(app: App): Promise<{ close(): Promise<void>; url: string }> {
  const { checkPort } = app.config
  if (checkPort === undefined) throw new UsageError(['CHECK_PORT is not set.'])
  const blacklists = await openClientBlacklists(app.config, app)
  const watch = createSenderWatch(app, (tx, id) =>
    queueAlertWebhooks(tx, app.boss, id, app.clock()),
  )
  const served = await serveChecks(
    { ...app, config: { ...app.config, checkPort } },
    createMessageChecker(app, 'check', { askAboutClient: blacklists.ask, watch }),
  )
  const { url, milterPort } = served
  app.log.info({ url, milterPort }, 'Listening for checks from mail servers.')
  return {
    url: served.url,
    async close() {
      await served.close()
      await watch.close()
      blacklists.close()
    },
  }
}
