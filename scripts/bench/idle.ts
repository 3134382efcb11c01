import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../../src/db/embedded.ts'
import { printTable } from './corpus.ts'
import { cpuSeconds, endOf } from './instance.ts'

const main = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts')
const MEASURED_MS = 60_000

/**
 * Measures what `npm start` costs while nobody reports: the time until it is ready, with an empty
 * and with an existing data folder, then the CPU time, the wake-ups and the memory of each process,
 * including PostgreSQL, in the minute that begins `--settle` seconds after the start. In the first
 * minutes PostgreSQL vacuums its new tables. A wake-up is a voluntary context switch; their number
 * does not depend on the speed of the machine. Memory is the proportional set size, so that shared
 * pages count once.
 */
export async function benchIdle(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { settle: { type: 'string', default: '180' } },
  })
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-idle-'))
  await chmod(dataDir, 0o755)
  try {
    const first = await startProgram(dataDir)
    await endOf(first.child)
    const { child, readyMs } = await startProgram(dataDir)
    try {
      await wait(Number(values.settle) * 1_000)
      const before = await usagesOf([child.pid ?? 0])
      await wait(MEASURED_MS)
      print(before, await usagesOf([child.pid ?? 0]), [first.readyMs, readyMs])
    } finally {
      await endOf(child)
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Runs `signalpost start` until it prints that it is running. */
async function startProgram(dataDir: string): Promise<{ child: ChildProcess; readyMs: number }> {
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    HTTP_PORT: String(await freePort()),
    RECEIVE_PORT: String(await freePort()),
    RDAP_BOOTSTRAP_URL: 'none',
    DNS_SERVERS: 'none',
    LOG_LEVEL: 'warn',
  }
  const startedAt = performance.now()
  const child = spawn(process.execPath, [main, 'start'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (said) => {
      if (String(said).includes('Signalpost is running')) resolve()
    })
    child.once('exit', (code) => reject(new Error(`start ended with ${code}`)))
  })
  return { child, readyMs: performance.now() - startedAt }
}

type Usage = { name: string; cpuSeconds: number; wakeUps: number; megabytes: number }

/** The CPU time, wake-ups and memory of processes and their descendants, by part. */
export async function usagesOf(roots: readonly number[]): Promise<Map<string, Usage>> {
  const usages = new Map<string, Usage>()
  const add = async (pid: number): Promise<void> => {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (command === '') return
    const name = partOf(command.split('\0'))
    const usage = usages.get(name) ?? { name, cpuSeconds: 0, wakeUps: 0, megabytes: 0 }
    usage.cpuSeconds += await cpuSeconds(pid).catch(() => 0)
    usage.wakeUps += await wakeUpsOf(pid).catch(() => 0)
    usage.megabytes += await proportionalMegabytes(pid).catch(() => 0)
    usages.set(name, usage)
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
    for (const child of children.trim().split(' ').filter(Boolean)) await add(Number(child))
  }
  for (const root of roots) await add(root)
  return usages
}

/** Names a process by its arguments; all processes of PostgreSQL together are `database`. */
function partOf(args: readonly string[]): string {
  const at = args.findIndex((arg) => arg.endsWith('main.ts'))
  return at < 0 ? 'database' : (args[at + 1] ?? '')
}

/** The wake-ups of all threads of a process. */
async function wakeUpsOf(pid: number): Promise<number> {
  let sum = 0
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    const status = await readFile(`/proc/${pid}/task/${thread}/status`, 'utf8')
    sum += Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1] ?? 0)
  }
  return sum
}

async function proportionalMegabytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}

function print(
  before: ReadonlyMap<string, Usage>,
  after: ReadonlyMap<string, Usage>,
  readyMs: readonly number[],
): void {
  const perSecond = (now: number, earlier = now) => (now - earlier) / (MEASURED_MS / 1_000)
  const used = [...after.values()].map(({ name, cpuSeconds: seconds, wakeUps, megabytes }) => {
    const share = perSecond(seconds, before.get(name)?.cpuSeconds)
    return { name, share, wakeUps: perSecond(wakeUps, before.get(name)?.wakeUps), megabytes }
  })
  const total = {
    name: 'together',
    share: used.reduce((sum, { share }) => sum + share, 0),
    wakeUps: used.reduce((sum, { wakeUps }) => sum + wakeUps, 0),
    megabytes: used.reduce((sum, { megabytes }) => sum + megabytes, 0),
  }
  printTable(
    ['bench idle', 'CPU, % of a core', 'wake-ups a second', 'memory (PSS), MB'],
    [...used, total].map(({ name, share, wakeUps, megabytes }) => {
      return [name, (share * 100).toFixed(2), wakeUps.toFixed(1), megabytes.toFixed(0)]
    }),
  )
  const [empty, existing] = readyMs.map((ms) => (ms / 1_000).toFixed(1))
  console.log(
    `\nReady after ${empty} s with an empty data folder, ${existing} s with an existing one.`,
  )
}
