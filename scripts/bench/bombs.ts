import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePort } from '../../src/db/embedded.ts'
import { addAccount } from '../../src/processes/add-account.ts'
import { bombKinds, codeOf } from '../../test/support/bombs.ts'
import { composeParts } from '../../test/support/link-kinds.ts'
import { pdfFile } from '../../test/support/pdf.ts'
import { spamMessage } from '../../test/support/messages.ts'
import { httpClient } from './check/clients.ts'
import { loadOf, percentiles, printTable } from './corpus.ts'
import { type Instance, startInstance } from './instance.ts'
import { postAll } from './load.ts'

/** How other mail fares beside bombs. */
export type BombsMeasured = {
  others: number
  unanswered: number
  /** Time in milliseconds until the verdict, or until the report is analyzed. */
  ms: ReturnType<typeof percentiles>
  /** The largest resident memory in megabytes of the process with its children. */
  megabytes: number
  bombs: number
}

const ANSWER_MS_MAX = 5_000
const SETTLE_MS = 5_000

/**
 * Measures how long other mail waits while somebody sends files that are expensive to decode, each
 * with new bytes: one a second to `check`, and `--bombs` at once to `work`. Before each run comes
 * one without bombs; in that of `work`, as many ordinary mails arrive at once. Fails if a mail
 * stays without a verdict.
 */
export async function benchBombs(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      seconds: { type: 'string', default: '60' },
      others: { type: 'string', default: '1000' },
      bombs: { type: 'string', default: '100' },
    },
  })
  console.log(`load before: ${loadOf()}`)
  const { check, work } = await measureBombs({
    seconds: Number(values.seconds),
    others: Number(values.others),
    bombs: Number(values.bombs),
  })
  const rows = [
    ['check, without bombs', check.without],
    ['check, one bomb a second', check.beside],
    [`work, ${values.bombs} ordinary mails`, work.without],
    [`work, ${values.bombs} bombs`, work.beside],
  ] as const
  printTable(
    ['bench bombs', 'bombs', 'other mails', 'unanswered', 'p50 ms', 'p99 ms', 'max ms', 'peak MB'],
    rows.map(([name, { bombs, others, unanswered, ms, megabytes }]) => {
      const figures = [bombs, others, unanswered, ms.p50, ms.p99, ms.max, megabytes]
      return [name, ...figures.map((figure) => Math.round(figure).toLocaleString('en'))]
    }),
  )
  console.log(`load after: ${loadOf()}`)
  if (check.beside.unanswered > 0) process.exitCode = 1
}

/** See `benchBombs`. */
export async function measureBombs(run: { seconds: number; others: number; bombs: number }) {
  const instance = await startInstance()
  try {
    await instance.run('web')
    await instance.run('count')
    return { check: await measureCheck(instance, run), work: await measureWork(instance, run) }
  } finally {
    await instance.close()
  }
}

async function measureCheck(
  instance: Instance,
  { seconds, others }: { seconds: number; others: number },
) {
  const port = await freePort()
  const process = await instance.run('check', { CHECK_PORT: String(port) })
  // Compiles the code, and starts the processes that read files.
  await askMany(port, others / 4, seconds / 4)
  const without = await watched(process, () => askMany(port, others, seconds))
  let isOver = false
  let bombs = 0
  const sending = async () => {
    for (; !isOver; bombs++) {
      const client = httpClient(port)
      void client.ask(bombMail(bombs)).then(client.close, () => undefined)
      await wait(1_000)
    }
  }
  const sent = sending()
  const beside = await watched(process, () => askMany(port, others, seconds))
  isOver = true
  await sent
  process.kill('SIGTERM')
  return { without: { ...without, bombs: 0 }, beside: { ...beside, bombs } }
}

/** Asks about mails at a steady pace, whether or not the ones before are answered. */
async function askMany(port: number, count: number, seconds: number) {
  const asked: Promise<{ ms: number; isAnswered: boolean }>[] = []
  for (let number = 0; number < count; number++) {
    const client = httpClient(port)
    const answer = client.ask(otherMail()).then(
      (one) => {
        client.close()
        const isVerdict = /^HTTP\/1\.1 200 .*"is_skipped":false/s.test(one.answer)
        return { ms: one.ms, isAnswered: isVerdict && one.ms <= ANSWER_MS_MAX }
      },
      () => ({ ms: Infinity, isAnswered: false }),
    )
    asked.push(answer)
    await wait((seconds * 1_000) / count)
  }
  const all = await Promise.all(asked)
  return summary(all)
}

async function measureWork(
  instance: Instance,
  { others, bombs, seconds }: { others: number; bombs: number; seconds: number },
) {
  const process = await instance.run('work', instance.signing)
  const { token = '' } = await addAccount(
    {
      email: 'other@reporter.example',
      password: undefined,
      role: 'administrator',
      wantsToken: true,
    },
    { pool: instance.pool, clock: () => new Date() },
  )
  const count = Math.min(others, Math.round(seconds * 2))
  const other = { url: instance.httpUrl, token }
  const run = () => reportMany(instance, other, count)
  await run()
  const sender = { url: instance.httpUrl, token: instance.token }
  const besideMails = (make: (number: number) => Buffer) => {
    const mails = Array.from({ length: bombs }, (_, number) => make(10_000 + number))
    return watched(process, async () => {
      const sending = postAll(mails, sender, { connections: 8 })
      const found = await run()
      await sending
      return found
    })
  }
  const without = await besideMails(otherMail)
  const beside = await besideMails(bombMail)
  return { without: { ...without, bombs: 0 }, beside: { ...beside, bombs } }
}

/** Reports two mails a second; returns how long each takes until it is analyzed. */
async function reportMany(
  { pool }: Instance,
  target: { url: string; token: string },
  count: number,
) {
  const all: Promise<{ ms: number; isAnswered: boolean }>[] = []
  const one = async () => {
    const start = performance.now()
    const [posted] = await postAll([otherMail()], target, { connections: 1 })
    for (;;) {
      const ms = performance.now() - start
      const { rows } = await pool.query<{ state: string }>(
        'select state from reports where id = $1',
        [posted?.id],
      )
      if (rows[0] && rows[0].state !== 'received') return { ms, isAnswered: true }
      if (ms > 60_000) return { ms, isAnswered: false }
      await wait(20)
    }
  }
  for (let number = 0; number < count; number++) {
    all.push(one())
    await wait(500)
  }
  return summary(await Promise.all(all))
}

function summary(all: readonly { ms: number; isAnswered: boolean }[]) {
  const unanswered = all.filter(({ isAnswered }) => !isAnswered).length
  return { others: all.length, unanswered, ms: percentiles(all.map(({ ms }) => ms)) }
}

async function watched<T>(process: ChildProcess, run: () => Promise<T>) {
  let megabytes = 0
  const look = () => (megabytes = Math.max(megabytes, residentOf(process.pid ?? 0) / 1e6))
  const timer = setInterval(look, 100)
  const found = await run()
  await wait(SETTLE_MS)
  clearInterval(timer)
  return { ...found, megabytes }
}

/** Resident memory in bytes of a process with its descendants. */
function residentOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const own = Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1_024
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    const pids = children === '' ? [] : children.split(' ').map(Number)
    return pids.reduce((sum, child) => sum + residentOf(child), own)
  } catch {
    return 0
  }
}

let number = 0

/** An ordinary mail; every fifth has a picture with a QR code and a PDF file. */
function otherMail(): Buffer {
  const name = `bench-${++number}`
  if (number % 5 !== 0) return spamMessage(name)
  return mailWith(name, [
    codeOf(`https://${name}.example/`),
    pdfFile({ url: `https://${name}.example/` }),
  ])
}

function bombMail(salt: number): Buffer {
  const make = bombKinds[salt % bombKinds.length]
  return mailWith(`bomb-${salt}`, make ? [make(salt)] : [])
}

function mailWith(name: string, files: readonly Buffer[]): Buffer {
  const [header = ''] = spamMessage(name).toString('latin1').split('\r\n\r\n')
  const kept = header.split(/\r?\n(?![ \t])/).filter((line) => !/^(?:content-|mime-)/i.test(line))
  return composeParts(kept.join('\n'), [
    { type: 'text/plain', content: `See ${name}` },
    ...files.map((content) => ({ type: 'application/octet-stream', content })),
  ])
}
