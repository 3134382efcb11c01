import { expect, test } from 'vitest'
import type { Origin } from '../../../src/origin/origin.ts'
import type { TracedHop } from '../../../src/origin/trace.ts'
import { phrase, type PhraseCode } from '../../../src/phrase.ts'
import { drawWalk, ownReasons, percentOf, surenessOf } from '../../../src/verdict/walk-picture.ts'

type Sketch = {
  from?: Partial<TracedHop['from']>
  by?: Partial<TracedHop['by']>
  trust: TracedHop['trust']
  notes?: PhraseCode[]
}

function hops(sketches: readonly Sketch[]): TracedHop[] {
  return sketches.map(({ from, by, trust, notes = [] }, index) => ({
    index,
    from: { helo: null, rdns: null, ip: null, port: null, ...from },
    by: { host: null, ip: null, ...by },
    with: null,
    id: null,
    for: null,
    at: null,
    auth: null,
    trust,
    because: null,
    notes: notes.map((code) => ({ code })),
  }))
}

function draw(sketches: readonly Sketch[], submitterIp?: string) {
  const lines = hops(sketches)
  const hop = lines.findIndex(({ trust }) => trust === 'injection')
  const ip = lines[hop]?.from.ip ?? ''
  const origin: Origin | null = hop < 0 ? null : { ip, hop, confidence: 0.9, why: [] }
  const submitter =
    submitterIp === undefined
      ? null
      : {
          ip: submitterIp,
          how: phrase('submitter-in-seal', { provider: 'Shop', ip: submitterIp }),
          confidence: 0.9,
        }
  return drawWalk({ hops: lines, origin, submitter })
}

/** Returns each station as a short text: its role, its name and address, its notes. */
function told({ stations }: ReturnType<typeof draw>) {
  return stations.map(({ role, name, ip, isUnlinked, aliases, notes }) =>
    [
      isUnlinked ? '/' : '',
      role,
      name ?? '',
      ip ?? '',
      ...aliases.map((alias) => `=${alias}`),
      ...notes.map((note) => `!${note.code}`),
    ]
      .filter(Boolean)
      .join(' '),
  )
}

const inner: Sketch = {
  from: { helo: 'mx.home.example', ip: '10.0.0.1' },
  by: { host: 'box.home.example' },
  trust: 'trusted',
}
const entry: Sketch = {
  from: { helo: 'me', rdns: 'out.shop.example', ip: '198.51.100.7' },
  by: { host: 'mx.home.example' },
  trust: 'injection',
}
const claim: Sketch = {
  from: { helo: 'desk', ip: '203.0.113.5' },
  by: { host: 'out.shop.example' },
  trust: 'claimed',
}

test('each machine is below the one that saw it, from the mailbox outward', () => {
  const picture = draw([inner, entry, claim])
  expect(told(picture)).toEqual([
    'mailbox',
    'ours box.home.example',
    'ours mx.home.example 10.0.0.1',
    'origin out.shop.example 198.51.100.7 =me',
    'claimed desk 203.0.113.5',
  ])
  expect(picture.stations.map(({ line }) => line)).toEqual([null, null, 0, 1, 2])
})

test('the host that saw the origin is the provider’s, even if it is the first', () => {
  expect(told(draw([entry]))).toEqual([
    'mailbox',
    'ours mx.home.example',
    'origin out.shop.example 198.51.100.7 =me',
  ])
})

test('the border is below the origin, before the first line that may be forged', () => {
  expect(draw([inner, entry, claim]).border).toBe(4)
  expect(draw([inner, entry]).border).toBeNull()
})

test('a line of a known provider below the origin is above the border', () => {
  const believed: Sketch = { ...claim, trust: 'believed' }
  const below: Sketch = { ...claim, by: { host: 'desk' } }
  expect(draw([entry, believed, below]).border).toBe(4)
})

test('a machine that writes under another name is the same machine, with both names', () => {
  const picture = draw([entry, { ...claim, by: { host: 'smtp7.shop.example' } }])
  expect(told(picture)[2]).toBe('origin out.shop.example 198.51.100.7 =me =smtp7.shop.example')
  expect(picture.stations).toHaveLength(4)
})

test.for([
  ['where a message came from', 'injection'],
  ['where the walk stopped', 'trusted'],
] as const)('untrusted text does not set the name of the machine %s', ([, trust]) => {
  const greeted: Sketch = {
    from: { helo: 'mx.bank.example', ip: '198.51.100.7' },
    by: { host: 'mx.home.example' },
    trust,
  }
  const picture = draw([greeted, { ...claim, by: { host: 'mx2.bank.example' } }])
  expect(picture.stations[2]).toMatchObject({
    name: null,
    ip: '198.51.100.7',
    aliases: ['mx.bank.example', 'mx2.bank.example'],
  })
})

test('the writer of an inconsistent line is separate, with no link to it', () => {
  const strange: Sketch = {
    from: { helo: 'nobody', ip: '203.0.113.9' },
    by: { host: 'mail.bank.example' },
    trust: 'forged',
    notes: ['broken-chain', 'below-invented'],
  }
  const picture = draw([entry, strange])
  expect(told(picture).slice(2)).toEqual([
    'origin out.shop.example 198.51.100.7 =me',
    '/ forged mail.bank.example !broken-chain',
    'forged nobody 203.0.113.9 !below-invented',
  ])
  expect(picture.border).toBe(3)
})

test('if no origin was found, the last peer is the undecided machine', () => {
  const stopped: Sketch = { ...entry, trust: 'trusted' }
  const picture = draw([inner, stopped, claim])
  expect(picture.stations.map(({ role }) => role)).toEqual([
    ...['mailbox', 'ours', 'ours', 'unclear', 'claimed'],
  ])
  expect(picture.border).toBe(4)
})

test('a hand-over without a peer is named by the writer of the line below', () => {
  const nameless: Sketch = { by: { ip: '2001:db8::1' }, trust: 'trusted' }
  expect(told(draw([nameless, entry]))).toEqual([
    'mailbox',
    'ours 2001:db8::1',
    'ours mx.home.example',
    'origin out.shop.example 198.51.100.7 =me',
  ])
})

test('an address in brackets is not a second name of that address', () => {
  const literal: Sketch = {
    from: { helo: '[IPv6:2001:db8::7]', ip: '2001:db8::7' },
    by: { host: 'mx.home.example' },
    trust: 'injection',
  }
  expect(told(draw([literal])).at(-1)).toBe('origin 2001:db8::7')
})

test('the station of the stamped client is marked once', () => {
  const picture = draw([entry, claim, { ...claim, by: { host: 'desk' } }], '203.0.113.5')
  expect(picture.stations.map(({ isSubmitter }) => isSubmitter)).toEqual([
    ...[false, false, false, true, false],
  ])
})

test('a message without lines has only a mailbox', () => {
  expect(draw([])).toMatchObject({ stations: [{ role: 'mailbox' }], border: null })
})

test('a reason shown at its line is not repeated at the origin', () => {
  const [passed, ...rest] = hops([inner, entry])
  const because = phrase('address-internal', { ip: '10.0.0.1' })
  const [first, last] = [phrase('received-by-unknown'), phrase('trace-misplaced')]
  // The reasons are read from a row, so they are equal to the phrases but not the same objects.
  const why = [first, structuredClone(because), last]
  const origin: Origin = { ip: '198.51.100.7', hop: 1, confidence: 0.9, why }
  const lines = passed ? [{ ...passed, because }, ...rest] : rest
  expect(ownReasons({ hops: lines, origin })).toEqual([first, last])
  expect(ownReasons({ hops: lines, origin: null })).toEqual([])
})

test.for([
  [1, 'very'],
  [0.9, 'very'],
  [0.899, 'fairly'],
  [0.7, 'fairly'],
  [0.699, 'not'],
  [0, 'not'],
] as const)('a confidence of %d is "%s sure"', ([confidence, word]) => {
  expect(surenessOf(confidence)).toBe(word)
})

test.for([
  [0, 0],
  [0.765, 77],
  [0.999, 99],
  [1, 100],
])('a confidence of %d is shown as %d %%', ([confidence, percent]) => {
  expect(percentOf(confidence ?? 0)).toBe(percent)
})
