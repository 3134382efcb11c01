import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { Pool } from '../../src/db/pool.ts'
import { listFoundReports } from '../../src/db/search.ts'
import { CallerError } from '../../src/errors.ts'
import { countFound, listFound, openSearch } from '../../src/search/find-reports.ts'
import { type Clause, parseSearch } from '../../src/search/syntax.ts'
import { openSeeded } from '../seeding/instance.ts'
import { printTable } from './corpus.ts'

const ROUNDS = 15
const LINES = 51
const FIELD_MS_MAX = 100
const TEXT_MS_MAX = 1_000

/**
 * Measures the search with a million reports: the first page and the count, as the page shows them.
 * Fails if a field or a pair of fields takes more than 100 ms in half of the rounds, or words of
 * the text more than a second. `--data FOLDER` uses or creates a seeded folder and keeps it;
 * `--reports N` sets the number of reports.
 */
export async function benchSearch(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(process.argv.indexOf('search') + 1),
    options: { data: { type: 'string' }, reports: { type: 'string', default: '1000000' } },
  })
  const dataDir = values.data ?? (await mkdtemp(path.join(tmpdir(), 'signalpost-search-')))
  await chmod(dataDir, 0o755)
  const say = (said: string) => console.log(said)
  const seeded = await openSeeded({ dataDir, reports: Number(values.reports) }, say)
  try {
    if (!(await measure(seeded.pool, seeded.reporterId))) process.exitCode = 1
  } finally {
    await seeded.close()
    if (values.data === undefined) await rm(dataDir, { recursive: true, force: true })
  }
}

async function measure(pool: Pool, busyId: string): Promise<boolean> {
  const rows: string[][] = []
  for (const text of await searches(pool, busyId)) {
    const parsed = parseSearch(text)
    if ('problems' in parsed) throw new Error(parsed.problems.join(' '))
    const times: number[] = []
    let count = 0
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now()
      count = await showPage(pool, parsed.clauses)
      times.push(performance.now() - start)
    }
    const p50 = times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
    const max = parsed.clauses.some(({ field }) => field === 'text') ? TEXT_MS_MAX : FIELD_MS_MAX
    const shown = [times[0] ?? 0, p50, Math.max(...times)].map((ms) => `${ms.toFixed(1)} ms`)
    rows.push([text, String(count), ...shown, p50 > max ? 'too slow' : ''])
  }
  printTable([`bench search (${ROUNDS} rounds)`, 'found', 'first', 'p50', 'max', ''], rows)
  return rows.every((row) => row.at(-1) === '')
}

/** Does what the page does. Returns the number of reports found, or -1 if it takes too long. */
async function showPage(pool: Pool, clauses: readonly Clause[]): Promise<number> {
  const search = await openSearch(pool, clauses)
  try {
    const [ids, found] = await Promise.all([
      listFound(pool, search, { before: undefined, limit: LINES }),
      countFound(pool, search),
    ])
    await listFoundReports(pool, ids)
    return found
  } catch (error) {
    if (error instanceof CallerError) return -1
    throw error
  }
}

/** Each field with a frequent and a rare value, common pairs, and words of the text. */
async function searches(pool: Pool, busyId: string): Promise<string[]> {
  const { rows } = await pool.query<Record<string, string>>(
    `select id, host(origin_ip) as ip, network_cidr::text as network, network_asn as asn,
       campaign_id as campaign
     from analyses join counted_reports using (id, shard)
     where campaign_id is not null order by id desc limit 1 offset 5000`,
  )
  const its = rows[0] ?? {}
  const pairs = [
    ...[
      'from:shop-7.example state:forwarded',
      'subject:parcel country:fr',
      'kind:spam verdict:spam',
    ],
    ...[`reporter:${busyId} state:kept`, `network:${its['network']} -state:forwarded`],
    ...['desk:abuse@network-7.example kind:phishing', 'symbol:SUBJECT_SHOUTS as:64500'],
    ...['subject:parcel after:2026-06-01 before:2026-07-01', 'from:sender-77 link:host-9.example'],
  ]
  return [
    ...['', `id:${its['id']}`, 'subject:parcel', 'subject:zebra', 'subject:"your parcel"'],
    ...[
      'from:shop-7.example',
      'from:sender-77@shop-77.example',
      'from:sender',
      'from:nobody.example',
    ],
    ...[`origin:${its['ip']}`, 'origin:100.64.0.0/10', 'origin:100.65.0.0/16', 'origin:10.0.0.0/9'],
    ...[`network:${its['network']}`, `as:${its['asn']}`, 'country:fr', 'country:aq'],
    ...['link:host-9.example', 'link:example', 'file:invoice.pdf', 'file:statement'],
    ...[`campaign:${its['campaign']}`, `reporter:${busyId}`, 'desk:abuse@network-7.example'],
    ...['verdict:spam', 'verdict:malware', 'symbol:SUBJECT_SHOUTS', 'symbol:NEVER'],
    ...['state:failed', 'state:forwarded', 'kind:phishing', 'kind:spam', 'channel:api'],
    ...['on:2026-09-01', 'after:2026-09-01', 'before:2026-01-01', '-kind:spam', '-state:forwarded'],
    ...pairs,
    ...[
      'w1',
      'w500',
      'w150000',
      'w20 w300',
      'w1 w2 w3 kind:phishing',
      '"w7 w9" from:shop-7.example',
    ],
  ]
}
