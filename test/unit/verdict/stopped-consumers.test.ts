import { expect, test } from 'vitest'
import { sayPhrases } from '../../../src/texts/phrases.ts'
import { healthyRecord, mayNotify } from '../../../src/verdict/contact-health.ts'

const consumer = { ...healthyRecord, pausedUntil: null, enrolledAt: null, takes: null }
const now = new Date('2026-11-22T12:00:00Z')

// Both the consumer itself and an administrator can stop or pause reports.
test.for(['stopped', 'paused'] as const)('the text for %s reports names no requester', (state) => {
  const told = mayNotify({ ...consumer, state }, undefined, now)
  const why = 'why' in told ? told.why : null
  expect(why?.code).toBe(`recipient-${state}`)
  for (const language of ['en', 'fr', 'ru'] as const) {
    expect(sayPhrases(why, language, 'reporter').text).not.toMatch(/asked|demandé|попросил|взял/)
  }
})
