import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../support/free-port.ts'
import { spamMessage } from '../support/messages.ts'
import { makeSite } from '../support/parts.ts'
import { type Daemon, openFolder, startDaemon } from './daemon.ts'

type Rules = { groups: { rules: { alert: string; expr: string }[] }[] }
type Dashboard = { panels: { id: number; title: string; targets: { expr: string }[] }[] }
type Answer = { status: string; error?: string; data: { result: { value: [number, string] }[] } }

const folder = path.join(import.meta.dirname, '../../deploy')
const run = promisify(execFile)
const promtool = (...args: string[]) => run(process.env['PROMTOOL'] ?? 'promtool', args)

/** Series that appear only after an event: failed requests, and mail servers that were asked. */
const events = ['status=~"5.."']

test('promtool accepts the alert rules, and its tests of them pass', async () => {
  expect((await promtool('check', 'rules', `${folder}/signalpost.rules.yaml`)).stdout).toContain(
    'SUCCESS: 12 rules',
  )
  const tested = await promtool('test', 'rules', `${folder}/signalpost.rules.test.yaml`)
  expect(tested.stdout).toContain('SUCCESS')
})

test('every alert has a test', async () => {
  const tests = await readFile(`${folder}/signalpost.rules.test.yaml`, 'utf8')
  const { groups } = parse(await readFile(`${folder}/signalpost.rules.yaml`, 'utf8')) as Rules
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
  expect(alerts.filter((alert) => !tests.includes(alert))).toEqual([])
})

const checkPort = await freePort()
const site = await makeSite({ CHECK_PORT: String(checkPort) })
const scratch = await openFolder('prometheus')
let prometheus: Daemon | undefined

afterAll(async () => {
  await prometheus?.stop()
  await site.clear()
  await scratch.clear()
})

/** The answer of Prometheus to a query. */
async function ask(url: string, query: string): Promise<Answer> {
  const answer = await fetch(`${url}/api/v1/query`, {
    method: 'POST',
    body: new URLSearchParams({ query }),
  })
  return (await answer.json()) as Answer
}

/** Starts Prometheus, which scrapes both servers each second. */
async function startPrometheus(): Promise<string> {
  const port = await freePort()
  const config = path.join(scratch.at, 'prometheus.yml')
  const targets = [new URL(site.url).host, `127.0.0.1:${checkPort}`]
  const job = { job_name: 'signalpost', static_configs: [{ targets }] }
  const given = { global: { scrape_interval: '1s' }, scrape_configs: [job] }
  await writeFile(config, JSON.stringify(given))
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${scratch.at}/data`]
  prometheus = await startDaemon(
    ['prometheus', ...args, `--web.listen-address=127.0.0.1:${port}`],
    { port, package: 'prometheus' },
  )
  return `http://127.0.0.1:${port}`
}

/** Makes each kind of request once. */
async function useSite(mark: string): Promise<void> {
  const headers = { authorization: `Bearer ${site.token}`, 'content-type': 'message/rfc822' }
  const report = (body: Buffer | string) =>
    fetch(`${site.url}/api/v1/reports`, {
      method: 'POST',
      headers,
      body: new Uint8Array(Buffer.from(body)),
    })
  expect((await report(spamMessage(mark))).status).toBe(202)
  expect((await report('')).status).toBe(400)
  const body = 'Subject: hello\r\n\r\nYou know.\r\n'
  const asked = await fetch(`http://127.0.0.1:${checkPort}/checkv2`, { method: 'POST', body })
  expect(asked.status).toBe(200)
}

test('every query of the alerts and of the dashboard finds series of the program', async () => {
  await Promise.all((['web', 'work', 'check', 'count'] as const).map((name) => site.start(name)))
  await useSite('first')
  const url = await startPrometheus()
  const { groups } = parse(await readFile(`${folder}/signalpost.rules.yaml`, 'utf8')) as Rules
  const dashboard = await readFile(`${folder}/grafana-dashboard.json`, 'utf8')
  const { panels } = JSON.parse(dashboard) as Dashboard
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const queries = [
    // An alert finds nothing while all is well, so its values are queried without their bound.
    ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr.replace(/\s[<>]\s+[\d.]+$/, ''))),
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ].map((query) => query.replaceAll('$job', 'signalpost').replaceAll('$__rate_interval', '1m'))
  expect(queries.filter((query) => /[<>] [\d.]+$|\$/.test(query))).toEqual([])
  // A rate needs two scrapes, the second with what happened after the first.
  await expect.poll(async () => (await ask(url, 'min(up) == 1')).data.result).toHaveLength(1)
  await useSite('second')
  await expect
    .poll(async () => (await ask(url, 'min(count_over_time(up[1m])) > 2')).data.result)
    .toHaveLength(1)
  for (const query of queries) {
    const { status, error, data } = await ask(url, query)
    expect([query, status, error]).toEqual([query, 'success', undefined])
    const isEvent = events.some((event) => query.includes(event))
    if (!isEvent) expect([query, data.result.length > 0]).toEqual([query, true])
  }
}, 120_000)
