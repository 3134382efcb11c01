import { expect, test } from 'vitest'
import { findMarketer, keepProposal } from '../../../src/db/marketers.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const person = await site.addPerson('admin@reporters.example', { role: 'administrator' })
const admin = await signedInBrowser(site.url, person)

const fields = {
  ...{ is_new: '1', key: 'example-shop', kind: 'marketer', name: 'The <Example> Shop' },
  state: 'confirmed',
  ...{ signers: 'example.org\n*.mail.example.org', ranges: '192.0.2.0/24', list_ids: '' },
  ...{ authors: '', practice: 'Asks twice.', website: 'https://www.example.org/', contact: '' },
  ...{ feedback: '', advice_en: 'Open your account.', advice_fr: '', advice_ru: '', do: 'keep' },
}

test('a marketer is added, changed and removed by a form, and all changes are logged', async () => {
  expect(await (await admin.get('/admin/marketers/edit')).text()).toContain('Add a marketer')
  expect((await admin.post('/admin/marketers', fields)).status).toBe(303)
  expect(await findMarketer(site.app.pool, 'example-shop')).toMatchObject({
    name: 'The <Example> Shop',
    signers: ['example.org', '*.mail.example.org'],
    advice: { en: 'Open your account.' },
    website: 'https://www.example.org/',
    contact: null,
  })
  const list = await (await admin.get('/admin/marketers')).text()
  expect(list).toContain('The &lt;Example&gt; Shop')
  const form = await (await admin.get('/admin/marketers/edit?key=example-shop')).text()
  expect(form).toContain('*.mail.example.org')
  const changed = { ...fields, is_new: '', state: 'suspended' }
  expect((await admin.post('/admin/marketers', changed)).status).toBe(303)
  expect((await findMarketer(site.app.pool, 'example-shop'))?.state).toBe('suspended')
  await admin.post('/admin/marketers', { key: 'example-shop', do: 'remove' })
  expect(await findMarketer(site.app.pool, 'example-shop')).toBeUndefined()
  const audit = await (await admin.get('/admin/audit')).text()
  expect(audit).toContain('set marketer')
  expect(audit).toContain('remove marketer')
})

test('a removed shipped service is shown with its sources and can be restored', async () => {
  const page = () => admin.get('/admin/marketers/edit?key=sendgrid').then((answer) => answer.text())
  expect(await (await admin.get('/admin/marketers?kind=service')).text()).toContain('Amazon SES')
  expect(await page()).toContain('www.twilio.com/docs/sendgrid')
  await admin.post('/admin/marketers', { key: 'sendgrid', do: 'remove' })
  expect(await page()).toContain('<option value="suspended" selected>')
  await admin.post('/admin/marketers', { key: 'sendgrid', do: 'reset' })
  expect(await page()).toContain('<option value="confirmed" selected>')
})

test('a form that would recognize others’ mail is shown again with all its errors', async () => {
  const wrong = { ...fields, signers: 'gmail.com sendgrid.net', ranges: '10.0.0.0/8', key: 'X' }
  const answer = await admin.post('/admin/marketers', wrong)
  expect(answer.status).toBe(422)
  const badKey = await answer.text()
  expect(badKey).toContain('Key: A key may contain only lowercase letters')
  const text = await (await admin.post('/admin/marketers', { ...wrong, key: 'x' })).text()
  expect(text).toContain('gmail.com: anyone can have a mailbox there.')
  expect(text).toContain('sendgrid.net signs for many')
  expect(text).toContain('10.0.0.0/8 is too wide. The widest range allowed is /16')
  expect(text).toContain('gmail.com sendgrid.net')
})

test('a key can be used once', async () => {
  await admin.post('/admin/marketers', fields)
  const again = await admin.post('/admin/marketers', { ...fields, name: 'Another' })
  expect(again.status).toBe(422)
  expect(await again.text()).toContain('Another marketer already has this key.')
})

test('a proposal becomes a draft by one click, or is dismissed', async () => {
  const seen = { author: 'example.net', name: 'Example <Net>', messages: 7, reportersAtLeast: 5 }
  const days = { firstSeen: new Date(), lastSeen: new Date() }
  const more = { ...seen, ...days, subjects: ['What is <new>'], unsubscribeHost: 'example.net' }
  await keepProposal(site.app.pool, { signer: 'example.net', listId: '', ...more })
  await keepProposal(site.app.pool, { signer: 'example.com', listId: 'a.example.com', ...more })
  const page = await (await admin.get('/admin/marketers/proposals')).text()
  expect(page).toContain('What is &lt;new&gt;')
  expect(page).toContain('at least 5')
  const take = { signer: 'example.net', list_id: '', do: 'take' }
  const taken = await admin.post('/admin/marketers/proposals', take)
  expect(taken.headers.get('location')).toBe('/admin/marketers/edit?key=example-net&done=taken')
  expect(await findMarketer(site.app.pool, 'example-net')).toMatchObject({
    state: 'declared',
    signers: ['example.net'],
  })
  const dismiss = { signer: 'example.com', list_id: 'a.example.com', do: 'dismiss' }
  await admin.post('/admin/marketers/proposals', dismiss)
  expect(await (await admin.get('/admin/marketers/proposals')).text()).toContain(
    'No marketers are proposed',
  )
})

test('these pages are for administrators', async () => {
  const ann = await signedInBrowser(site.url, await site.addPerson('ann@reporters.example'))
  expect((await ann.get('/admin/marketers')).status).toBe(403)
  expect((await ann.post('/admin/marketers', fields)).status).toBe(403)
})
