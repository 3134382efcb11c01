import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { openSite } from '../demo/instance.ts'
import type { Coverage } from './count-calls.ts'

const sample = path.join(import.meta.dirname, '..', 'samples', 'spam-at-gmail.eml')
const src = pathToFileURL(path.join(import.meta.dirname, '..', '..', 'src')).href
const SETTLED_MS_MAX = 60_000
/** In milliseconds; longer than `count-calls.ts` takes to notice a new phase. */
const PHASE_MS = 1_500

/**
 * Starts an instance, reports one message, and counts the functions of src that run between the
 * POST and the finished feedback report, in all processes and threads. Includes background work
 * during these seconds.
 */
export async function measureJourney(): Promise<{ functions: number; files: number }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-journey-'))
  const counter = path.join(import.meta.dirname, 'count-calls.ts')
  const site = await openSite({ NODE_OPTIONS: `--import ${counter}`, COVERAGE_FOLDER: folder })
  try {
    const { url } = await site.start()
    const { token } = await site.addReporter()
    // The first report loads all modules that are loaded only once.
    await report(url, token, await readFile(sample))
    const other = (await readFile(sample, 'latin1')).replace(
      /^Message-ID: .*$/im,
      'Message-ID: <b@c.example>',
    )
    await begin(folder, 'begin')
    await report(url, token, Buffer.from(other, 'latin1'))
    await begin(folder, 'end')
    return await called(folder)
  } finally {
    await site.clear()
    await rm(folder, { recursive: true, force: true })
  }
}

async function begin(folder: string, phase: 'begin' | 'end'): Promise<void> {
  await writeFile(path.join(folder, 'phase'), phase)
  await wait(PHASE_MS)
}

/** Posts a message and waits until its report is finished. */
async function report(url: string, token: string, raw: Buffer): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  const posted = await fetch(`${url}/api/v1/reports?kind=spam`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'message/rfc822' },
    body: new Uint8Array(raw),
  })
  if (posted.status !== 202) throw new Error(`The report was answered ${posted.status}.`)
  const { id } = (await posted.json()) as { id: string }
  for (const deadline = Date.now() + SETTLED_MS_MAX; ; await wait(25)) {
    const answer = await fetch(`${url}/api/v1/reports/${id}`, { headers })
    const { status } = (await answer.json()) as { status: string }
    if (status !== 'received' && status !== 'analyzed') return
    if (Date.now() > deadline) throw new Error(`The report is still ${status}.`)
  }
}

async function called(folder: string): Promise<{ functions: number; files: number }> {
  const functions = new Set<string>()
  const files = new Set<string>()
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.json')) continue
    const scripts = JSON.parse(await readFile(path.join(folder, name), 'utf8')) as Coverage
    for (const { url, calls } of scripts.filter((script) => script.url.startsWith(src))) {
      for (const at of calls) functions.add(`${url}:${at}`)
      if (calls.length > 0) files.add(url)
    }
  }
  return { functions: functions.size, files: files.size }
}
