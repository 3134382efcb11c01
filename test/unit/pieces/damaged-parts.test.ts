import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkEveryDamage, expectFullAnalysis, textsFound } from '../../support/damaged-checks.ts'
import { damagedMail, fullSample } from '../../support/damaged-parts.ts'
import { baseMessages } from '../../support/nasty-mail.ts'

test('the sample shows its texts', async () => {
  expect(await textsFound(Buffer.from(fullSample, 'latin1'))).toEqual(['plain', 'page'])
})

// `npm run test:long` tries all.
test('a damaged field hides no text that a mail program shows', { timeout: 60_000 }, async () => {
  expect(await checkEveryDamage((number) => number % 20 === 0)).toEqual([])
})

test('mail with damaged fields in its parts is analyzed completely', async () => {
  const numRuns = 200
  await fc.assert(fc.asyncProperty(damagedMail(baseMessages()), expectFullAnalysis), { numRuns })
})
