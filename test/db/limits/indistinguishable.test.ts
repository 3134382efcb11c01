import { afterAll, beforeAll, expect, test } from 'vitest'
import { imposeShadowBan } from '../../../src/intake/limits/shadow.ts'
import { compareSamples } from '../../support/kolmogorov-smirnov.ts'
import { sampleMessage, startWebSite, type Person, type WebSite } from '../http/web-site.ts'

let site: WebSite
let banned: Person
let usual: Person
let sent = 0

const ANSWERS = 2_000
const WARM = 200
const SIGNIFICANCE = 0.01
/** A hundredth of all honest runs fail by chance, so a second one, twice as long, decides. */
const RUNS = 2

beforeAll(async () => {
  site = await startWebSite()
  await site.app.pool.query('update rate_limits set attempts_max = 1000000')
  ;[banned, usual] = [await site.addPerson('eve@x.example'), await site.addPerson('bob@x.example')]
  const admin = await site.addPerson('admin@x.example', { isAdmin: true })
  const deed = { at: new Date(), reporterId: admin.id }
  await imposeShadowBan(site.app, { reporterId: banned.id, reason: 'a test' }, deed)
})
afterAll(() => site.close())

/** Everything of an answer but what no two answers share; and the milliseconds it took. */
async function answerTo(person: Person): Promise<{ shown: string; tookMs: number }> {
  const body = sampleMessage(String(++sent).padStart(6, '0'))
  const headers = { authorization: `Bearer ${person.token}`, 'content-type': 'message/rfc822' }
  const begin = performance.now()
  const answer = await fetch(`${site.url}/api/v1/reports`, { method: 'POST', body, headers })
  const text = await answer.text()
  const tookMs = performance.now() - begin
  const id = /[0-9a-f]{8}-[0-9a-f-]{27}/g
  const fields = [...answer.headers]
    .filter(([name]) => name !== 'date')
    .map(([name, value]) => `${name}: ${value}`)
  const given = [answer.status, ...fields, text].join('\n')
  const shown = given.replaceAll(id, 'ID').replace(/r=\d+;t=\d+/, 'how many are left')
  return { shown, tookMs }
}

/** Both in turns, and who is first changes from pair to pair: so noise meets both alike. */
async function timesOfBoth(pairs: number) {
  const times = { banned: [] as number[], usual: [] as number[], shown: new Set<string>() }
  for (let pair = 0; pair < pairs; pair++) {
    const order = pair % 2 === 0 ? (['banned', 'usual'] as const) : (['usual', 'banned'] as const)
    for (const who of order) {
      const { shown, tookMs } = await answerTo(who === 'banned' ? banned : usual)
      times[who].push(tookMs)
      times.shown.add(shown)
    }
  }
  return times
}

test('a banned client cannot be told by status, header, body or time', async () => {
  await timesOfBoth(WARM)
  let chance = 0
  for (let run = 0; run < RUNS && chance <= SIGNIFICANCE; run++) {
    const { banned: one, usual: other, shown } = await timesOfBoth((ANSWERS / 2) * (run + 1))
    expect([...shown]).toHaveLength(1)
    chance = compareSamples(one, other).chance
  }
  expect(chance).toBeGreaterThan(SIGNIFICANCE)
})
