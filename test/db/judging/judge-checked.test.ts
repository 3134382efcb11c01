import { expect, test } from 'vitest'
import { createJudgeChecked } from '../../../src/judging/check-message.ts'
import { createJudge, type Judge } from '../../../src/judging/judge.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { parser } from '../../support/parser.ts'
import { shippedRules } from '../../support/shipped-rules.ts'

const app = await closeAfterTests(openTestApp())

const envelope = {
  ip: '203.0.113.9',
  helo: undefined,
  hostname: undefined,
  returnPath: undefined,
  recipients: [],
  user: undefined,
  queueId: undefined,
}

async function cases(...marks: string[]) {
  const mails = marks.map((mark) => checkedMail(mark, 'https://good.example/'))
  const read = mails.map((mail) =>
    parser.check(mail, { trustedRelays: [], client: { ip: envelope.ip } }),
  )
  return (await Promise.all(read)).map((digest) => ({ digest, envelope }))
}

test('a message that crashes its judge affects no other verdict, and passes', async () => {
  const fragile: Judge = (all) => {
    const isBroken = all.some(({ digest }) => digest.subjects.length === 0)
    return isBroken ? Promise.reject(new TypeError('It has no subject.')) : app.judge(all)
  }
  const judge = createJudgeChecked(app, fragile)
  const [first, second, third, poison] = await cases('one', 'two', 'three', 'four')
  if (!first || !second || !third || !poison) throw new Error('A message is missing.')
  const broken = { ...poison, digest: { ...poison.digest, subjects: [] } }
  const judged = await Promise.all([first, second, third, broken].map(judge))
  expect(judged.map((one) => one?.verdict.class)).toEqual([
    ...['undecided', 'undecided', 'undecided'],
    undefined,
  ])
})

test('a failure of the database is an error, because a retry may succeed', async () => {
  const away: Judge = () =>
    Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))
  const [one] = await cases('five')
  if (!one) throw new Error('A message is missing.')
  await expect(createJudgeChecked(app, away)(one)).rejects.toThrow('connect')
})

test('lookups do not wait for campaign and network, which give the same facts later', async () => {
  const [one] = await cases('six')
  if (!one) throw new Error('A message is missing.')
  const isAsked = Promise.withResolvers<undefined>()
  const judge = createJudge({
    counters: {
      readWindows: (keys) => {
        if (keys.length > 0) isAsked.resolve(undefined)
        return Promise.resolve(keys.map((key) => ({ checks: windowsOf(Number(key % 97n)) })))
      },
      readSeries: () => Promise.reject(new Error('No series is read.')),
    },
    reputations: {
      read: (subjects) =>
        Promise.resolve(
          subjects.map(({ kind, name }) => ({
            ...{ score: -name.length / 100, weight: kind.length, recentScore: 0, recentWeight: 0 },
            ...{ flags: [], firstSeenAt: null, lastSeenAt: null },
          })),
        ),
    },
    rules: { current: () => shippedRules() },
    model: { current: () => undefined },
    clock: app.clock,
  })
  const network = { cidr: '203.0.113.0/24', asn: 64_500, name: 'Net', country: 'FR', abuse: null }
  const circumstances = { campaignId: 'the campaign', network: { ...network, contacts: [] } }
  const [alone] = await judge([one])
  const [before] = await judge([{ ...one, ...circumstances }])
  const [later] = await judge(
    [one],
    isAsked.promise.then(() => [circumstances]),
  )
  expect(later).toEqual(before)
  expect(later?.subjects.map(({ kind }) => kind)).toEqual([
    ...(alone?.subjects.map(({ kind }) => kind) ?? []),
    ...['autonomous-system', 'campaign'],
  ])
  expect(later?.facts['seen']).not.toEqual(alone?.facts['seen'])
})

function windowsOf(count: number) {
  const counts = { ham: count, spam: count, complaint: count, redeemed: 0, unique: count }
  const shape = { periods: 1, peak: count }
  return { shape, tenMinutes: counts, hour: counts, day: counts, today: counts, twoWeeks: counts }
}
