import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../app.ts'
import type { MessageChecker } from '../../judging/check-message.ts'
import { createBodyPool } from '../bodies/body-pool.ts'
import { sendReadiness } from '../health.ts'
import { listen, localUrl } from '../listen.ts'
import { type CheckRoutes, createCheckRoutes, pathOf, sendError } from './check-routes.ts'
import { takeProxyHeaders } from '../proxy-protocol.ts'
import { isDirect } from './may-ask.ts'
import { createLineProtocol } from './line-protocol.ts'
import { type Milter, serveMilter } from './milter/serve-milter.ts'
import { envelopeOf, type Fields } from './protocol.ts'

/** Limits of the header: a check has a separate field for each recipient. */
const HEADER_BYTES_MAX = 1_000_000
const FIELDS_MAX = 20_000

/**
 * Answers mail servers on a separate port, by HTTP and by the older line protocol of Exim, and on
 * another by the milter protocol. Resolves when it listens, and continues until it is closed. Uses
 * no framework, which would add a tenth to the cost of a check.
 */
export async function serveChecks(
  app: App & { config: { checkPort: number } },
  checker: MessageChecker,
): Promise<{ url: string; milterPort: number | undefined; close: () => Promise<void> }> {
  const { checkHost: host, checkPort: port, checkProxies: proxies, messageBytesMax } = app.config
  const bodies = createBodyPool(messageBytesMax)
  const door = createCheckRoutes(app, { checker, bodies }, isDirect)
  const speaker = createLineProtocol(door.ask, messageBytesMax, app.log)
  const milter = await openMilter(app, door, checker)
  const listener = await listen(
    (_taken, isClosing) => (req, res) => answer(req, res, { ...app, door, milter, isClosing }),
    {
      host,
      port,
      drainMs: app.config.drainMs,
      http: { maxHeaderSize: HEADER_BYTES_MAX, requireHostHeader: false },
      fieldsMax: FIELDS_MAX,
      prepare: (server) => takeProxyHeaders(server, proxies),
      connections: (socket, speaksHttp) => {
        door.statistics.connected()
        speaker.take(socket, speaksHttp)
      },
    },
  ).catch(async (error: unknown) => {
    await milter?.close()
    throw error
  })
  return {
    url: localUrl(host, listener.port),
    milterPort: milter?.port,
    async close() {
      let cut: NodeJS.Timeout | undefined
      let milterClosed: Promise<void> | undefined
      await listener.close(() => {
        speaker.stop()
        milterClosed = milter?.close()
        cut = setTimeout(() => speaker.close(), CUT_MS)
      })
      clearTimeout(cut)
      await milterClosed
      await checker.close()
      await bodies.close()
    },
  }
}

/**
 * Time limit in milliseconds; shorter than the time after which the listener closes connections.
 */
const CUT_MS = 9_000

async function openMilter(
  { config, log }: App,
  { ask }: CheckRoutes,
  checker: MessageChecker,
): Promise<Milter | undefined> {
  const { milter: settings, checkProxies: proxies, messageBytesMax: bytesMax } = config
  if (!settings) return undefined
  const prepare = (fields: Fields) => checker.prepare(envelopeOf(fields)).catch(() => undefined)
  return serveMilter({ ...settings, proxies }, { ask, prepare, policy: settings, bytesMax, log })
}

type Needs = Pick<App, 'pool' | 'boss'> & {
  door: CheckRoutes
  milter: Milter | undefined
  isClosing: () => boolean
}

function answer(req: IncomingMessage, res: ServerResponse, { door, milter, ...app }: Needs): void {
  if (door.handle(req, res)) return
  const path = pathOf(req)
  if (path === '/readyz') return void sendReadiness(res, app)
  if (path === '/healthz') return void res.writeHead(200).end('alive\n')
  if (path !== '/metrics') return sendError(res, 404, 'There is nothing at this URL.')
  const refused = door.gate(req)
  if (refused) return sendError(res, refused.status, refused.error)
  void Promise.all([door.statistics.metrics(), milter?.metrics()]).then((texts) => {
    res.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
    res.end(texts.join(''))
  })
}
