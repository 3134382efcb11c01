import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../src/pieces/analyze.ts'
import { ageObstacle, trustedTimes } from '../../../src/verdict/consequences.ts'

const reported = new Date('2026-11-22T12:00:00Z')
const fresh = 'Sun, 22 Nov 2026 11:59:00 +0000'
const old = 'Fri, 1 Feb 2002 09:00:00 +0000'
const ahead = 'Tue, 1 Jan 2036 09:00:00 +0000'

const inner =
  'from mx.home.example (mx.home.example [10.0.0.2]) by imap.home.example with LMTP id A'
const entry = 'from x.example (x.example [192.0.2.7]) by mx.home.example (Postfix) with ESMTP id B'
const below = 'from y.example (y.example [203.0.113.9]) by x.example with ESMTP id C'

async function obstacle(
  [innerTime, entryTime, belowTime]: readonly (string | undefined)[],
  { date = fresh, hoursMax = 168 }: { date?: string | null; hoursMax?: number } = {},
) {
  const line = (text: string, time: string | undefined) =>
    `Received: ${text}${time === undefined ? '' : `; ${time}`}\r\n`
  const lines = [line(inner, innerTime), line(entry, entryTime), line(below, belowTime)]
  const dated = date === null ? '' : `Date: ${date}\r\n`
  const raw = Buffer.from(`${lines.join('')}${dated}From: a@x.example\r\n\r\nText`)
  const { hops } = await analyzeMessage(raw, { trustedRelays: [], ignoreStamps: true })
  return ageObstacle(trustedTimes(hops), reported, hoursMax)
}

test.for([
  ['was handed over just now', [fresh, fresh, fresh], {}],
  ['has an old line of a stranger', [fresh, fresh, old], {}],
  ['has an old Date', [fresh, fresh, fresh], { date: old }],
  ['has a Date in the future', [fresh, fresh, fresh], { date: ahead }],
  ['has no Date', [fresh, fresh, fresh], { date: null }],
  ['is a week old to the hour', [fresh, 'Sun, 15 Nov 2026 12:00:00 +0000', old], {}],
  ['is ahead by a time zone', [fresh, 'Mon, 23 Nov 2026 01:00:00 +0000', fresh], {}],
  ['was seen by a clock far ahead, but came fresh', [fresh, ahead, old], {}],
  ['was seen at no time, but came fresh', [fresh, undefined, old], {}],
  ['is old, where nothing is too old', [old, old, old], { hoursMax: 0 }],
] as const)('a message that %s is not too old', async ([, times, more]) => {
  expect(await obstacle(times, more)).toBeUndefined()
})

test.for([
  ['was handed over in 2002', [old, old, old], {}, '2002-02-01'],
  ['was, below a forged line of today', [old, old, fresh], {}, '2002-02-01'],
  ['was, with a Date of today', [old, old, old], { date: fresh }, '2002-02-01'],
  ['was, and went on to another mailbox today', [fresh, old, fresh], {}, '2002-02-01'],
  ['was seen at no time, but came in 2002', [old, undefined, fresh], {}, '2002-02-01'],
  ['was seen by a clock far ahead, but came in 2002', [old, ahead, fresh], {}, '2002-02-01'],
  ['is an hour over a week', [fresh, 'Sun, 15 Nov 2026 11:00:00 +0000', fresh], {}, '2026-11-15'],
  ['is over the limit', [fresh, 'Sun, 22 Nov 2026 10:00:00 +0000'], { hoursMax: 1 }, '2026-11-22'],
] as const)(
  'a message that %s is too old, and the reason has its date',
  async ([, times, more, day]) => {
    expect(await obstacle(times, more)).toMatchObject({ code: 'too-old', params: { day } })
  },
)

test.for([
  ['no trusted line tells a time', [undefined, undefined, fresh]],
  ['all trusted clocks are far ahead', [ahead, ahead, fresh]],
  ['no time can be read', ['yesterday', 'x', fresh]],
] as const)('no one is accused if %s', async ([, times]) => {
  expect(await obstacle(times)).toEqual({ code: 'age-unknown' })
})

test('a message without Received lines has no age and accuses no address', () => {
  expect(ageObstacle([], reported, 168)).toBeUndefined()
})
