import { expect, test } from 'vitest'
import type { TracedHop } from '../../../src/analysis/whence/trace.ts'
import { networkSet } from '../../../src/mail/ip.ts'
import { openCandidates, readAnswer, relayCandidates } from '../../../src/verdict/relay-question.ts'

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
  ['about nothing, when no line gives an address', asked([null, 'trusted']), []],
  ['about nothing, when there are no lines', asked(), []],
] as const)('the reporter is asked %s', ([, given, expected]) => {
  expect(given).toEqual(expected)
})

const three = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((ip, index) => ({
  ip,
  name: null,
  line: index,
  isSeen: index === 0,
}))

test.for([
  ['nobody has spoken of them', [], [], ['192.0.2.1', '192.0.2.2', '192.0.2.3']],
  ['the first is known to be theirs', ['192.0.2.1'], [], ['192.0.2.2', '192.0.2.3']],
  ['the second is not theirs: a stranger wrote what follows', [], ['192.0.2.2'], ['192.0.2.1']],
  ['the first is not theirs', [], ['192.0.2.0/31'], []],
  ['a block holds them all', ['192.0.2.0/24'], [], []],
] as const)('what is left to ask when %s', ([, mine, notMine, expected]) => {
  const said = { mine: networkSet(mine), notMine: networkSet(notMine) }
  expect(openCandidates(three, said).map(({ ip }) => ip)).toEqual(expected)
})

test('an answer parts the machines into theirs and not theirs', () => {
  const answer = readAnswer(three, ['192.0.2.2', '192.0.2.1', '203.0.113.99'])
  expect(answer).toEqual({ mine: three.slice(0, 2), notMine: three.slice(2) })
  expect(readAnswer(three, [])).toEqual({ mine: [], notMine: three })
})

test('a machine behind a stranger’s cannot be theirs: the stranger wrote that line', () => {
  const [first, , third] = three
  expect(readAnswer(three, ['192.0.2.3'])).toEqual({ gap: { picked: third, between: first } })
})
