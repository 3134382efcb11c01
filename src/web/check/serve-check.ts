import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../../app.ts'
import type { MessageChecker } from '../../judging/check-message.ts'
import { createBodyPool } from '../bodies/body-pool.ts'
import { sendReadiness } from '../health.ts'
import { listen } from '../listen.ts'
import { localUrl } from '../serve.ts'
import { type CheckRoutes, createCheckRoutes, pathOf, sendError } from './check-routes.ts'
import { isDirect } from './may-ask.ts'
import { createLineProtocol } from './line-protocol.ts'

/** Limits of the header: a check has a separate field for each recipient. */
const HEADER_BYTES_MAX = 1_000_000
const FIELDS_MAX = 20_000

/**
 * Answers mail servers on a separate port, by HTTP and by the older line protocol of Exim. Resolves
 * when it listens, and continues until it is closed. Uses no framework, which would add a tenth to
 * the cost of a check.
 */
export async function serveChecks(
  app: App & { config: { checkPort: number } },
  checker: MessageChecker,
): Promise<{ url: string; close: () => Promise<void> }> {
  const { checkHost: host, checkPort: port, messageBytesMax } = app.config
  const bodies = createBodyPool(messageBytesMax)
  const door = createCheckRoutes(app, { checker, bodies }, isDirect)
  const speaker = createLineProtocol(door.ask, messageBytesMax, app.log)
  const listener = await listen(
    (_taken, isClosing) => (req, res) => answer(req, res, { ...app, door, isClosing }),
    {
      host,
      port,
      drainMs: app.config.drainMs,
      http: { maxHeaderSize: HEADER_BYTES_MAX, requireHostHeader: false },
      fieldsMax: FIELDS_MAX,
      connections: (socket, speaksHttp) => {
        door.statistics.connected()
        speaker.take(socket, speaksHttp)
      },
    },
  )
  return {
    url: localUrl(host, listener.port),
    async close() {
      let cut: NodeJS.Timeout | undefined
      await listener.close(() => {
        speaker.stop()
        cut = setTimeout(() => speaker.close(), CUT_MS)
      })
      clearTimeout(cut)
      await checker.close()
      await bodies.close()
    },
  }
}

/**
 * Time limit in milliseconds; shorter than the time after which the listener closes connections.
 */
const CUT_MS = 9_000

type Needs = Pick<App, 'pool' | 'boss'> & { door: CheckRoutes; isClosing: () => boolean }

function answer(req: IncomingMessage, res: ServerResponse, { door, ...app }: Needs): void {
  if (door.handle(req, res)) return
  const path = pathOf(req)
  if (path === '/readyz') return void sendReadiness(res, app)
  if (path === '/healthz') return void res.writeHead(200).end('alive\n')
  if (path !== '/metrics') return sendError(res, 404, 'There is nothing at this URL.')
  const refused = door.gate(req)
  if (refused) return sendError(res, refused.status, refused.error)
  void door.statistics.metrics().then((text) => {
    res.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text)
  })
}
