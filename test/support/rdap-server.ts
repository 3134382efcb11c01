import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The answer for a path. An object is sent as RDAP; a function writes the whole answer itself. */
export type RdapReply =
  | { status?: number; headers?: Record<string, string>; body: unknown }
  | ((req: IncomingMessage, res: ServerResponse) => void)

/** A registry on this machine, with bootstrap files that refer to it. */
export type RdapServer = {
  /** The URL to use as RDAP_BOOTSTRAP_URL. */
  bootstrapUrl: string
  /** The base URL of the registry, with its slash. */
  base: string
  /**
   * Sets the answer for a path below the base, such as `ip/192.0.2.7`, or for
   * `bootstrap/ipv4.json`.
   */
  reply: (path: string, reply: RdapReply) => void
  /** The requested paths below the base, in order. */
  asked: string[]
  /** Returns how often a bootstrap file was requested. */
  bootstraps: () => number
  close: () => Promise<void>
}

const allOf = { ipv4: ['0.0.0.0/0'], ipv6: ['::/0'], dns: ['com', 'net'] }

/**
 * Starts a registry. `services` replaces the bootstrap's list; `{base}` in it stands for the base
 * URL.
 */
export async function startRdapServer(services?: unknown): Promise<RdapServer> {
  const replies = new Map<string, RdapReply>()
  const asked: string[] = []
  let bootstraps = 0
  const server = createServer((req, res) => {
    const path = decodeURIComponent((req.url ?? '').slice(1))
    const kind = /^bootstrap\/(ipv[46]|dns)\.json$/.exec(path)?.[1]
    if (kind === 'ipv4' || kind === 'ipv6' || kind === 'dns') {
      bootstraps++
      const broken = replies.get(path)
      if (broken) return send(broken, req, res)
      const list = services ?? [[allOf[kind], ['{base}']]]
      const file = JSON.stringify({ version: '1.0', services: list }).replaceAll('{base}', base)
      res.setHeader('content-type', 'application/json')
      res.end(file)
      return
    }
    const name = path.replace(/^rdap\//, '')
    asked.push(name)
    send(replies.get(name) ?? { status: 404, body: { errorCode: 404 } }, req, res)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const base = `${origin}/rdap/`
  return {
    bootstrapUrl: `${origin}/bootstrap`,
    base,
    reply: (path, reply) => replies.set(path, reply),
    asked,
    bootstraps: () => bootstraps,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function send(reply: RdapReply, req: IncomingMessage, res: ServerResponse): void {
  if (typeof reply === 'function') return reply(req, res)
  const { status = 200, headers = {}, body } = reply
  res.writeHead(status, { 'content-type': 'application/rdap+json', ...headers })
  res.end(typeof body === 'string' ? body : JSON.stringify(body))
}
