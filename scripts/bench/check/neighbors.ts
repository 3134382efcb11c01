import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../../../src/db/embedded.ts'
import { endAlways } from '../endings.ts'
import { cpuSeconds } from '../instance.ts'
import { type Client, httpClient, spamdClient } from './clients.ts'

/** A running server for comparison. */
export type Neighbor = {
  name: string
  open: () => Client
  /** Seconds of CPU used by all its processes. */
  cpu: () => Promise<number>
  close: () => Promise<void>
}

/** Modules that use the network, or a server that is not present. */
const networked =
  'antivirus arc asn bimi clickhouse dcc dkim dkim_signing dmarc elastic external_services ' +
  'fuzzy_check greylist hfilter history_redis http_headers metadata_exporter metric_exporter ' +
  'mx_check neural p0f phishing ratelimit rbl replies reputation rspamd_update spf surbl ' +
  'url_redirector'

const WORKERS = 2
const LESSONS = 60

/**
 * rspamd with two workers and without network modules; with `statistics`, a trained Bayes
 * classifier in a separate Redis. Prints a note and returns undefined if it is not installed.
 */
export async function startRspamd(
  statistics: { spam: readonly Buffer[]; ham: readonly Buffer[] } | undefined,
): Promise<Neighbor | undefined> {
  if (!isInstalled('rspamd') || (statistics && !isInstalled('redis-server'))) return undefined
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-rspamd-'))
  await chmod(folder, 0o777)
  const [port, controller, redis] = [await freePort(), await freePort(), await freePort()]
  const children: ChildProcess[] = []
  const close = closer(folder, children)
  if (statistics) {
    const args = ['--port', `${redis}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '']
    children.push(spawn('redis-server', args, { stdio: 'ignore' }))
    await untilAnswers(redis)
  }
  await configure(folder, { port, controller, redis: statistics ? redis : undefined })
  const account = process.getuid?.() === 0 ? ['-u', '_rspamd', '-g', '_rspamd'] : []
  const places = [
    `--var=LOCAL_CONFDIR=${folder}`,
    `--var=DBDIR=${folder}`,
    `--var=RUNDIR=${folder}`,
  ]
  const args = ['-f', ...account, '-c', '/etc/rspamd/rspamd.conf', ...places]
  children.push(spawn('rspamd', args, { stdio: 'ignore' }))
  await untilAnswers(port).catch(orClose(close))
  await untilAnswers(controller).catch(orClose(close))
  if (statistics) {
    await learn(controller, 'learn_spam', statistics.spam)
    await learn(controller, 'learn_ham', statistics.ham)
  }
  const name = statistics ? 'rspamd, Bayes in Redis' : 'rspamd, without statistics'
  return { name, open: () => httpClient(port), cpu: () => cpuOf(children), close }
}

/** SpamAssassin's daemon with two children and local tests only; undefined if not installed. */
export async function startSpamd(): Promise<Neighbor | undefined> {
  if (!isInstalled('spamd')) return undefined
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-spamd-'))
  const port = await freePort()
  const only = ['-L', '-x', '-s', 'stderr', '-A', '127.0.0.1', '-i', '127.0.0.1', '-p', `${port}`]
  const children = ['--min-children=2', '--max-children=2', '--min-spare=1', '--max-spare=2']
  const settings = ['--cf=use_bayes 0', '-H', folder]
  const daemon = spawn('spamd', [...only, ...children, ...settings], { stdio: 'ignore' })
  const close = closer(folder, [daemon])
  await untilAnswers(port).catch(orClose(close))
  const cpu = () => cpuOf([daemon])
  return { name: 'SpamAssassin', open: () => spamdClient(port), cpu, close }
}

async function cpuOf(parents: readonly ChildProcess[]): Promise<number> {
  const pids = parents.flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
  const all = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
      return [pid, ...text.trim().split(' ').filter(Boolean).map(Number)]
    }),
  )
  const seconds = await Promise.all(all.flat().map((pid) => cpuSeconds(pid).catch(() => 0)))
  return seconds.reduce((sum, one) => sum + one, 0)
}

function isInstalled(program: string): boolean {
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined) return true
  console.log(`${program} is not installed: no comparison.`)
  return false
}

async function configure(
  folder: string,
  ports: { port: number; controller: number; redis: number | undefined },
): Promise<void> {
  const local = path.join(folder, 'override.d')
  await mkdir(local)
  const files: Record<string, string> = {
    'worker-normal.inc': `bind_socket = "127.0.0.1:${ports.port}"; count = ${WORKERS};`,
    'worker-controller.inc': `bind_socket = "127.0.0.1:${ports.controller}"; count = 1;`,
    'worker-proxy.inc': 'enabled = false;',
    'worker-fuzzy.inc': 'enabled = false;',
    'logging.inc': `type = "file"; filename = "${folder}/log"; level = "error";`,
    'options.inc': `dns { nameserver = ["127.0.0.1:1"]; timeout = 0.01s; retransmits = 0; }
      disable_monitoring = true; local_addrs = []; hs_cache_dir = "${folder}";
      control_socket = "${folder}/control.sock mode=0600";`,
    'classifier-bayes.conf': ports.redis
      ? `servers = "127.0.0.1:${ports.redis}"; min_learns = 10;
         learn_condition = "return function() return true end";`
      : 'enabled = false; min_learns = 1000000000;',
  }
  for (const name of networked.split(' ')) files[`${name}.conf`] = 'enabled = false;'
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(local, name), text)
}

async function learn(port: number, command: string, messages: readonly Buffer[]): Promise<void> {
  for (const message of messages.slice(0, LESSONS)) {
    const child = spawn('rspamc', ['-h', `127.0.0.1:${port}`, command], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(message)
    await new Promise((resolve) => child.once('close', resolve))
  }
}

function orClose(close: () => Promise<void>): (error: unknown) => Promise<never> {
  return async (error) => {
    await close()
    throw error
  }
}

function closer(folder: string, children: readonly ChildProcess[]): () => Promise<void> {
  return endAlways(async () => {
    for (const child of children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(killer)
    }
    await rm(folder, { recursive: true, force: true })
  })
}

async function untilAnswers(port: number): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.on('error', () => resolve(false))
    })
    if (isOpen) return
    await wait(100)
  }
  throw new Error(`Nothing listens on port ${port}.`)
}
