import { inTransaction } from '../../src/db/pool.ts'
import { appendEvidence, WHOLE_PART } from '../../src/counting/evidence.ts'
import { foldParts } from '../../src/counting/fold-evidence.ts'
import { createReputationReader } from '../../src/counting/reputation-reader.ts'
import type { ReportEvidence } from '../../src/verdict/reputation/evidence.ts'
import type { Subject } from '../../src/verdict/reputation/subject.ts'
import { uuidv7 } from '../../src/world.ts'
import { percentiles, printTable } from './corpus.ts'
import { type Instance, serverCpuSeconds, startInstance } from './instance.ts'

const REPORTS = 12_800
/** The size of a batch, as `analyze` produces it. */
const BATCH = 64
const REPORTERS = 2_000
const CAMPAIGNS = 2_000
/**
 * The number of a message's subjects that its campaign shares, and the number of its own subjects.
 */
const SHARED = 12
const OWN = 8
const READS = 500
const READ_SUBJECTS = 40

/**
 * Measures evidence: appending it with the analysis, folding, storing and reading it. Reports have
 * 20 subjects each, 12 of a campaign (one of 2,000, by Zipf's law) and 8 of the message.
 */
export async function benchReputations(): Promise<void> {
  const instance = await startInstance()
  try {
    const rows: string[][] = []
    for (const round of ['new subjects', 'once more']) {
      const appended = await measure(instance, () => appendAll(instance))
      const folded = await measure(instance, () => foldAll(instance))
      rows.push([`append, ${round}`, ...appended], [`fold, ${round}`, ...folded])
    }
    printTable(['µs of CPU a report', 'Node', 'PostgreSQL', 'reports/s'], rows)
    await printSizes(instance)
    await printReading(instance)
  } finally {
    await instance.close()
  }
}

async function measure(instance: Instance, work: () => Promise<void>): Promise<string[]> {
  const server = await serverCpuSeconds(instance.server)
  const own = process.cpuUsage()
  const begun = performance.now()
  await work()
  const seconds = (performance.now() - begun) / 1_000
  const { user, system } = process.cpuUsage(own)
  const database = (await serverCpuSeconds(instance.server)) - server
  return [
    ((user + system) / REPORTS).toFixed(0),
    ((database * 1e6) / REPORTS).toFixed(0),
    (REPORTS / seconds).toFixed(0),
  ]
}

const reporters = Array.from({ length: REPORTERS }, () => uuidv7(new Date()))
const campaigns = Array.from({ length: CAMPAIGNS }, () => uuidv7(new Date()))

async function appendAll({ pool }: Instance): Promise<void> {
  for (let at = 0; at < REPORTS; at += BATCH) {
    const now = new Date()
    const reports = Array.from({ length: BATCH }, (_, index) => reportOf(at + index, now))
    await inTransaction(pool, (tx) => appendEvidence(tx, reports, now))
  }
}

async function foldAll({ pool }: Instance): Promise<void> {
  for (let part = 0; part <= WHOLE_PART; part++) {
    while (((await foldParts(pool, [part], new Date()))?.rows ?? 0) > 0);
  }
}

function reportOf(index: number, now: Date): ReportEvidence {
  const campaign = Math.floor(CAMPAIGNS ** spread(index) - 1)
  const subjects = [
    ...Array.from({ length: SHARED }, (_, place) => subjectOf(`campaign-${campaign}-${place}`)),
    ...Array.from({ length: OWN }, (_, place) => subjectOf(`message-${index}-${place}`)),
  ]
  const reporterId = reporters[(index * 7_919) % REPORTERS] ?? ''
  return {
    reportId: uuidv7(now),
    ...{ reporterId, sourceId: reporterId },
    karma: index % 5 === 0 ? 0.2 : 1,
    reportedAs: 'spam',
    verdict: { class: 'spam', confidence: 0.9 },
    support: 3,
    isVouched: true,
    campaignId: campaigns[campaign],
    subjects,
    at: now,
  }
}

/** Returns a number between 0 and 1, uniformly distributed and the same in each run. */
function spread(index: number): number {
  return (index * 0.6180339887) % 1
}

function subjectOf(name: string): Subject {
  return { kind: 'link-host', name: `${name}.shop.example` }
}

async function printSizes({ pool }: Instance): Promise<void> {
  await pool.query('vacuum analyze reputations')
  const { rows } = await pool.query<Record<'subjects' | 'bytes' | 'detail' | 'kept', number>>(
    `select count(*)::int as subjects, pg_total_relation_size('reputations') as bytes,
       avg(octet_length(detail))::float8 as detail,
       (select avg(octet_length(content))::float8 from reported_evidence) as kept
     from reputations`,
  )
  const { subjects = 1, bytes = 0, detail = 0, kept = 0 } = rows[0] ?? {}
  console.log(
    `${subjects} subjects of ${(bytes / subjects).toFixed(0)} bytes with the indexes, of which ` +
      `${detail.toFixed(0)} are the detailed part; to take a report back, ${kept.toFixed(0)}.`,
  )
}

async function printReading({ pool }: Instance): Promise<void> {
  let now = Date.now()
  const reader = createReputationReader({ pool, clock: () => new Date(now) })
  const times = { cold: [] as number[], warm: [] as number[] }
  for (let read = 0; read < READS; read++) {
    const first = reportOf((read * 37) % REPORTS, new Date()).subjects
    const second = reportOf((read * 53 + 1) % REPORTS, new Date()).subjects
    const subjects = [...first, ...second].slice(0, READ_SUBJECTS)
    now += 10_000
    for (const kind of ['cold', 'warm'] as const) {
      const begun = performance.now()
      await reader.read(subjects)
      times[kind].push(performance.now() - begun)
    }
  }
  const line = (kind: 'cold' | 'warm') => {
    const { p50, p99 } = percentiles(times[kind])
    return [kind, p50.toFixed(3), p99.toFixed(3)]
  }
  printTable([`ms to read ${READ_SUBJECTS} subjects`, 'p50', 'p99'], [line('cold'), line('warm')])
}
