import { expect, test } from 'vitest'
import { relaysFromHistory, type PastReport, pastReport } from '../../../src/verdict/relays.ts'
import type { Authentication } from '../../../src/origin/authenticity/authenticate.ts'
import type { TracedHop } from '../../../src/origin/trace.ts'

const DAY_MS = 86_400_000
const start = Date.parse('2026-11-01T12:00:00Z')
const relayIp = '192.0.2.10'

/**
 * Returns a report through the relay on a given day; each is from a different machine and author.
 */
function through(day: number, fields: Partial<PastReport> = {}): PastReport {
  return {
    at: new Date(start + day * DAY_MS),
    kind: 'spam',
    authorDomain: `author${day}.example`,
    isSigned: true,
    entryIp: relayIp,
    crossings: [crossing(day)],
    ...fields,
  }
}

function crossing(day: number, fields: Partial<PastReport['crossings'][0]> = {}) {
  return {
    receiver: 'mx.home.example',
    ip: relayIp,
    rdns: 'in.provider.example',
    isLinked: true,
    peerBelow: `198.${50 + day}.100.7`,
    ...fields,
  }
}

function elsewhere(day: number): PastReport {
  const ip = `203.0.113.${day}`
  return through(day, { entryIp: ip, crossings: [crossing(day, { ip })] })
}

function days(count: number, make: (day: number) => PastReport = through): PastReport[] {
  return Array.from({ length: count }, (_, day) => make(day))
}

/** Returns the same history, with some messages that the reporter wanted. */
function withWanted(history: PastReport[], fields: Partial<PastReport> = {}): PastReport[] {
  return history.map((report, index) =>
    index < 3 ? { ...report, kind: 'not-spam' as const, ...fields } : report,
  )
}

const nothingKnown = { learnedIps: [] }
const relay = (evidence: number) => ({ ip: relayIp, name: 'in.provider.example', evidence })
const nothing = { learned: [], proposed: [] }

test('a relay that brings all mail, wanted mail included, is learned', () => {
  expect(relaysFromHistory(withWanted(days(10)), nothingKnown)).toEqual({
    learned: [relay(10)],
    proposed: [],
  })
})

test('a spammer who sends all the spam of a reporter is at most proposed, never learned', () => {
  expect(relaysFromHistory(days(50), nothingKnown)).toEqual({ learned: [], proposed: [relay(50)] })
})

test.for<[string, PastReport[]]>([
  ['of two only', withWanted(days(12)).map((one, at) => (at === 0 ? through(0) : one))],
  ['of one author', withWanted(days(12), { authorDomain: 'friend.example' })],
  ['that nobody signed, or nobody asked the DNS about', withWanted(days(12), { isSigned: false })],
  ['that names no author', withWanted(days(12), { authorDomain: null })],
])('with wanted mail %s a relay is only proposed', ([, history]) => {
  expect(relaysFromHistory(history, nothingKnown)).toEqual({ learned: [], proposed: [relay(12)] })
})

test('at a receiver with known relays nothing is learned or proposed', () => {
  const atGmail = (day: number) =>
    through(day, { crossings: [crossing(day, { receiver: 'mx.google.com' })] })
  expect(relaysFromHistory(withWanted(days(20, atGmail)), nothingKnown)).toEqual(nothing)
})

test.for<[string, PastReport[]]>([
  ['nine reports', withWanted(days(9))],
  [
    'ten reports of six days',
    withWanted(days(10).map((report, at) => ({ ...report, at: new Date(start + at * 57e6) }))),
  ],
  [
    'a line below that another machine wrote, once',
    withWanted(
      days(10, (day) => through(day, { crossings: [crossing(day, { isLinked: day !== 5 })] })),
    ),
  ],
  [
    'machines behind it in four networks',
    withWanted(
      days(12, (day) =>
        through(day, { crossings: [crossing(day, { peerBelow: `198.${day % 4}.1.${day}` })] }),
      ),
    ),
  ],
  [
    'no machine behind it that it names',
    withWanted(
      days(12, (day) => through(day, { crossings: [crossing(day, { peerBelow: null })] })),
    ),
  ],
  [
    'authors of four domains',
    withWanted(days(12, (day) => through(day, { authorDomain: `author${day % 4}.example` }))),
  ],
  [
    'every eighth report from elsewhere',
    withWanted(days(24, (day) => (day % 8 === 7 ? elsewhere(day) : through(day)))),
  ],
])('%s: nothing is learned or proposed', ([, history]) => {
  expect(relaysFromHistory(history, nothingKnown)).toEqual(nothing)
})

test('one report in ten may come from elsewhere', () => {
  const history = withWanted(days(20, (day) => (day % 10 === 9 ? elsewhere(day) : through(day))))
  expect(relaysFromHistory(history, nothingKnown).learned).toEqual([relay(18)])
})

test('mail received by another host is a separate question', () => {
  const webmail = days(10, (day) => {
    const report = elsewhere(day)
    const crossings = report.crossings.map((one) => ({ ...one, receiver: 'mx.webmail.example' }))
    return { ...report, crossings }
  })
  expect(relaysFromHistory([...withWanted(days(10)), ...webmail], nothingKnown).learned).toEqual([
    relay(10),
  ])
})

const known = { ...nothingKnown, learnedIps: [relayIp] }

test('a learned relay stays while mail comes through it, though it is now trusted', () => {
  const passed = days(20, (day) => through(day, { entryIp: `198.${50 + day}.100.7` }))
  expect(relaysFromHistory(passed, known).learned).toEqual([relay(20)])
})

test('a learned relay stays while there is too little evidence against it', () => {
  expect(relaysFromHistory(days(19, elsewhere), known).learned).toEqual([
    { ...relay(0), name: null },
  ])
})

test('a learned relay is forgotten when the last twenty reports came another way', () => {
  const moved = days(40, (day) => (day < 20 ? through(day) : elsewhere(day)))
  expect(relaysFromHistory(moved, known)).toEqual(nothing)
})

test('a learned relay is forgotten when the lines below it are untrusted', () => {
  const broken = days(20, (day) =>
    through(day, { crossings: [crossing(day, { isLinked: day < 9 })] }),
  )
  expect(relaysFromHistory(broken, known)).toEqual(nothing)
})

function hop(index: number, fields: Partial<TracedHop>): TracedHop {
  return {
    index,
    from: { helo: null, rdns: null, ip: null, port: null },
    by: { host: null, ip: null },
    with: null,
    id: null,
    for: null,
    at: null,
    auth: null,
    trust: 'claimed',
    because: null,
    notes: [],
    ...fields,
  }
}

const spam = { at: new Date(start), kind: 'spam' as const, author: 'a@shop.example' }

function plain(...hops: TracedHop[]) {
  return { hops, authentication: null }
}

test.for([
  ['the name that was looked up', { helo: 'me', rdns: 'mx.a.example' }, 'mx.a.example', null, true],
  ['the address', { helo: 'me', rdns: null }, 'other.example', relayIp, true],
  ['its greeting', { helo: 'mx.a.example', rdns: null }, 'mx.a.example', null, false],
  ['its greeting, with another name', { helo: 'b', rdns: 'mx.a.example' }, 'b', null, false],
] as const)('a line is linked to the one above by %s or not', ([, names, host, ip, isLinked]) => {
  const above = hop(0, {
    from: { ...names, ip: relayIp, port: null },
    by: { host: 'mx.home.example', ip: null },
    trust: 'injection',
  })
  const { crossings } = pastReport(spam, plain(above, hop(1, { by: { host, ip } })))
  expect(crossings).toMatchObject([{ rdns: names.rdns, isLinked }])
})

test.for([
  ['verified and the author’s', { result: 'pass', aligned: true }, true],
  ['verified, and somebody else’s', { result: 'pass', aligned: false }, false],
  ['the author’s, and broken', { result: 'fail', aligned: true }, false],
] as const)('mail is signed by a signature that is %s: %s', ([, found, isSigned]) => {
  const finding = { domain: 'shop.example', selector: 's', why: '', ...found }
  const authentication = { dkim: [finding] } as unknown as Authentication
  expect(pastReport(spam, { hops: [], authentication }).isSigned).toBe(isSigned)
})

test('of a report only the lines down to the hand-over and the next peer count', () => {
  const at = new Date(start)
  const from = (ip: string, rdns: string) => ({ helo: 'me', rdns, ip, port: null })
  const past = pastReport(
    { at, kind: 'spam', author: 'a@Mail.Shop.Example' },
    plain(
      hop(0, {
        from: from('10.0.0.1', 'mx'),
        by: { host: 'box.example', ip: null },
        trust: 'trusted',
      }),
      hop(1, {
        from: from('192.0.2.10', 'IN.provider.example'),
        by: { host: 'MX.home.example', ip: null },
        trust: 'injection',
      }),
      hop(2, { from: from('198.51.100.7', 'x'), by: { host: 'in.Provider.example', ip: null } }),
      hop(3, { from: from('203.0.113.7', 'y'), by: { host: 'x', ip: null } }),
    ),
  )
  expect(past).toEqual({
    at,
    kind: 'spam',
    authorDomain: 'shop.example',
    isSigned: false,
    entryIp: '192.0.2.10',
    crossings: [
      {
        receiver: 'mx.home.example',
        ip: '192.0.2.10',
        rdns: 'in.provider.example',
        isLinked: true,
        peerBelow: '198.51.100.7',
      },
    ],
  })
})
