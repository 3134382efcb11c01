import { mkdtemp, chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { openSeeded, type Seeded } from '../seeding/instance.ts'
import { printTable } from './corpus.ts'
import { serverCpuSeconds } from './instance.ts'
import { addressesOf } from './pages/addresses.ts'
import { type PageSite, servePages } from './pages/serve.ts'
import { explain, type SlowPlan } from './pages/plans.ts'

const ROUNDS = 9
const MS_MAX = 100

type Measured = {
  name: string
  status: number
  first: number
  min: number
  p50: number
  max: number
  /** CPU milliseconds of this process and of the server, on average. */
  cpu: number
}

/**
 * Measures the server time of each page of the list of pages, and of the operations of the API that
 * read, with a million reports, a tenth of them by one reporter. Also checks that no statement
 * reads a large table without an index. Fails if a page takes more than 100 ms in half of the
 * rounds, or if an index is missing. `--data FOLDER` uses or creates a seeded folder and keeps it;
 * `--reports N` sets the number of reports, `--only TEXT` measures only addresses that contain the
 * text.
 */
export async function benchPages(): Promise<void> {
  const { data, reports, only } = readFlags()
  const dataDir = data ?? (await mkdtemp(path.join(tmpdir(), 'signalpost-pages-')))
  await chmod(dataDir, 0o755)
  const seeded = await openSeeded({ dataDir, reports }, (said) => console.log(said))
  const site = await servePages(seeded)
  try {
    const isGood = await measure(site, seeded, only)
    if (!isGood) process.exitCode = 1
  } finally {
    await site.close()
    await seeded.close()
    if (data === undefined) await rm(dataDir, { recursive: true, force: true })
  }
}

async function measure(site: PageSite, seeded: Seeded, only: string): Promise<boolean> {
  const addresses = (await addressesOf(seeded)).filter(({ path: one }) => one.includes(only))
  const measured: Measured[] = []
  const plans = new Map<string, SlowPlan>()
  for (const { path: address, headers } of addresses) {
    const times: number[] = []
    let status = 0
    const cpuBefore = await cpuMs(seeded)
    const statements = await site.record(async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const start = performance.now()
        const answer = await site.get(address, headers)
        await answer.arrayBuffer()
        times.push(performance.now() - start)
        status = answer.status
      }
    })
    const cpu = ((await cpuMs(seeded)) - cpuBefore) / ROUNDS
    for (const slow of await explain(seeded.pool, statements)) {
      plans.set(slow.text, { ...slow, page: address })
    }
    const sorted = times.toSorted((a, b) => a - b)
    const p50 = sorted[Math.floor(ROUNDS / 2)] ?? 0
    measured.push({
      name: nameOf(address),
      status,
      first: times[0] ?? 0,
      min: sorted[0] ?? 0,
      p50,
      max: sorted.at(-1) ?? 0,
      cpu,
    })
  }
  return print(measured, [...plans.values()])
}

function print(measured: readonly Measured[], plans: readonly SlowPlan[]): boolean {
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const rows = measured
    .toSorted((a, b) => b.p50 - a.p50)
    .map(({ name, status, first, min, p50, max, cpu }) => {
      const fault =
        status >= 400 && !name.includes('none') && !name.includes('%00')
          ? `status ${status}`
          : p50 > MS_MAX
            ? 'too slow'
            : ''
      return [name, ms(first), ms(min), ms(p50), ms(max), ms(cpu), fault]
    })
  printTable([`bench pages (${ROUNDS} rounds)`, 'first', 'min', 'p50', 'max', 'CPU', ''], rows)
  for (const { page, table, text } of plans) {
    console.log(`\n${page}: reads ${table} without an index:\n${text}`)
  }
  return plans.length === 0 && rows.every((row) => row.at(-1) === '')
}

/** An address without its secret and ids. */
function nameOf(address: string): string {
  return address
    .replace(/[0-9a-f]{8}-[-0-9a-f]{27}/g, ':id')
    .replace(/(consumers|answer|off)\/[\w-]{30,}/, '$1/:token')
}

async function cpuMs({ server }: Seeded): Promise<number> {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 + (await serverCpuSeconds(server)) * 1_000
}

function readFlags(): { data: string | undefined; reports: number; only: string } {
  const args = process.argv.slice(process.argv.indexOf('pages') + 1)
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      reports: { type: 'string', default: '1000000' },
      only: { type: 'string', default: '' },
    },
  })
  return { data: values.data, reports: Number(values.reports), only: values.only }
}
