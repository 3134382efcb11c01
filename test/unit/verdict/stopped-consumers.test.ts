import { expect, test } from 'vitest'
import { healthyRecord, mayNotify } from '../../../src/verdict/contact-health.ts'
import { phraseBook } from '../../../src/texts/phrase-book.ts'

const consumer = { ...healthyRecord, pausedUntil: null, enrolledAt: null, takes: null }
const now = new Date('2026-11-22T12:00:00Z')

// Reports are stopped and paused by the consumer itself or by an administrator.
test.for(['stopped', 'paused'] as const)('stopping %s reports is no one’s request', (state) => {
  const told = mayNotify({ ...consumer, state }, undefined, now)
  const why = 'why' in told ? told.why : ''
  expect(why).not.toMatch(/asked/)
  for (const language of ['fr', 'ru']) {
    const said = phraseBook(language)(why)
    expect(said.lang).toBeUndefined()
    expect(said.text).not.toMatch(/demandé|попросил|взял/)
  }
})
