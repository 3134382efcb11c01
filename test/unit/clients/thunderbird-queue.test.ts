import { expect, test } from 'vitest'
import {
  type Answer,
  createQueue,
  type Kind,
  type Store,
} from '../../../clients/thunderbird/queue.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const spam = (mark: string, kind: Kind = 'spam', comment = '') => {
  return { raw: bytes(`Subject: ${mark}\r\n\r\n`), kind, comment, subject: mark }
}
const accepted: Answer = { is: 'accepted', id: 'the id', lacksWayIn: false }

function makeStore(): Store & { rows: Map<string, unknown> } {
  const rows = new Map<string, unknown>()
  return {
    rows,
    get: async (key) => structuredClone(rows.get(key)),
    set: async (items) => {
      for (const [key, value] of Object.entries(items)) rows.set(key, structuredClone(value))
    },
    remove: async (key) => void rows.delete(key),
  }
}

/** A queue whose service gives the answers in order, and then accepts everything. */
function makeQueue({ store = makeStore(), answers = [] as Answer[] } = {}) {
  const posted: { subject: string; kind: Kind; key: string; text: string }[] = []
  const clock = { now: 1_000_000 }
  let keys = 0
  const queue = createQueue({
    store,
    now: () => clock.now,
    createKey: () => `key ${++keys}`,
    async post({ subject, kind, key, raw }) {
      posted.push({ subject, kind, key, text: new TextDecoder().decode(raw) })
      return answers.shift() ?? accepted
    },
  })
  return { queue, posted, clock, store }
}

test('a report is sent once, and its message is no longer stored', async () => {
  const { queue, posted, store } = makeQueue()
  expect(await queue.add(spam('a'))).toBe('new')
  expect((await queue.send()).sent).toMatchObject([{ subject: 'a', id: 'the id' }])
  expect((await queue.send()).sent).toEqual([])
  expect(posted).toMatchObject([{ text: 'Subject: a\r\n\r\n' }])
  expect([...store.rows.keys()].sort()).toEqual(['sent', 'waiting'])
})

test('the last answer tells whether the service knows the mail servers', async () => {
  const unknown: Answer = { is: 'accepted', id: 'the id', lacksWayIn: true }
  const { queue } = makeQueue({ answers: [accepted, unknown] })
  await queue.add(spam('a'))
  expect((await queue.send()).lacksWayIn).toBe(false)
  await queue.add(spam('b'))
  expect((await queue.send()).lacksWayIn).toBe(true)
})

test('the same message is not reported twice, whether it waits or was accepted', async () => {
  const { queue, posted } = makeQueue()
  const both = await Promise.all([queue.add(spam('a')), queue.add(spam('a'))])
  expect(both.toSorted()).toEqual(['new', 'waiting'])
  await Promise.all([queue.send(), queue.send()])
  expect(await queue.add(spam('a'))).toMatchObject({ sent: { id: 'the id' } })
  expect(posted).toHaveLength(1)
})

test('another kind replaces a waiting report, and changes an accepted one', async () => {
  const { queue, posted } = makeQueue()
  await queue.add(spam('a'))
  expect(await queue.add(spam('a', 'phishing'))).toBe('new')
  await queue.send()
  expect(await queue.add(spam('a', 'not-spam'))).toBe('new')
  await queue.send()
  expect(posted.map(({ kind }) => kind)).toEqual(['phishing', 'not-spam'])
  expect(new Set(posted.map(({ key }) => key)).size).toBe(2)
})

test('a comment on a reported message is sent', async () => {
  const { queue, posted } = makeQueue()
  await queue.add(spam('a'))
  await queue.send()
  await queue.add(spam('a', 'spam', 'they also called'))
  await queue.send()
  expect(posted).toHaveLength(2)
})

test('reports survive an exit, and are sent with the same key', async () => {
  const before = makeQueue({ answers: [{ is: 'away' }] })
  await before.queue.add(spam('a'))
  expect((await before.queue.send()).stopped).toBe('away')
  const after = makeQueue({ store: before.store })
  expect((await after.queue.send(true)).sent).toHaveLength(1)
  expect(after.posted[0]).toEqual(before.posted[0])
})

test('an unavailable service is asked again after 1 minute, then 2, up to 60', async () => {
  const away: Answer = { is: 'away' }
  const { queue, posted, clock } = makeQueue({ answers: Array.from({ length: 9 }, () => away) })
  await queue.add(spam('a'))
  await queue.add(spam('b'))
  const waits: number[] = []
  for (let tries = 0; tries < 9; tries++) {
    await queue.send()
    const { dueAt = 0 } = await queue.list()
    waits.push((dueAt - clock.now) / 60_000)
    clock.now = dueAt - 1
    expect((await queue.send()).stopped).toBeUndefined()
    clock.now = dueAt
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
  expect(posted.map(({ subject }) => subject).join('')).toBe('aaaaaaaaa')
  expect((await queue.send()).sent).toHaveLength(2)
})

test('the service may ask for a longer pause', async () => {
  const { queue, clock } = makeQueue({ answers: [{ is: 'away', afterMs: 600_000 }] })
  await queue.add(spam('a'))
  await queue.send()
  expect((await queue.list()).dueAt).toBe(clock.now + 600_000)
})

test('a refused message is removed, and the others are sent', async () => {
  const { queue } = makeQueue({ answers: [{ is: 'refused', why: 'no header' }] })
  await queue.add(spam('a'))
  await queue.add(spam('b'))
  expect(await queue.send()).toMatchObject({ sent: [{ subject: 'b' }], refused: ['no header'] })
  expect(await queue.list()).toMatchObject({ waiting: 0, dueAt: undefined })
})

test('reports wait while the token is not valid', async () => {
  const { queue } = makeQueue({ answers: [{ is: 'signed-out' }] })
  await queue.add(spam('a'))
  expect((await queue.send()).stopped).toBe('signed-out')
  expect((await queue.send(true)).sent).toHaveLength(1)
})

test('the queue does not grow without bound', async () => {
  const { queue, store } = makeQueue()
  const others = Array.from({ length: 1_000 }, (_, at) => ({ key: `${at}`, hash: '', bytes: 1 }))
  await store.set({ waiting: others })
  expect(await queue.add(spam('one more'))).toBe('full')
  await store.set({ waiting: [{ key: '1', hash: '', bytes: 300_000_000 }] })
  expect(await queue.add(spam('one more'))).toBe('full')
  expect((await queue.list()).waiting).toBe(1)
})
