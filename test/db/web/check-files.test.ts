import { expect, test } from 'vitest'
import { codeOf, slowPdf } from '../../support/bombs.ts'
import { composeParts } from '../../support/link-kinds.ts'
import { until } from '../../support/process.ts'
import { increments, openCheckSite } from './check-site.ts'

const client = { ip: '9.9.9.10', helo: 'mx.shop.example', from: 'offers@shop.example' }
const text = { type: 'text/plain', content: 'See the picture.' }
const code = { type: 'image/png', content: codeOf('https://counted.example/') }
const slow = (salt: number) => ({ type: 'application/pdf', content: slowPdf(salt) })

/** The answer of a new site to a message, and what it has counted when it closes at once or after the count. */
async function countOf(parts: Parameters<typeof composeParts>[1], isPatient: boolean) {
  const site = await openCheckSite()
  const raw = Buffer.from(composeParts('From: a@a.example\nSubject: x', parts))
  const { json } = await site.post('/checkv2', raw, client)
  const early = (await increments(site)).size
  const counted = () => increments(site).then((sums) => (sums.size > 0 ? sums : undefined))
  if (isPatient) await until('the count', counted)
  await site.stop()
  const sums = await increments(site)
  await site.close()
  return { action: json.action, early, keys: sums.size, times: new Set(sums.values()) }
}

test('a check that does not wait for its files is counted when they are read, once', async () => {
  const parts = [text, code, slow(61)]
  const late = await countOf(parts, true)
  expect(late).toMatchObject({ action: 'no action', early: 0, times: new Set([1]) })
  // The site ends before the files are read.
  const stopped = await countOf(parts, false)
  expect(stopped).toMatchObject({ action: 'no action', early: 0, times: new Set([1]) })
  expect(late.keys).toBeGreaterThan(stopped.keys)
  expect(stopped.keys).toBeGreaterThan(0)
})
