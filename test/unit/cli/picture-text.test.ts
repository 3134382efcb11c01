import { expect, test } from 'vitest'
import type { TracedHop } from '../../../src/origin/trace.ts'
import { phrase } from '../../../src/phrase.ts'
import { pictureText } from '../../../src/cli/picture-text.ts'

const hop: TracedHop = {
  index: 0,
  from: { helo: 'desk', rdns: 'out.shop.example', ip: '198.51.100.7', port: null },
  by: { host: 'mx.home.example', ip: null },
  with: null,
  id: null,
  for: null,
  at: '2026-11-16T10:00:00.000Z',
  auth: null,
  trust: 'injection',
  notes: [phrase('broken-chain')],
  because: phrase('relay-of-provider', { ip: '198.51.100.7', provider: 'Home' }),
}
const origin = { ip: '198.51.100.7', hop: 0, confidence: 0.75, why: [phrase('trace-misplaced')] }

test('the origin is shown with its network, confidence, reason and submitter', () => {
  const text = pictureText({
    hops: [hop],
    origin,
    originObstacle: null,
    submitter: {
      ip: '203.0.113.9',
      how: phrase('submitter-in-seal', { provider: 'Home', ip: '203.0.113.9' }),
      confidence: 0.9,
    },
    network: 'Example Hosting',
  })
  expect(text.split('\n').map((line) => line.trim())).toEqual([
    '■ The mailbox',
    '│  ▼ received it from',
    "● mx.home.example  · a machine of the reporter's provider",
    '│  ▼ received it directly from (2026-11-16 10:00 UTC, line 1)',
    '◆ out.shop.example [198.51.100.7]  · THE ORIGIN',
    'calls itself desk',
    'network: Example Hosting',
    'fairly sure (75 %), because',
    '· The Received lines are below the fields of the author. Mail servers add them above, so',
    'they may be forged.',
    'client behind it, according to its provider: 203.0.113.9. A seal (ARC) of Home names',
    '203.0.113.9 as the client.',
    '! The machine that wrote it is not the one that the line above names.',
  ])
})

test('a line that was skipped has its reason, if the reason is known', () => {
  const passed = { ...hop, trust: 'trusted' as const }
  const text = pictureText({
    hops: [passed, { ...hop, index: 1 }],
    origin: { ...origin, hop: 1 },
    originObstacle: null,
    submitter: null,
  })
  expect(text.match(/198\.51\.100\.7 is a machine of Home\./g)).toHaveLength(1)
})

test('an uncertain result is never shown as 100 %', () => {
  const found = { hops: [hop], originObstacle: null, submitter: null }
  const percent = (confidence: number) =>
    /\((\d+) %\)/.exec(pictureText({ ...found, origin: { ...origin, confidence } }))?.[1]
  expect([percent(1), percent(0.999)]).toEqual(['100', '99'])
})

test('colors come from the caller', () => {
  const styles: unknown[] = []
  pictureText({ hops: [hop], origin, originObstacle: null, submitter: null }, (style, text) => {
    styles.push(style)
    return text
  })
  expect(styles).toContainEqual(['bold', 'yellow'])
})
