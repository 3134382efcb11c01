import { expect, test } from 'vitest'
import { phrase } from '../../../src/phrase.ts'
import { findUnsubscribe, insertUnsubscribe } from '../../../src/db/advices.ts'
import {
  endStuckUnsubscribes,
  runUnsubscribe,
} from '../../../src/marketers/unsubscribe-reporter.ts'
import type { OneClickOutcome } from '../../../src/mail/list-unsubscribe.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openNewsletters } from './newsletters.ts'

let made = 0

const letters = await closeAfterTests(openNewsletters())

const yes: OneClickOutcome = {
  state: 'done',
  outcome: phrase('unsubscribe-accepted', { host: 'news.example.org', status: 200 }),
}

/** Creates a report whose reporter has requested to unsubscribe. */
async function clicked(): Promise<string> {
  const reportId = await letters.report({ mark: `click-${++made}` })
  await insertUnsubscribe(letters.app.pool, {
    reportId,
    reporterId: letters.app.ann,
    host: 'news.example.org',
    askedAt: new Date(),
  })
  return reportId
}

/** Returns a sender that answers with the outcome and records the request. */
function sender(outcome: OneClickOutcome = yes) {
  const urls: string[] = []
  return {
    urls,
    postOneClick: (url: string) => {
      urls.push(url)
      return Promise.resolve(outcome)
    },
  }
}

function run(
  reportId: string,
  tools: Pick<ReturnType<typeof sender>, 'postOneClick'>,
  clock = letters.app.clock,
) {
  return runUnsubscribe([{ reportId }], { ...letters.app, clock, ...tools })
}

const stateOf = async (id: string) => (await findUnsubscribe(letters.app.pool, id))?.state

test('a request is sent once, and its result is in the timeline', async () => {
  const id = await clicked()
  const tools = sender()
  expect(await run(id, tools)).toEqual(['done'])
  expect(await run(id, tools)).toEqual(['done'])
  expect(tools.urls).toEqual(['https://news.example.org/off?who=42'])
  expect(await stateOf(id)).toBe('done')
  const events = await letters.app.rows(
    `select phrases from report_events where report_id = $1 and event = 'unsubscribed'`,
    [id],
  )
  expect(events).toEqual([{ phrases: [yes.outcome] }])
})

test('twenty concurrent runs send one request', async () => {
  const id = await clicked()
  const tools = sender()
  await Promise.all(Array.from({ length: 20 }, () => run(id, tools)))
  expect(tools.urls).toHaveLength(1)
})

test('a process that crashes after it began sends nothing a second time', async () => {
  const id = await clicked()
  // The request never returns, so the stored state is that of a killed process.
  let left: () => void = () => undefined
  const hasLeft = new Promise<void>((resolve) => (left = resolve))
  void run(id, {
    postOneClick: () => {
      left()
      return new Promise(() => undefined)
    },
  })
  await hasLeft
  expect(await stateOf(id)).toBe('under-way')
  const tools = sender()
  expect(await run(id, tools)).toEqual([{ retry: 'It is under way.' }])
  const later = () => new Date(Date.now() + 10 * 60_000)
  expect(await run(id, tools, later)).toEqual(['done'])
  expect(await run(id, tools, later)).toEqual(['done'])
  expect(tools.urls).toEqual([])
  expect(await stateOf(id)).toBe('unknown')
})

test('a late result replaces the result "unknown"', async () => {
  const id = await clicked()
  let answer: (outcome: OneClickOutcome) => void = () => undefined
  let left: () => void = () => undefined
  const hasLeft = new Promise<void>((resolve) => (left = resolve))
  const slow = run(id, {
    postOneClick: () => {
      left()
      return new Promise((resolve) => (answer = resolve))
    },
  })
  await hasLeft
  await run(id, sender(), () => new Date(Date.now() + 10 * 60_000))
  expect(await stateOf(id)).toBe('unknown')
  answer(yes)
  await slow
  expect(await stateOf(id)).toBe('done')
})

test('a request whose job was lost ends as unknown, because it may have been sent', async () => {
  const [old, fresh] = [await clicked(), await clicked()]
  await letters.app.pool.query(
    `update unsubscribe_requests set asked_at = (asked_at at time zone 'UTC' - interval '2 days') at time zone 'UTC' where report_id = $1`,
    [old],
  )
  await endStuckUnsubscribes(letters.app)
  expect([await stateOf(old), await stateOf(fresh)]).toEqual(['unknown', 'queued'])
})
