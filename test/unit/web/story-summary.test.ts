import { expect, test } from 'vitest'
import { type Phrase, phrase } from '../../../src/phrase.ts'
import type { KeptAnalysis } from '../../../src/db/analyses.ts'
import type { Feedback } from '../../../src/db/feedback-reports.ts'
import { shortRoute, summarize, type SummarySource } from '../../../src/web/history/summary.ts'
import type { WalkPicture } from '../../../src/verdict/walk-picture.ts'

const at = new Date('2026-11-20T10:00:00Z')

/** An analysis with a verdict and a consequence; the other fields are not read. */
function analysis(
  verdict: string,
  action: string,
  unsubscribe: unknown = null,
  why: readonly Phrase[] = [],
): KeptAnalysis {
  const details = { verdict: { class: verdict }, consequence: { action, why }, unsubscribe }
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
    'is phishing, and asks about a machine',
    { analysis: analysis('phishing', 'ask'), isAsking: true },
    'asking',
    'done done asking open',
    'phishing',
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
    'check',
  ],
  [
    'was retracted after it was sent',
    { report: { ...report, state: 'retracted' }, complaints: [complaint('sent')] },
    'retracted',
    'done done done skipped',
    'check',
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

/** Consequences with their reasons, as `consequenceOf` composes them. */
const consequences: readonly (readonly [string, ...Phrase[]])[] = [
  ...(['forward', 'simulation'] as const).map((action) => [action] as const),
  ['look-up', phrase('registry-asked')],
  ['ask', phrase('origin-uncertain'), phrase('question-asked')],
  ['confirm', phrase('looks-like-reply'), phrase('confirmation-asked')],
  ['advise', phrase('bulk-with-unsubscribe'), phrase('no-complaint')],
  ['advise', phrase('marketer-list-id', { listId: 'a' }), phrase('no-complaint')],
  ['keep', phrase('looks-wanted'), phrase('others-needed')],
  ['keep', phrase('looks-like-receipt'), phrase('others-needed')],
  ['keep', phrase('looks-forwarded')],
  ['keep', phrase('network-muted')],
]
const states = ['received', 'analyzed', 'forwarded', 'kept', 'retracted', 'failed'] as const
const classes = ['spam', 'phishing', 'malware', 'marketing', 'legitimate', 'undecided'] as const
const feedbacks = ['sent', 'merged', 'queued', 'waiting', 'held', 'refused', 'bounced', 'withdrawn']
const isBad = (name: string | undefined) => ['spam', 'phishing', 'malware'].includes(name ?? '')

/** All summaries of reports that can exist. */
function* allSummaries() {
  for (const state of states) {
    for (const kind of ['spam', 'phishing', 'not-spam'] as const) {
      const at_ = { report: { state, kind, receivedAt: at } }
      for (const feedback of [undefined, ...feedbacks] as (Feedback['state'] | undefined)[]) {
        for (const said of feedback === 'sent' ? [undefined, answer] : [undefined]) {
          const complaints = feedback ? [complaint(feedback)] : []
          const base = { ...at_, complaints, answers: said ? [said] : [] }
          yield { verdict: undefined, ...base, ...shown({ ...base, analysis: undefined }) }
          for (const [verdict, [action, ...why]] of pairs(kind)) {
            const found = analysis(verdict, action, null, why)
            const isOpen = state === 'kept'
            const asked = { isAsking: isOpen && action === 'ask', isUnconfirmed: isOpen }
            const one = { ...base, ...asked, analysis: found }
            if (action !== 'confirm') one.isUnconfirmed = false
            yield { verdict, ...base, ...shown(one) }
            const isKnown = kind === 'spam' && state !== 'retracted' && action !== 'simulation'
            const isSafe = verdict !== 'phishing' && verdict !== 'malware'
            if (isKnown && isSafe) yield { verdict, ...base, ...shown({ ...one, hasAdvice: true }) }
          }
        }
      }
    }
  }
}

function shown(change: Partial<SummarySource>) {
  const {
    outcome,
    verdict: says,
    because,
    reasons,
    notified,
    stages,
    todo,
    danger,
  } = summarize(source(change))
  const codes = reasons.map(({ code }) => code)
  const { hasAdvice = false } = change
  return {
    outcome,
    says,
    because,
    codes,
    notified,
    told: stages.told.state,
    todo,
    danger,
    hasAdvice,
  }
}

function pairs(kind: string) {
  const its = consequences.filter(([action]) => action !== 'advise' || kind !== 'not-spam')
  return classes.flatMap((verdict) => its.map((one) => [verdict, one] as const))
}

test('no summary contradicts itself', () => {
  const faults = new Map<string, unknown>()
  let count = 0
  for (const one of allSummaries()) {
    count++
    const { outcome, says, because, codes, notified, told, todo, danger } = one
    const isUntold = outcome === 'kept' || outcome === 'newsletter'
    const rules = {
      'nothing to do about something dangerous': todo !== 'nothing' || danger === 'none',
      'harmless, but bad or to be deleted':
        danger !== 'none' || (!isBad(says) && ['nothing', 'unsubscribe', 'answer'].includes(todo)),
      'a danger without its advice': !['phishing', 'malware'].includes(danger) || todo === danger,
      'spam that may be trusted': danger !== 'spam' || ['spam', 'answer'].includes(todo),
      'dangerous by its verdict, but not on the page':
        !['phishing', 'malware'].includes(one.verdict ?? '') ||
        danger === one.verdict ||
        outcome.startsWith('simulation'),
      'the wish of the reporter is not heard': todo !== 'unsubscribe' || one.hasAdvice,
      'waiting for what is over':
        (todo === 'wait') === (danger === 'waiting') &&
        (todo !== 'wait' || outcome === 'waiting' || outcome === 'failed'),
      'a question that nobody asks': todo !== 'answer' || told === 'asking' || notified === 'done',
      'wanted, but somebody is notified':
        says !== 'legitimate' || notified === 'nobody' || outcome === 'unconfirmed',
      'a reporter who wants it, and does not':
        says !== 'unwanted' || one.report.kind !== 'not-spam',
      'a newsletter with another name': outcome !== 'newsletter' || /^(new|mark)/.test(says ?? ''),
      'no reason why no one was notified':
        codes.length > 0 === (isUntold && one.verdict !== undefined),
      'a question that is not asked any more': !codes.some((code) => /-asked$/.test(code)),
      'a reason that contradicts the verdict': !isBad(says) || !codes.some((code) => isFor(code)),
      'signs of another verdict':
        because === undefined || isBad(because) === isBadOrDisputed(danger),
      'notified in one place only':
        notified === 'done' ? told === 'done' : told !== 'skipped' || notified === 'nobody',
      'told above, and not below': !/^(told|answered)/.test(outcome) || notified === 'done',
    }
    for (const [rule, holds] of Object.entries(rules)) {
      if (!holds && !faults.has(rule)) faults.set(rule, one)
    }
  }
  expect([...faults]).toEqual([])
  expect(count).toBeGreaterThan(10_000)
})

const isBadOrDisputed = (danger: string) => isBad(danger) || danger === 'disputed'
const isFor = (code: string) => /^(looks-(wanted|like)|bulk-|no-complaint)/.test(code)
