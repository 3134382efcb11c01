import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findAnalysis } from '../src/db/analyses.ts'
import { findFeedback, findFeedbackMessage } from '../src/db/feedback-reports.ts'
import { unpack } from '../src/db/rows.ts'
import { createPool, type Pool } from '../src/db/pool.ts'
import { reasonOf } from '../src/errors.ts'
import { type Instance, openSite, type Site } from './demo/instance.ts'
import { beginStep, openScreen, paint, type Screen } from './demo/progress.ts'
import { type Story, summary, tell } from './demo/story.ts'

// Starts a temporary Signalpost, reports the sample messages, and shows the outcome of each.
// Removes everything at the end, also after a failure or an interruption.

const samples = path.join(import.meta.dirname, 'samples')
const PATIENCE_MS = 30_000
const POLL_MS = 25

type Reported = { file: string; kind: string; id: string; acceptedAt: number }
type ReportJson = {
  status: string
  subject: string | null
  author: string | null
  timeline: { at: string; event: string }[]
}

/** The output of the demonstration, and a promise that rejects when it is interrupted. */
type Show = { screen: Screen; interrupted: Promise<never> }

process.exitCode = await demonstrate({
  screen: openScreen(process.stdout),
  interrupted: untilInterrupted(),
})

async function demonstrate(show: Show): Promise<number> {
  const { out } = show.screen
  const site = await openSite()
  let code = 0
  try {
    const name = paint(show.screen, 'bold', 'Signalpost')
    out.write(`\n  ${name}: a temporary instance processes some spam\n\n`)
    const stories = await reportAll(show, await open(show, site))
    out.write('\n')
    stories.forEach((story, index) => {
      out.write(`${tell(show.screen, story, `${index + 1}/${stories.length}`)}\n`)
    })
    out.write(`${summary(show.screen, stories)}\n`)
  } catch (error) {
    process.stderr.write(`\n  ${reasonOf(error)}\n\n`)
    code = 1
  }
  const uninterrupted = { ...show, interrupted: new Promise<never>(() => undefined) }
  await during(uninterrupted, 'Stopping, and removing all files', () => site.clear())
  out.write('\n')
  return code
}

async function open(show: Show, site: Site): Promise<Instance> {
  const { url } = await during(show, 'Starting PostgreSQL, web, work and receive', site.start)
  const { token } = await during(show, 'Creating an account with a token', site.addReporter)
  return { url, token, databaseUrl: await site.databaseUrl() }
}

async function reportAll(show: Show, instance: Instance): Promise<Story[]> {
  const files = (await readdir(samples)).filter((name) => name.endsWith('.eml'))
  const reported: Reported[] = []
  await during(show, `Reporting ${files.length} sample messages`, async (at) => {
    for (const file of files) {
      reported.push(await report(file, instance))
      at(reported.length, files.length)
    }
  })
  const { databaseUrl } = instance
  const onLost = () => undefined
  const pool = createPool(databaseUrl, { connectionsMax: 2, name: 'demo', onLost })
  try {
    return await during(show, 'Waiting until each one is processed', async (at) => {
      const stories: Story[] = []
      for (const one of reported) {
        stories.push(await follow(one, instance, pool))
        at(stories.length, reported.length)
      }
      return stories
    })
  } finally {
    await pool.end()
  }
}

async function report(file: string, { url, token }: Instance): Promise<Reported> {
  const kind = file.startsWith('phish') ? 'phishing' : 'spam'
  const answer = await fetch(`${url}/api/v1/reports?kind=${kind}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' },
    body: new Uint8Array(await readFile(path.join(samples, file))),
  })
  if (answer.status !== 202) throw new Error(`${file} was answered ${answer.status}.`)
  const { id } = (await answer.json()) as { id: string }
  return { file, kind, id, acceptedAt: Date.now() }
}

async function follow(reported: Reported, instance: Instance, pool: Pool): Promise<Story> {
  const { id, file, kind, acceptedAt } = reported
  const { subject, author, timeline } = await untilSettled(id, instance)
  const [analysis, feedback, packed] = await Promise.all([
    findAnalysis(pool, id),
    findFeedback(pool, { reportId: id, number: 1 }),
    findFeedbackMessage(pool, { reportId: id, number: 1 }),
  ])
  if (!analysis) throw new Error(`The analysis of ${file} is missing.`)
  const mail = packed && (await unpack(packed)).toString('latin1')
  const tookMs = Math.max(1, Date.parse(timeline.at(-1)?.at ?? '') - acceptedAt)
  return { file, kind, subject, author, tookMs, analysis, feedback, mail }
}

/**
 * Polls the API, like any client, until the report is closed or its feedback report is composed.
 */
async function untilSettled(id: string, { url, token }: Instance): Promise<ReportJson> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await wait(POLL_MS)) {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${url}/api/v1/reports/${id}`, { headers })
    const report = (await answer.json()) as ReportJson
    const isWritten = report.timeline.some(({ event }) => event === 'held')
    if (report.status === 'kept' || isWritten) return report
    if (Date.now() > deadline) throw new Error(`Report ${id} was not done in time.`)
  }
}

async function during<T>(
  { screen, interrupted }: Show,
  name: string,
  work: (at: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const step = beginStep(screen, name)
  try {
    const result = await Promise.race([work(step.at), interrupted])
    step.done()
    return result
  } catch (error) {
    step.failed()
    throw error
  }
}

/** Rejects on Ctrl-C, on a request to end, or when the output is no longer read. */
function untilInterrupted(): Promise<never> {
  const interrupted = new Promise<never>((_resolve, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => reject(new Error('Interrupted.')))
    }
    process.stdout.on('error', () => reject(new Error('The output is no longer read.')))
  })
  interrupted.catch(() => undefined)
  return interrupted
}
