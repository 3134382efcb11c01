import { expect, test } from 'vitest'
import { runAction } from '../../../src/actions.ts'
import { operations } from '../../../src/cli/pages.ts'
import { setContact, unsetContact } from '../../../src/feedback/contact-actions.ts'
import { readNotices } from '../../../src/feedback/show-notices.ts'
import { takeAnswer } from '../../../src/feedback/take-answer.ts'
import { runCommand } from '../../support/command.ts'
import { openNoticingApp } from '../../support/noticed-pages.ts'

const at = await openNoticingApp()
const { app } = at
const registrar = { role: 'registrar', name: 'Example Registrar' }

const set = (given: Record<string, string>) => runAction(setContact, given, app, null)
const unset = (given: Record<string, string>) => runAction(unsetContact, given, app, null)

/** Confirms a page, and notifies those who can stop it; returns its id and who got mail. */
async function notified(url: string) {
  const { pageId } = await at.confirmed([url])
  await at.notify(pageId)
  const mails = await at.send()
  return { pageId, to: mails.flatMap(({ to }) => to).toSorted() }
}

const ofRegistrar = async (pageId: string) =>
  (await readNotices(app.pool, pageId)).filter(({ role }) => role === 'registrar')

test('the contact that an operator set for a registrar gets the notice', async () => {
  const abuse = 'Phish@set.example, second@set.example'
  expect(await set({ ...registrar, name: 'EXAMPLE REGISTRAR', abuse })).toMatchObject({
    done: 'set',
  })
  const { pageId, to } = await notified('https://secure.page-override.com/')
  expect(to).toEqual(['abuse@host-net.example', 'phish@set.example'])
  expect(await ofRegistrar(pageId)).toMatchObject([
    { contact: 'phish@set.example', state: 'sent', isOverride: true },
    { contact: 'second@set.example', state: 'spare', isOverride: true },
  ])
  // It is a consumer like others: "not ours" asks the next contact of the override.
  const [row] = await app.rows(
    `select report_id as "reportId", number from page_notices where contact = 'phish@set.example'`,
  )
  const answer = { answer: 'not-ours', how: 'link', said: undefined } as const
  await takeAnswer(at.tools, row as { reportId: string; number: number }, answer)
  expect((await at.send()).flatMap((mail) => mail.to)).toEqual(['second@set.example'])
})

test('"none" mutes a registrar, and the entry of the page says so', async () => {
  await set({ ...registrar, abuse: 'none', note: 'Asked us by phone' })
  const { pageId, to } = await notified('https://secure.page-muted.com/')
  expect(to).toEqual(['abuse@host-net.example'])
  expect(await ofRegistrar(pageId)).toMatchObject([
    { contact: 'abuse@registrar.example', state: 'muted', key: undefined },
  ])
})

test('without the override, the contact of the registry gets notices again', async () => {
  expect(await unset({ ...registrar, name: 'example registrar' })).toMatchObject({ done: 'unset' })
  expect(await unset(registrar)).toEqual({ unchanged: 'nothing' })
  const { pageId, to } = await notified('https://secure.page-restored.com/')
  expect(to).toEqual(['abuse@host-net.example', 'abuse@registrar.example'])
  expect(await ofRegistrar(pageId)).toMatchObject([{ state: 'sent', isOverride: false }])
})

test('a platform with a form or a weak address gets mail at the contact that was set', async () => {
  await set({ role: 'platform', name: 'bitly', abuse: 'desk@bitly.example' })
  const { pageId, to } = await notified('https://bit.ly/3xYzAbC')
  expect(to).toEqual(['desk@bitly.example'])
  expect(await at.contacts(pageId)).toEqual([
    'platform desk@bitly.example sent',
    'platform https://bitly.is/reporting-abuse shown',
  ])
  await set({ role: 'platform', name: 'Bitly', abuse: 'none' })
  const muted = await notified('https://bit.ly/4xYzAbC')
  expect(muted.to).toEqual([])
  expect(await at.contacts(muted.pageId)).toEqual([
    'platform https://bitly.is/reporting-abuse muted',
  ])
})

test('an address whose platform is muted gets the notice in another role', async () => {
  const through = ['tinyurl.com']
  await set({ ...registrar, abuse: 'abuse@tinyurl.com' })
  await set({ role: 'platform', name: 'TinyURL', abuse: 'none' })
  const { pageId } = await at.confirmed(['https://secure.page-same.com/'], { through })
  await at.notify(pageId)
  expect(await at.contacts(pageId)).toEqual([
    'host abuse@host-net.example queued',
    'host noc@host-net.example spare',
    'registrar abuse@tinyurl.com queued',
  ])
  await at.send()
})

test('a contact that is set later gets the notices that nobody got', async () => {
  const waiting = await notified('https://bit.ly/5xYzAbC')
  expect(waiting.to).toEqual([])
  await set({ role: 'platform', name: 'Bitly', abuse: 'late@bitly.example' })
  await at.notify(waiting.pageId)
  expect((await at.send()).flatMap(({ to }) => to)).toEqual(['late@bitly.example'])
  // Once, also if the job runs again.
  await at.notify(waiting.pageId)
  expect(await at.send()).toEqual([])
  expect(await at.contacts(waiting.pageId)).toEqual([
    'platform late@bitly.example sent',
    'platform https://bitly.is/reporting-abuse shown',
  ])
  const jobs = await app.rows(
    `select data->>'pageId' as "pageId" from pgboss.job where name = 'notify-page'`,
  )
  expect(jobs).toContainEqual({ pageId: waiting.pageId })
})

test('the next contact after "not ours" is the one that was set meanwhile', async () => {
  await set({ ...registrar, abuse: 'one@set.example, two@set.example' })
  const { pageId, to } = await notified('https://secure.page-later.com/')
  expect(to).toEqual(['abuse@host-net.example', 'one@set.example'])
  await set({ ...registrar, abuse: 'three@set.example' })
  await at.notify(pageId)
  expect(await ofRegistrar(pageId)).toMatchObject([
    { contact: 'one@set.example', state: 'sent' },
    { contact: 'three@set.example', state: 'spare' },
  ])
})

test.for([
  [{ ...registrar, abuse: 'nobody' }, 'abuse', 'refused.contacts'],
  [{ ...registrar, abuse: ' ' }, 'abuse', 'refused.contacts'],
  [{ role: 'registrar', name: ' ', abuse: 'none' }, 'name', 'refused.contact-name'],
  [{ role: 'platform', name: 'Bitli', abuse: 'none' }, 'name', 'refused.no-platform'],
  [{ role: 'cdn', name: 'Cloudy', abuse: 'none' }, 'name', 'refused.no-platform'],
  [{ role: 'host', name: 'HOST-NET', abuse: 'none' }, 'role', 'refused.oneOf'],
] as const)('%o is refused', async ([given, field, code]) => {
  const before = await app.rows('select * from contact_overrides')
  const outcome = await set(given)
  expect(outcome).toMatchObject({ problems: [{ field, message: expect.stringContaining(code) }] })
  expect(await app.rows('select * from contact_overrides')).toEqual(before)
})

test('the commands set, list and unset contacts', async () => {
  const pages = async (...args: string[]) =>
    (await runCommand(operations, args, app)).stdout.trimEnd()
  const given = ['registrar', 'Other, Inc.', '--abuse', 'abuse@other.example', '--note', 'By mail']
  expect(await pages('contacts', 'set', ...given)).toBe(
    'registrar Other, Inc.: abuse@other.example (By mail)',
  )
  const list = await pages('contacts', 'list')
  expect(list).toMatch(/registrar +Other, Inc\. +– +[-\d]{10} abuse@other\.example +By mail/)
  expect(list).toContain('phish@set.example (operator)')
  expect(list).toContain('abuse@registrar.example (registry)')
  expect(list).toContain('desk@bitly.example (operator)')
  expect(await pages('contacts', 'unset', 'registrar', 'Other, Inc.')).toBe('Contact removed.')
  expect(await pages('contacts', 'list')).not.toContain('Other, Inc.')
})
