import { expect, test } from 'vitest'
import { openCheckSite } from './check-site.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url)
  await answer.text()
  return answer.status
}

test('a web process that is stopping is not ready, and answers until that was seen', async () => {
  const site = await startWebSite({ DRAIN_SECONDS: '2' })
  const ann = await site.addPerson('ann@reporters.example')
  expect(await statusOf(`${site.url}/readyz`)).toBe(200)
  const closed = site.close()
  const [readiness, page, id] = await Promise.all([
    fetch(`${site.url}/readyz`),
    statusOf(`${site.url}/sign-in`),
    site.report(ann, sampleMessage('draining')),
  ])
  expect([readiness.status, await readiness.text()]).toEqual([
    503,
    'the process is shutting down\n',
  ])
  expect(Number(readiness.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(readiness.headers.get('connection')).toBe('close')
  expect(page).toBe(200)
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  await closed
  await expect(fetch(`${site.url}/healthz`)).rejects.toThrow()
})

test('the same is true for the process that answers mail servers', async () => {
  const site = await openCheckSite({ DRAIN_SECONDS: '2' })
  const url = `http://127.0.0.1:${site.port}`
  expect(await statusOf(`${url}/readyz`)).toBe(200)
  const stopped = site.stop()
  const [readiness, checked, pong] = await Promise.all([
    statusOf(`${url}/readyz`),
    site.post('/checkv2', sampleMessage('draining').toString()),
    site.sendRaw('PING RSPAMC/1.3\r\n\r\n'),
  ])
  expect([readiness, checked.status]).toEqual([503, 200])
  expect(pong).toContain('PONG')
  await stopped
  await expect(fetch(`${url}/healthz`)).rejects.toThrow()
  await site.close()
})
