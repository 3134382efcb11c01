import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkEveryDamage, expectFullAnalysis } from '../support/damaged-checks.ts'
import { damagedMail } from '../support/damaged-parts.ts'
import { baseMessages, surviveAnalysis } from '../support/nasty-mail.ts'

test('no damaged field of the sample hides a text that a mail program shows', async () => {
  expect(await checkEveryDamage(() => true)).toEqual([])
})

const numRuns = 10_000

test(`${numRuns} messages with damaged fields in their parts are analyzed completely`, async () => {
  const survive = async (raw: Buffer) => {
    await surviveAnalysis(raw)
    await expectFullAnalysis(raw)
  }
  await fc.assert(fc.asyncProperty(damagedMail(baseMessages()), survive), { numRuns })
})
