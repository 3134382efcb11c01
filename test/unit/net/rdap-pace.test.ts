import { expect, test } from 'vitest'
import { retryAfter } from '../../../src/durations.ts'
import { createPace } from '../../../src/net/rdap/rdap.ts'

const start = new Date('2026-11-20T12:00:00Z')
const DAY_MS = 86_400_000

/** Creates a rate limiter whose waiting only advances the clock. */
function paced() {
  let now = start.getTime()
  const waits: number[] = []
  const wait = (ms: number) => {
    waits.push(ms)
    now += ms
    return Promise.resolve()
  }
  const pace = createPace(() => new Date(now), wait)
  const admit = (origin = 'https://a.example', patienceMs = 20_000) =>
    pace.admit(origin, new Date(now + patienceMs))
  return { pace, admit, waits, pass: (ms: number) => (now += ms), now: () => now }
}

test('five queries are sent at once, the sixth and each further one a second later', async () => {
  const { admit, waits } = paced()
  for (let asked = 0; asked < 7; asked++) expect(await admit()).toEqual({ ok: true })
  expect(waits).toEqual([1_000, 1_000])
})

test('simultaneous queries wait one after the other', async () => {
  const waits: number[] = []
  const wait = (ms: number) => Promise.resolve(void waits.push(ms))
  const pace = createPace(() => start, wait)
  const deadline = new Date(start.getTime() + 20_000)
  const asking = Array.from({ length: 8 }, () => pace.admit('https://a.example', deadline))
  await Promise.all(asking)
  expect(waits).toEqual([1_000, 2_000, 3_000])
})

test('idle time allows five queries at once, not more', async () => {
  const { admit, waits, pass } = paced()
  for (let asked = 0; asked < 5; asked++) await admit()
  pass(DAY_MS)
  for (let asked = 0; asked < 6; asked++) await admit()
  expect(waits).toEqual([1_000])
})

test('each server has a separate pace', async () => {
  const { admit, waits } = paced()
  for (let asked = 0; asked < 5; asked++) await admit()
  await admit('https://b.example')
  expect(waits).toEqual([])
})

test('a caller that cannot wait is refused at once and takes no turn', async () => {
  const { admit, waits } = paced()
  for (let asked = 0; asked < 5; asked++) await admit()
  expect(await admit('https://a.example', 500)).toMatchObject({ ok: false })
  expect(await admit()).toEqual({ ok: true })
  expect(waits).toEqual([1_000])
})

test('LACNIC is queried at most ten times a minute', async () => {
  const { admit, now } = paced()
  const instants: number[] = []
  for (let asked = 0; asked < 30; asked++) {
    await admit('https://rdap.lacnic.net')
    instants.push(now())
  }
  const most = instants.map((from) => {
    return instants.filter((at) => at >= from && at < from + 60_000).length
  })
  expect(Math.max(...most)).toBeLessThanOrEqual(10)
})

test('a failing server rests, twice as long each time, for at most an hour', async () => {
  const { pace, admit, pass, now } = paced()
  const rests: number[] = []
  for (let failures = 0; failures < 9; failures++) {
    const until = pace.failed('https://a.example', undefined).getTime()
    rests.push((until - now()) / 1_000)
    expect(await admit()).toMatchObject({ ok: false, retryAt: new Date(until) })
    pass(until - now())
    expect(await admit()).toEqual({ ok: true })
  }
  expect(rests).toEqual([30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
})

test('an answer resets the count of failures', () => {
  const { pace, now } = paced()
  pace.failed('https://a.example', undefined)
  pace.failed('https://a.example', undefined)
  pace.answered('https://a.example')
  const until = pace.failed('https://a.example', undefined)
  expect(until.getTime() - now()).toBe(30_000)
})

test('a server that requests a pause gets that pause', async () => {
  const { pace, admit, pass } = paced()
  pace.failed('https://a.example', 90_000)
  pass(89_999)
  expect(await admit()).toMatchObject({ ok: false })
  pass(1)
  expect(await admit()).toEqual({ ok: true })
})

test.for([
  ['120', 120_000],
  [' 5 ', 5_000],
  ['0', 1_000],
  ['999999999', DAY_MS],
  ['Fri, 20 Nov 2026 12:02:00 GMT', 120_000],
  ['Fri, 20 Nov 2020 12:02:00 GMT', 1_000],
  ['Fri, 20 Nov 2099 12:02:00 GMT', DAY_MS],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
] as const)('Retry-After %j is parsed as %j ms', ([value, expected]) => {
  expect(retryAfter(value, start)).toBe(expected)
})
