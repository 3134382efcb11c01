import { setTimeout as wait } from 'node:timers/promises'
import type { OpenApp } from '../../../../src/processes/open-app.ts'
import { startWork } from '../../../../src/processes/work.ts'
import { createReadHealth } from '../../../../src/health/read-health.ts'
import { createReadMail } from '../../../../src/web/read-backlogs.ts'
import { deadLetterQueue } from '../../../../src/queue/define-queue.ts'
import type { SinkFailure, SinkStep } from '../../smtp-sink.ts'
import { fillOutbox } from './fill-outbox.ts'
import { oweLetters } from './owe-letters.ts'
import { withSink } from './with-sink.ts'

/** One way in which a mail server refuses everything. */
type Refusal = readonly [step: SinkStep, failure: SinkFailure]

const refusals: readonly Refusal[] = [
  ['rcpt', { code: 554, text: '5.7.1 Relay access denied' }],
  ['rcpt', { code: 454, text: '4.7.1 Relay access denied' }],
  ['rcpt', { code: 550, text: 'relay not permitted' }],
  ['rcpt', { code: 553, text: '5.7.1 Sender address rejected: not owned by user' }],
  ['mail', { code: 530, text: '5.7.0 Must issue a STARTTLS command first' }],
  ['mail', { code: 535, text: '5.7.8 Authentication credentials invalid' }],
  ['mail', { code: 550, text: '5.1.0 Sender denied' }],
  ['connect', { code: 554, text: '5.7.1 Client host blocked' }],
  ['connect', 'drop'],
  ['dot', { code: 554, text: 'Message rejected: Email address is not verified' }],
]
const FEEDBACK = 20
const LETTERS = 5
const REFUSED_MS = 12_000
/** Time in milliseconds after which the overview must warn. */
const NOTICED_MS = 30_000
const SETTLE_MS = 120_000

/**
 * Sends through a mail server that refuses everything for a while, in up to `waysMax` ways, one
 * after another; returns the faults.
 */
export async function tortureRelay(
  say: (line: string) => void,
  waysMax = refusals.length,
): Promise<string[]> {
  const faults: string[] = []
  for (const refusal of refusals.slice(0, waysMax)) {
    const its = await refuseFor(refusal)
    const [step, failure] = refusal
    const words = typeof failure === 'string' ? failure : `${failure.code} ${failure.text ?? ''}`
    say(`${step}: ${words}: ${its.length === 0 ? 'nothing was lost' : its.join('; ')}`)
    faults.push(...its.map((fault) => `${step} ${words}: ${fault}`))
  }
  return faults
}

function refuseFor([step, failure]: Refusal): Promise<string[]> {
  return withSink(async (app, sink) => {
    await fillOutbox(app, FEEDBACK, 4)
    await oweLetters(app, LETTERS)
    sink.failAll(step, failure)
    const worker = await startWork(app, ['forward-report', 'send-letter'])
    try {
      await wait(REFUSED_MS)
      await untilNoticed(app)
      const faults = await examineOutage(app)
      if (sink.messages.length > 0) faults.push('the sink took mail while it refused')
      sink.failAll(step, undefined)
      await untilSent(app)
      return [...faults, ...(await examineEnd(app, sink.messages.length))]
    } finally {
      await worker.close()
    }
  })
}

async function examineOutage(app: OpenApp): Promise<string[]> {
  const faults = await examineKept(app)
  if (!(await overviewWarns(app))) faults.push('the overview is green while mail does not leave')
  const { waiting } = await createReadMail(app)()
  const unsent = waiting.reduce((sum, { mails }) => sum + mails, 0)
  if (unsent !== FEEDBACK + LETTERS) faults.push(`${unsent} mails wait`)
  return faults
}

async function examineEnd(app: OpenApp, taken: number): Promise<string[]> {
  const faults = await examineKept(app)
  if (taken !== FEEDBACK + LETTERS) faults.push(`${taken} mails were taken`)
  if (await overviewWarns(app)) faults.push('the overview warns of mail at the end')
  return faults
}

/** Checks what must be true at any time: no mail is refused, suppressed, withdrawn or given up. */
async function examineKept(app: OpenApp): Promise<string[]> {
  const count = async (what: string) =>
    (await app.pool.query<{ n: number }>(`select count(*)::int as n from ${what}`)).rows[0]?.n ?? 0
  const others = `state not in ('queued', 'sent')`
  const lost = [
    [`feedback_reports where ${others}`, 'feedback reports were given up'],
    [`letters where ${others}`, 'letters were given up'],
    ['suppressions', 'addresses were suppressed'],
    [`pgboss.job where name = '${deadLetterQueue}'`, 'jobs died'],
  ] as const
  const faults: string[] = []
  for (const [what, words] of lost) {
    const n = await count(what)
    if (n > 0) faults.push(`${n} ${words}`)
  }
  return faults
}

const isBad = (level: string) => level === 'warning' || level === 'critical'

/** On a busy machine, the first mails may be refused late. */
async function untilNoticed(app: OpenApp): Promise<void> {
  const until = Date.now() + NOTICED_MS - REFUSED_MS
  while (Date.now() < until && !(await overviewWarns(app))) await wait(250)
}

/** Whether the overview says that no mail is sent. */
async function overviewWarns(app: OpenApp): Promise<boolean> {
  const { conditions } = await createReadHealth(app)()
  return conditions.some(({ code, level }) => code === 'mail-leaving' && isBad(level))
}

async function untilSent({ pool }: OpenApp): Promise<void> {
  const until = Date.now() + SETTLE_MS
  while (Date.now() < until) {
    const { rows } = await pool.query(
      `select from feedback_reports where state = 'queued'
       union all select from letters where state = 'queued' limit 1`,
    )
    if (rows.length === 0) return
    await wait(250)
  }
}
