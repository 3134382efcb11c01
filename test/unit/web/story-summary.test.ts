import { expect, test } from 'vitest'
import type { KeptAnalysis } from '../../../src/db/analyses.ts'
import type { Feedback } from '../../../src/db/feedback-reports.ts'
import { shortRoute, summarize, type SummarySource } from '../../../src/web/history/summary.ts'
import type { WalkPicture } from '../../../src/verdict/walk-picture.ts'

const at = new Date('2026-11-20T10:00:00Z')

/** An analysis with a verdict and a consequence; the other fields are not read. */
function analysis(verdict: string, action: string, unsubscribe: unknown = null): KeptAnalysis {
  const details = { verdict: { class: verdict }, consequence: { action, why: [] }, unsubscribe }
  return { analyzedAt: at, network: { name: 'Contoso' }, details } as unknown as KeptAnalysis
}

function complaint(state: Feedback['state'], recipientRole = 'network'): Feedback {
  return { state, recipientRole, address: 'abuse@desk.example', finishedAt: at } as Feedback
}

function source(change: Partial<SummarySource>): SummarySource {
  return {
    report: { state: 'received', kind: 'spam', receivedAt: at },
    analysis: undefined,
    complaints: [],
    answers: [],
    isAsking: false,
    isUnconfirmed: false,
    hasAdvice: false,
    ...change,
  }
}

const spam = analysis('spam', 'forward')
const answer = { answer: 'resolved', at, said: null, desk: 'desk.example' } as const
const report = { kind: 'spam', receivedAt: at } as const

test.for([
  [
    'is of a simulation',
    {
      analysis: analysis('legitimate', 'simulation'),
      report: { ...report, kind: 'phishing', state: 'kept' },
    },
    'simulation',
    'done done skipped skipped',
    'nothing',
  ],
  ['has just arrived', {}, 'waiting', 'done now open open', 'wait'],
  [
    'is analyzed',
    { analysis: analysis('spam', 'look-up') },
    'looking-up',
    'done done now open',
    'spam',
  ],
  [
    'is about to be sent',
    { complaints: [complaint('queued')] },
    'queued',
    'done done now open',
    'spam',
  ],
  [
    'was sent',
    { complaints: [complaint('withdrawn'), complaint('sent')] },
    'told',
    'done done done open',
    'spam',
  ],
  [
    'was sent with others',
    { complaints: [complaint('merged')] },
    'told',
    'done done done open',
    'spam',
  ],
  ['came back', { complaints: [complaint('bounced')] }, 'bounced', 'done done failed open', 'spam'],
  [
    'came back, and has another recipient',
    { complaints: [complaint('bounced'), complaint('queued')] },
    'queued',
    'done done now open',
    'spam',
  ],
  ['is held', { complaints: [complaint('held')] }, 'held', 'done done now open', 'spam'],
  [
    'was answered',
    { complaints: [complaint('sent')], answers: [answer] },
    'answered-resolved',
    'done done done done',
    'spam',
  ],
  [
    'was answered with a request for the original',
    { complaints: [complaint('sent')], answers: [{ ...answer, answer: 'original' }] },
    'told',
    'done done done open',
    'spam',
  ],
  [
    'asks about a machine',
    { analysis: analysis('spam', 'ask'), isAsking: true },
    'asking',
    'done done asking open',
    'answer',
  ],
  [
    'asks for a confirmation',
    { analysis: analysis('legitimate', 'confirm'), isUnconfirmed: true },
    'unconfirmed',
    'done done asking open',
    'answer',
  ],
  [
    'is about a newsletter',
    { analysis: analysis('marketing', 'advise'), hasAdvice: true },
    'newsletter',
    'done done skipped skipped',
    'unsubscribe',
  ],
  [
    'is about a newsletter of nobody who is verified',
    { analysis: analysis('undecided', 'advise') },
    'newsletter',
    'done done skipped skipped',
    'newsletter',
  ],
  [
    'tells how to unsubscribe, and has no sure origin',
    { analysis: analysis('undecided', 'keep', { https: 'https://shop.example/off' }) },
    'kept',
    'done done skipped skipped',
    'newsletter',
  ],
  [
    'tells how to unsubscribe, and is passed on',
    { analysis: analysis('undecided', 'look-up', { https: 'https://shop.example/off' }) },
    'looking-up',
    'done done now open',
    'spam',
  ],
  [
    'cannot be decided',
    { analysis: analysis('undecided', 'keep') },
    'kept',
    'done done skipped skipped',
    'spam',
  ],
  [
    'is kept',
    { analysis: analysis('phishing', 'keep') },
    'kept',
    'done done skipped skipped',
    'phishing',
  ],
  [
    'is about malware',
    { analysis: analysis('malware', 'keep') },
    'kept',
    'done done skipped skipped',
    'malware',
  ],
  [
    'says that it is wanted',
    {
      analysis: analysis('legitimate', 'keep'),
      report: { ...report, kind: 'not-spam', state: 'kept' },
    },
    'thanks',
    'done done skipped skipped',
    'nothing',
  ],
  [
    'failed',
    { analysis: undefined, report: { ...report, state: 'failed' } },
    'failed',
    'done failed open open',
    'wait',
  ],
  [
    'was retracted at once',
    { analysis: undefined, report: { ...report, state: 'retracted' } },
    'retracted',
    'done skipped skipped skipped',
    'nothing',
  ],
  [
    'was retracted after it was sent',
    { report: { ...report, state: 'retracted' }, complaints: [complaint('sent')] },
    'retracted',
    'done done done skipped',
    'nothing',
  ],
] as const)('a report that %s says so', ([name, change, outcome, states, todo]) => {
  const found = name === 'has just arrived' ? undefined : spam
  const summary = summarize(source({ analysis: found, ...(change as Partial<SummarySource>) }))
  const shown = Object.values(summary.stages)
    .map(({ state }) => state)
    .join(' ')
  expect([summary.outcome, shown, summary.todo]).toEqual([outcome, states, todo])
})

test('the company is named as its network, or as its domain', () => {
  const desks = ['network', 'marketer'].map(
    (role) => summarize(source({ analysis: spam, complaints: [complaint('sent', role)] })).desk,
  )
  expect(desks).toEqual(['Contoso', 'desk.example'])
})

test('a page waits only for what happens soon', () => {
  const isOpen = (change: Partial<SummarySource>) => summarize(source(change)).isOpen
  expect(isOpen({})).toBe(true)
  expect(isOpen({ analysis: spam, complaints: [complaint('queued')] })).toBe(true)
  expect(isOpen({ analysis: spam, complaints: [complaint('sent')] })).toBe(false)
})

test('a short route names the provider, and whether there is more behind the origin', () => {
  const station = (role: string, name: string | null) => ({ role, name })
  const stations = [
    station('mailbox', null),
    ...[station('ours', 'mx1.provider.example'), station('origin', 'a.example')],
    station('claimed', 'b.example'),
  ]
  const picture = { stations, border: 3 } as unknown as WalkPicture
  expect(shortRoute(picture)).toEqual({ isLonger: true, provider: 'provider.example' })
  const short = { stations: stations.slice(0, 1), border: null } as unknown as WalkPicture
  expect(shortRoute(short)).toEqual({ isLonger: false, provider: undefined })
})

test.for([
  ['mail with advice', { hasAdvice: true }, ['marketing', 'unsubscribe', 'none']],
  ['mail without it', {}, ['newsletter', 'newsletter', 'undecided']],
  [
    'phishing, as the reporter says',
    { report: { state: 'received' as const, ...report, kind: 'phishing' as const } },
    ['newsletter', 'newsletter', 'undecided'],
  ],
] as const)(
  'a page that says to click nothing does not say "unsubscribe": %s',
  ([, change, says]) => {
    const bulk = source({ analysis: analysis('marketing', 'advise'), ...change })
    const { verdict, todo, danger } = summarize(bulk)
    expect([verdict, todo, danger]).toEqual(says)
  },
)
