import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { codeBlocks, readDocument } from '../support/documents.ts'
import { spamMessage } from '../support/messages.ts'
import { makeSite, type Site } from '../support/parts.ts'
import { apiClient } from '../support/reporter.ts'
import { type Daemon, openFolder, startDaemon } from './daemon.ts'

/** The lines for proxies in docs/operators/deployment.md, in the real servers. */
const documented = codeBlocks(readDocument('docs/operators/deployment.md')).map(({ text }) => text)
const folder = await openFolder('proxies')
let site: Site
const daemons: Daemon[] = []

beforeAll(async () => {
  site = await makeSite({ TRUSTED_PROXIES: '127.0.0.1, ::1', PUBLIC_URL: 'https://spam.example' })
  await site.start('web')
})

afterAll(async () => {
  for (const daemon of daemons) await daemon.stop()
  await site.clear()
  await folder.clear()
})

function lines(word: string): string {
  const found = documented.filter((text) => text.includes(word))
  if (found.length !== 1) throw new Error(`There are ${found.length} blocks with "${word}".`)
  return (found[0] ?? '').replace('127.0.0.1:8080', new URL(site.url).host)
}

test('nginx with the documented lines passes large reports on', async () => {
  const port = await freePort()
  const file = path.join(folder.at, 'nginx.conf')
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder.at}/${name};`)
    .join('\n')
  const server = `server { listen 127.0.0.1:${port}; ${lines('proxy_pass')} }`
  await writeFile(
    file,
    `daemon off; pid ${folder.at}/nginx.pid; error_log stderr; events {}
     http { access_log off; ${paths} ${server} }`,
  )
  const command = ['nginx', '-e', 'stderr', '-c', file] as const
  daemons.push(await startDaemon(command, { port, package: 'nginx-light' }))
  await passesReports(port)
})

test('Caddy with the documented lines passes large reports on', async () => {
  const port = await freePort()
  const file = path.join(folder.at, 'Caddyfile')
  const its = lines('reverse_proxy').replace('spam.example.org', `http://127.0.0.1:${port}`)
  await writeFile(file, `{\n  admin off\n}\n${its}`)
  const env = { HOME: folder.at, XDG_DATA_HOME: folder.at, XDG_CONFIG_HOME: folder.at }
  const command = ['caddy', 'run', '--adapter', 'caddyfile', '--config', file] as const
  daemons.push(await startDaemon(command, { port, package: 'caddy', env }))
  await passesReports(port)
})

const LARGE_BYTES = 24_000_000

/** Sends a small report and one of 24 MB through a proxy, and reads them back through it. */
async function passesReports(port: number): Promise<void> {
  const client = apiClient(`http://127.0.0.1:${port}`, `Bearer ${site.token}`)
  const small = spamMessage(`small-${port}`)
  const large = Buffer.concat([
    spamMessage(`large-${port}`),
    Buffer.from('a line of a large message\r\n'.repeat(LARGE_BYTES / 27)),
  ])
  for (const message of [small, large]) {
    const { status, id } = await client.post(message)
    expect(status).toBe(202)
    expect(await client.raw(id)).toEqual(message)
  }
}
