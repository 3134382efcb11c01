import type { App } from '../app.ts'
import { createPreview } from '../feedback/compose-feedback.ts'
import { createSample } from '../feedback/sample-report.ts'
import type { ReadWritten } from '../judging/rule-versions.ts'
import { createIdentityProvider } from '../net/identity-provider.ts'
import { readSigningKey } from '../net/signing.ts'
import { createParserPool, type ParserPool } from '../parsing/parser-pool.ts'
import { createUnpackPool } from '../parsing/unpack-pool.ts'
import { serve } from '../web/serve.ts'
import type { ReadText } from '../web/site.ts'
import { openClientBlacklists } from './open-network.ts'
import { queueNames } from './handlers.ts'
import { openStandby, type Standby } from './standby.ts'

/**
 * Serves the API and the pages. Resolves when it listens, and continues until it is closed.
 *
 * @throws UsageError listing every invalid entry of BLACKLISTS
 */
export async function web(
  app: App,
  standIn?: Standby,
): Promise<{ close(): Promise<void>; url: string }> {
  // Started on the first request to view a message or an unsent mail.
  let opened: ParserPool | undefined
  const signingKey = await readSigningKey(app.config, app.log)
  const parser = () => (opened ??= createParserPool(1, undefined, { signingKey, app }))
  const preview = createPreview(app, parser)
  const readText: ReadText = (message) => parser().readText(message)
  const readWritten: ReadWritten = (message) => parser().readWritten(message)
  const readSample = createSample(app, parser)
  const unpacking = createUnpackPool()
  const blacklists = await openClientBlacklists(app.config, app)
  const standby = standIn ?? (await openStandby(app, 'web'))
  const { oidc } = app.config
  const tools = {
    provider: oidc && createIdentityProvider(oidc, app.clock),
    preview,
    readText,
    readWritten,
    standby: standby.tools,
    isStandIn: standIn !== undefined,
    readSample,
    unpack: unpacking.unpack,
    askAboutClient: blacklists.ask,
    queueNames,
  }
  const served = await serve(app, tools)
  if (app.config.publicUrl.startsWith('https:') && app.config.trustedProxies.length === 0) {
    app.log.warn(
      'TRUSTED_PROXIES is empty. Behind a proxy, all clients share the limits of one address.',
    )
  }
  app.log.info({ url: served.url }, 'Listening for HTTP requests.')
  return {
    ...served,
    close: async () => {
      await served.close()
      await standby.close()
      blacklists.close()
      await opened?.close()
      await unpacking.close()
    },
  }
}
