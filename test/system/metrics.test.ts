import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { makeSite, type Site } from '../support/parts.ts'

let site: Site
let checkPort: number

beforeEach(async () => {
  checkPort = await freePort()
  site = await makeSite({ CHECK_PORT: String(checkPort) })
})
afterEach(() => site.clear())

/** Returns the problems that promtool reports. */
async function faultsOf(metrics: string): Promise<string> {
  const child = spawn(process.env['PROMTOOL'] ?? 'promtool', ['check', 'metrics'])
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', (cause) => {
      reject(new Error('promtool is missing: apt-get install prometheus', { cause }))
    })
  })
  child.stdin.end(metrics)
  const said = Promise.all([text(child.stdout), text(child.stderr)])
  return (await Promise.race([said, failed])).join('')
}

test('promtool reports no problem with the metrics of "web" and of "check"', async () => {
  await Promise.all([site.start('web'), site.start('check'), site.start('count')])
  const body = 'Subject: hello\r\n\r\nYou know.\r\n'
  const asked = await fetch(`http://127.0.0.1:${checkPort}/checkv2`, { method: 'POST', body })
  expect(asked.status).toBe(200)
  for (const url of [site.url, `http://127.0.0.1:${checkPort}`]) {
    const answer = await fetch(`${url}/metrics`)
    const metrics = await answer.text()
    expect(metrics).toContain('# TYPE signalpost_check_seconds histogram')
    expect(await faultsOf(metrics)).toBe('')
  }
})
