import fc from 'fast-check'
import { test } from 'vitest'
import { baseMessages, nastyMail, surviveAnalysis } from '../support/nasty-mail.ts'

const numRuns = 10_000

test(`${numRuns} hostile messages are analyzed in time and without failing`, async () => {
  await fc.assert(fc.asyncProperty(nastyMail(baseMessages()), surviveAnalysis), { numRuns })
})
