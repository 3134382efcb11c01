import { expect, test } from 'vitest'
import type { TracedHop } from '../../../src/origin/trace.ts'
import { networkSet } from '../../../src/mail/ip.ts'
import { addressesAsked, openCandidates, relayCandidates } from '../../../src/verdict/relays.ts'

function line(index: number, ip: string | null, trust: TracedHop['trust']): TracedHop {
  return {
    index,
    from: { helo: `h${index}.example`, rdns: null, ip, port: null },
    by: { host: null, ip: null },
    with: null,
    id: null,
    for: null,
    at: null,
    auth: null,
    trust,
    because: null,
    notes: [],
  }
}

function asked(...lines: [ip: string | null, trust: TracedHop['trust']][]) {
  const hops = lines.map(([ip, trust], index) => line(index, ip, trust))
  return relayCandidates(hops).map(({ ip, isSeen }) => (isSeen ? ip : `(${ip})`))
}

test.for([
  [
    'from the hand-over on, in the order of the walk; only the first was seen by a friend',
    asked(['192.0.2.1', 'trusted'], ['192.0.2.2', 'injection'], ['192.0.2.3', 'claimed']),
    ['192.0.2.2', '(192.0.2.3)'],
  ],
  [
    'from where the walk stopped, when it found no origin',
    asked(['192.0.2.1', 'trusted'], ['192.0.2.2', 'trusted'], ['192.0.2.3', 'claimed']),
    ['192.0.2.2', '(192.0.2.3)'],
  ],
  [
    'never from a forged line on',
    asked(['192.0.2.2', 'injection'], ['192.0.2.3', 'forged'], ['192.0.2.4', 'claimed']),
    ['192.0.2.2'],
  ],
  [
    'not about addresses that are everybody’s, nor twice',
    asked(['192.0.2.2', 'injection'], ['10.0.0.1', 'claimed'], ['192.0.2.2', 'claimed']),
    ['192.0.2.2'],
  ],
  [
    'about six at most',
    asked(
      ...Array.from({ length: 9 }, (_, at): [string, 'claimed'] => [`192.0.2.${at}`, 'claimed']),
    ).length,
    6,
  ],
  [
    'also about an internal machine that the walk passed: a gateway may stand before it',
    asked(['10.0.0.1', 'trusted'], ['192.0.2.2', 'injection'], ['10.0.0.3', 'claimed']),
    ['10.0.0.1', '192.0.2.2'],
  ],
  [
    'also about the machine itself: a tunnel may stand before it',
    asked(['127.0.0.1', 'trusted'], ['::1', 'trusted'], ['192.0.2.2', 'injection']),
    ['127.0.0.1', '::1', '192.0.2.2'],
  ],
  [
    'not about an address of the cable',
    asked(['169.254.0.9', 'trusted'], ['192.0.2.2', 'injection']),
    ['192.0.2.2'],
  ],
  [
    'not about an internal machine with nothing behind it',
    asked(['192.0.2.1', 'trusted'], ['10.0.0.1', 'trusted']),
    [],
  ],
  ['about nothing, when no line gives an address', asked([null, 'trusted']), []],
  ['about nothing, when there are no lines', asked(), []],
] as const)('the reporter is asked %s', ([, given, expected]) => {
  expect(given).toEqual(expected)
})

function passed(fields: Partial<TracedHop>, by: Partial<TracedHop['by']> = {}) {
  const below = line(1, '192.0.2.2', 'injection')
  const hops = [
    { ...line(0, '10.0.0.1', 'trusted'), ...fields },
    { ...below, by: { ...below.by, ...by } },
  ]
  return relayCandidates(hops).map(({ ip, isInternal }) => (isInternal ? `${ip} inside` : ip))
}

const itself = { helo: 'me', rdns: 'in.home.example', ip: '127.0.0.1', port: null }

test('programs on one machine are not distinguished by its name', () => {
  const hops = passed({ from: itself }, { host: 'in.home.example' })
  expect(hops).toEqual(['127.0.0.1 inside', '192.0.2.2'])
})

const named = { helo: 'me', rdns: 'IN.home.example', ip: '10.0.0.1', port: null }

test.for([
  ['is asked about, when only its greeting tells who it is', passed({}, { host: 'h0.example' }), 2],
  ['is not, when it was looked up', passed({ from: named }, { host: 'in.home.example' }), 1],
  ['is asked about, when another wrote the next line', passed({ from: named }, { host: 'x' }), 2],
  ['is not, when it speaks LMTP', passed({ with: 'LMTP' }), 1],
  [
    'is not, when a provider we know saw it',
    passed({ by: { host: 'mx.google.com', ip: null } }),
    1,
  ],
] as const)('an internal machine %s', ([, candidates, count]) => {
  expect(candidates).toEqual(['10.0.0.1 inside', '192.0.2.2'].slice(-count))
})

test.for([
  ['looked up', 'injection', 'me', 'mx.a.example', { name: 'mx.a.example', callsItself: 'me' }],
  ['its greeting', 'injection', 'mx.b.example', null, { name: null, callsItself: 'mx.b.example' }],
  ['said twice', 'trusted', 'MX.a.example', 'mx.a.example', { callsItself: null }],
  [
    'in a stranger’s line',
    'claimed',
    'me',
    'mx.b.example',
    { name: null, callsItself: 'mx.b.example' },
  ],
] as const)('a name that is %s is marked as such', ([, trust, helo, rdns, expected]) => {
  const hop = { ...line(0, '192.0.2.1', trust), from: { helo, rdns, ip: '192.0.2.1', port: null } }
  expect(relayCandidates([hop])).toMatchObject([expected])
})

test('the reporter’s statement matters for each address down to the last uncertain one', () => {
  const hops = [
    line(0, '192.0.2.1', 'trusted'),
    line(1, '192.0.2.2', 'injection'),
    line(2, '192.0.2.3', 'claimed'),
    line(3, '192.0.2.4', 'forged'),
  ]
  expect(addressesAsked(hops)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3'])
  expect(addressesAsked([line(0, null, 'trusted')])).toEqual([])
})

const three = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((ip, index) => ({
  ip,
  name: null,
  callsItself: null,
  line: index,
  isSeen: index === 0,
  isInternal: false,
}))

test.for([
  ['nobody has spoken of them', [], [], ['192.0.2.1', '192.0.2.2', '192.0.2.3']],
  ['the first is known to be theirs', ['192.0.2.1'], [], ['192.0.2.2', '192.0.2.3']],
  ['the second is not theirs: a stranger wrote what follows', [], ['192.0.2.2'], ['192.0.2.1']],
  ['the first is not theirs', [], ['192.0.2.0/31'], []],
  ['a block holds them all', ['192.0.2.0/24'], [], []],
] as const)('the remaining question when %s', ([, mine, notMine, expected]) => {
  const said = { mine: networkSet(mine), notMine: networkSet(notMine) }
  expect(openCandidates(three, said).map(({ ip }) => ip)).toEqual(expected)
})
