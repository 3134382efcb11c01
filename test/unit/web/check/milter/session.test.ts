import { expect, test } from 'vitest'
import { formatPacket, MilterError } from '../../../../../src/web/check/milter/packets.ts'
import {
  createMilterSession,
  type MilterTools,
} from '../../../../../src/web/check/milter/session.ts'
import type { CheckAnswer, Fields } from '../../../../../src/web/check/protocol.ts'
import { chanceFrom } from '../../../../support/chance.ts'
import {
  connectPacket,
  macros,
  POSTFIX_OFFER,
  rawPacket,
} from '../../../../support/milter-client.ts'

const scores = { score: 0, required_score: 15, symbols: {}, messages: {}, time_real: 0 }
const milter = { remove_headers: {} }
const unread: CheckAnswer = { ...scores, milter, is_skipped: true, action: 'no action' }
const wanted: CheckAnswer = { ...unread, is_skipped: false }
const spam: CheckAnswer = { ...wanted, action: 'add header' }
const worst: CheckAnswer = { ...wanted, action: 'reject' }

/** A session whose first filter and check answer as given, and what it asked and counted. */
function openSession(
  answers: { first?: CheckAnswer; last?: CheckAnswer } = {},
  more: Partial<MilterTools> = {},
) {
  const asked: { given: string; fields: Fields }[] = []
  const prepared: Fields[] = []
  const counted: string[] = []
  let held = 0
  const session = createMilterSession({
    ask(given, fields) {
      asked.push({ given: given.toString('latin1'), fields })
      const { first = unread, last = wanted } = answers
      return Promise.resolve(given === 'envelope' ? first : last)
    },
    prepare: async (fields) => void prepared.push(fields),
    policy: { firstFilter: 'mark', reject: 'reject' },
    bytesMax: 10_000,
    hold: (bytes) => Boolean((held += bytes)) || true,
    done: (stage, outcome) => void counted.push(`${stage} ${outcome}`),
    ...more,
  })
  /** Takes packets and returns the replies as text. */
  const take = async (...packets: readonly Buffer[]) => {
    const replies: string[] = []
    for (const packet of packets) {
      const command = packet.toString('latin1', 4, 5)
      const reply = await session.take({ command, data: packet.subarray(5) })
      replies.push(reply === undefined ? 'end' : reply.toString('latin1'))
    }
    return replies.join('')
  }
  return { session, take, asked, prepared, counted, held: () => held }
}

const text = (...packets: readonly Buffer[]) => Buffer.concat(packets).toString('latin1')
const client = [
  macros('C', '{daemon_port}', '25', '_', 'mx.a [192.0.2.1]'),
  connectPacket('mx.a', '192.0.2.1'),
  formatPacket('H', 'helo.a'),
]
const from = formatPacket('M', '<a@a.example>')
const to = formatPacket('R', '<you@home.example>')
const subject = formatPacket('L', 'Subject', ' hello')
const body = rawPacket('B', Buffer.from('You know.\r\n'))
const end = formatPacket('E')
const [go, skip] = [formatPacket('c'), formatPacket('s')]

test('a message is asked about with its bytes and all that the mail server knows', async () => {
  const { take, asked, counted, held } = openSession()
  await take(POSTFIX_OFFER, ...client)
  expect(await take(macros('M', '{auth_authen}', 'ann'), from, to)).toBe(text(go))
  expect(await take(macros('L', 'i', '4ABC'), subject, body, end)).toBe(text(go, go))
  const fields = {
    ip: ['192.0.2.1'],
    hostname: ['mx.a'],
    helo: ['helo.a'],
    from: ['<a@a.example>'],
    user: ['ann'],
  }
  expect(asked).toEqual([
    { given: 'envelope', fields: { ...fields, rcpt: [] } },
    {
      given: 'Subject: hello\r\n\r\nYou know.\r\n',
      fields: { ...fields, rcpt: ['<you@home.example>'], 'queue-id': ['4ABC'] },
    },
  ])
  expect(counted).toEqual(['message pass'])
  expect(held()).toBe(0)
})

test('each event has its reply with the protocol of version 2', async () => {
  const { take } = openSession({ last: spam })
  await take(formatPacket('O', 2, 0x3f, 0x7f))
  expect(await take(...client)).toBe(text(go, go))
  const plain = formatPacket('L', 'Subject', 'hello')
  expect(await take(from, to, plain, body)).toBe(text(go, go, go, go))
  expect(await take(end)).toBe(text(formatPacket('h', 'X-Spam', 'Yes'), go))
})

test.for([
  ['port 25, at once', '25', undefined, 2],
  ['another port, at MAIL', '587', undefined, 1],
  ['another port, if it signed in, never', '587', 'ann', 0],
] as const)('the client is looked up on %s', async ([, port, user, times]) => {
  const { take, prepared } = openSession()
  await take(POSTFIX_OFFER, macros('C', '{daemon_port}', port), connectPacket('mx.a', '192.0.2.1'))
  // A lookup that is still going on is not repeated.
  await Promise.resolve()
  await take(...(user ? [macros('M', '{auth_authen}', user)] : []), from)
  expect(prepared).toHaveLength(times)
})

test('mail that the envelope settles is marked without its body', async () => {
  const { take, asked, counted } = openSession({ first: spam })
  await take(POSTFIX_OFFER, ...client, from)
  expect(await take(to, to, subject, body)).toBe(text(go, go, skip))
  expect(await take(end)).toBe(text(formatPacket('h', 'X-Spam', ' Yes'), go))
  expect(asked).toHaveLength(1)
  expect(counted).toEqual(['envelope mark'])
})

test('the recipients of such mail are refused if configured, except those of desks', async () => {
  const policy = { firstFilter: 'reject', reject: 'reject' } as const
  const { take, counted } = openSession({ first: spam }, { policy })
  await take(POSTFIX_OFFER, ...client, from)
  expect(await take(to)).toMatch(/^.{4}y550 5\.7\.1 /s)
  expect(await take(to)).toMatch(/^.{4}y550 5\.7\.1 /s)
  expect(await take(formatPacket('R', '<Abuse@home.example>'))).toBe(text(go))
  expect(counted).toEqual(['envelope reject'])
})

test('mail with the action reject is refused, or quarantined, never discarded', async () => {
  const refusing = openSession({ last: worst })
  await refusing.take(POSTFIX_OFFER, ...client, from, to, subject, body)
  expect(await refusing.take(end)).toMatch(/^.{4}y550 5\.7\.1 This message looks like spam\.\0$/s)
  const policy = { firstFilter: 'mark', reject: 'quarantine' } as const
  const { take, counted } = openSession({ last: worst }, { policy })
  await take(POSTFIX_OFFER, ...client, from, to, subject, body)
  const mark = formatPacket('h', 'X-Spam', ' Yes')
  expect(await take(end)).toBe(text(mark, formatPacket('q', 'This looks like spam.'), go))
  expect(counted).toEqual(['message quarantine'])
})

test('mail passes whose action is greylist', async () => {
  const { take } = openSession({ last: { ...wanted, action: 'greylist' } })
  await take(POSTFIX_OFFER, ...client, from, to, subject, body)
  expect(await take(end)).toBe(text(go))
})

test('forged marks are removed from the last to the first', async () => {
  const { take } = openSession()
  const forged = formatPacket('L', 'x-sPAM', ' No')
  await take(POSTFIX_OFFER, ...client, from, to, forged, subject, forged, body)
  const removed = [2, 1].map((nth) => formatPacket('m', nth, 'X-Spam', ''))
  expect(await take(end)).toBe(text(...removed, go))
})

test('a message above the limit is not kept', async () => {
  const { take, asked, held } = openSession()
  const large = rawPacket('B', Buffer.alloc(6_000))
  await take(POSTFIX_OFFER, ...client, from, to, subject)
  expect(await take(large, large, large)).toBe(text(go, skip, skip))
  expect(held()).toBe(0)
  await take(end)
  expect(asked.at(-1)?.given).toBe('too-big')
})

test('a message without room in memory passes', async () => {
  const { take, asked } = openSession({}, { hold: (bytes) => bytes <= 0 })
  await take(POSTFIX_OFFER, ...client, from, to, subject, body, end)
  expect(asked.at(-1)?.given).toBe('no-room')
})

test('the mail server may be silent between commands, but not within a message', async () => {
  const { session, take } = openSession()
  expect(session.isBusy()).toBe(true)
  await take(POSTFIX_OFFER, ...client, from, to)
  expect(session.isBusy()).toBe(false)
  await take(subject)
  expect(session.isBusy()).toBe(true)
  await take(body, end)
  expect(session.isBusy()).toBe(false)
})

test('a message that is given up, or whose connection ends, frees its memory', async () => {
  const { session, take, held } = openSession()
  await take(POSTFIX_OFFER, ...client, macros('M', '{auth_authen}', 'ann'), from, to, subject)
  expect(held()).toBeGreaterThan(0)
  await take(formatPacket('A'))
  expect(held()).toBe(0)
  await take(from, to, subject)
  session.close()
  expect(held()).toBe(0)
})

test('the user, the queue ID and the verdict do not pass on to the next message', async () => {
  const { take, asked } = openSession({ first: unread })
  await take(POSTFIX_OFFER, ...client, macros('M', '{auth_authen}', 'ann'), from, to)
  await take(macros('E', 'i', '4ABC'), formatPacket('A'), from, to, subject, body, end)
  expect(asked.at(-1)?.fields).not.toHaveProperty('user')
  expect(asked.at(-1)?.fields).not.toHaveProperty('queue-id')
  expect(asked.map(({ given }) => given).filter((one) => one === 'envelope')).toHaveLength(2)
})

test.for([
  ['mx.a (may be forged) [192.0.2.1]', 'mx.a'],
  ['[192.0.2.1]', '[192.0.2.1]'],
] as const)('a name that Sendmail did not confirm is left out: %s', async ([shown, name]) => {
  const { take, asked } = openSession()
  await take(POSTFIX_OFFER, macros('C', '_', shown), connectPacket(name, '192.0.2.1'), from, to)
  expect(asked[0]?.fields).not.toHaveProperty('hostname')
})

test.for([
  ['an unknown command', [POSTFIX_OFFER, formatPacket('?')]],
  ['a command before the negotiation', [from]],
  ['a recipient before the return path', [POSTFIX_OFFER, to]],
  ['a body before the return path', [POSTFIX_OFFER, body]],
] as const)('%s is refused', async ([, packets]) => {
  await expect(openSession().take(...packets)).rejects.toThrow(/command/)
})

test('after QUIT_NC another client follows, after QUIT nothing', async () => {
  const { take, asked } = openSession()
  await take(POSTFIX_OFFER, ...client, formatPacket('K'), from, to)
  expect(asked[0]?.fields).not.toHaveProperty('ip')
  expect(await take(formatPacket('Q'))).toBe('end')
})

test('random packets are answered or refused, and leave no memory behind', async () => {
  const chance = chanceFrom(1)
  const letters = 'ODCHMRTLNBEAUKZ'
  for (let round = 0; round < 500; round++) {
    const { session, take, held } = openSession({ last: worst })
    await take(POSTFIX_OFFER)
    for (let step = 0; step < 20; step++) {
      const command = letters[Math.floor(chance() * letters.length)] ?? 'Q'
      const data = Buffer.from(Array.from({ length: chance() * 20 }, () => chance() * 80))
      const refusal = await take(rawPacket(command, data)).catch((error: unknown) => error)
      if (typeof refusal !== 'string') expect(refusal).toBeInstanceOf(MilterError)
    }
    session.close()
    expect(held()).toBe(0)
  }
})
