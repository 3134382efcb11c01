import { expect, test } from 'vitest'
import { findAccount } from '../../../../src/db/reporters.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { signedInBrowser } from '../browser.ts'
import { startWebSite, type Person } from '../web-site.ts'

const site = await closeAfterTests(startWebSite())

test.for([
  ['without the password', { how: 'keep', now: 'wrong' }, 'The password or the code is not right'],
  ['without a choice', {}, 'Choose one of the two'],
] as const)('%s nothing is erased', async ([, fields, says]) => {
  const dan = await once()
  const browser = await signedInBrowser(site.url, dan)
  const answer = await browser.post('/account/erase', { now: dan.password, ...fields })
  expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining(says)])
  expect((await findAccount(site.app.pool, dan.id))?.state).toBe('active')
})

let known: Promise<Person> | undefined
const once = () => (known ??= site.addPerson('dan@mailhouse.example'))

test('the last administrator cannot be erased; one of two can', async () => {
  const boss = await site.addPerson('boss@mailhouse.example', { role: 'administrator' })
  const browser = await signedInBrowser(site.url, boss)
  const erase = () => browser.post('/account/erase', { how: 'keep', now: boss.password })
  expect(await (await erase()).text()).toContain('last administrator')
  await site.addPerson('second@mailhouse.example', { role: 'administrator' })
  expect((await erase()).status).toBe(303)
})
