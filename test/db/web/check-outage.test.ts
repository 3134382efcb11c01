import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { layWire, type Wire } from './cut-wire.ts'
import { startWebSite } from './web-site.ts'

let wire: Wire

const site = await closeAfterTests(
  startWebSite({ WORKERS: '1' }, async (url) => {
    wire = await layWire(Number(new URL(url).port))
    const rewired = new URL(url)
    rewired.hostname = '127.0.0.1'
    rewired.port = String(wire.port)
    return rewired.href
  }),
)

async function post(path: string, mark: string): Promise<{ status: number; error?: string }> {
  const body = checkedMail(mark, `https://${mark}.example/`)
  const answer = await fetch(`${site.url}${path}`, { method: 'POST', body })
  const { error } = (await answer.json()) as { error?: string }
  return { status: answer.status, ...(error !== undefined && { error }) }
}

test('the web process also answers mail servers, on a separate port', async () => {
  expect(await post('/checkv2', 'first')).toEqual({ status: 200 })
  const ping = await fetch(`${site.url}/ping`)
  expect(await ping.text()).toBe('pong\r\n')
  const metrics = async () => (await fetch(`${site.url}/metrics`)).text()
  await expect.poll(metrics, { timeout: 10_000 }).toContain('signalpost_check_seconds_count')
})

test('without the database mail passes without a verdict, until it is back', async () => {
  await wire.cut()
  try {
    const started = performance.now()
    const body = checkedMail('outage', 'https://outage.example/')
    const answer = await fetch(`${site.url}/checkv2`, { method: 'POST', body })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      action: 'no action',
      symbols: { NO_VERDICT: { score: 0 } },
    })
    expect(await post('/learnspam', 'outage')).toMatchObject({ status: 503, error: /\w/ })
    expect(performance.now() - started).toBeLessThan(12_000)
  } finally {
    await wire.mend()
  }
  await expect.poll(() => post('/checkv2', 'after')).toEqual({ status: 200 })
  await expect.poll(() => post('/learnspam', 'after')).toEqual({ status: 200 })
})
