import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { attached, forwardOf, greeting } from '../../support/forwards.ts'
import { spamMessage } from '../../support/messages.ts'
import { signedInBrowser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const browser = await signedInBrowser(site.url, ann)

const foreign =
  'Received: from a.example (a.example [198.51.100.7]) by mx.reporters.example; ' +
  'Sat, 28 Nov 2026 10:01:00 +0000'
/** A mail by a colleague that came from outside. */
const lookAlike = (mark: string) =>
  forwardOf([greeting, attached(spamMessage(mark))], {
    before: [foreign],
    from: 'bob@reporters.example',
  })

type Answer = {
  id?: string
  type?: string
  choices?: { report: string; subject: string; from: string }[]
}

async function send(
  raw: Buffer,
  query = '',
  key?: string,
): Promise<{ status: number; said: Answer }> {
  const answer = await fetch(`${site.url}/api/v1/reports${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${ann.token}`,
      'content-type': 'message/rfc822',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: Buffer.from(raw),
  })
  return { status: answer.status, said: (await answer.json()) as Answer }
}

async function rawOf(id: string | undefined): Promise<string> {
  const stored = await browser.get(`/reports/${id}/message.eml`)
  return Buffer.from(await stored.arrayBuffer()).toString('latin1')
}

test('a message in a forward of the reporter is reported, not the forward', async () => {
  const spam = spamMessage('forwarded')
  const { status, said } = await send(forwardOf([greeting, attached(spam)]))
  expect(status).toBe(202)
  expect(await rawOf(said.id)).toBe(spam.toString('latin1'))
})

test('the API asks about a wrapper that proves nothing, and takes the choice', async () => {
  const raw = lookAlike('api')
  const asked = await send(raw, '', 'key-1')
  expect(asked.status).toBe(422)
  expect(asked.said.type).toContain('#choose-message')
  expect(asked.said.choices).toMatchObject([
    { report: 'attached', subject: 'Cheap watches api' },
    { report: 'whole', subject: 'Fwd: junk' },
  ])
  const inner = await send(raw, '?report=attached', 'key-1')
  expect(await rawOf(inner.said.id)).toBe(spamMessage('api').toString('latin1'))
  const whole = await send(raw, '?report=whole')
  expect(await rawOf(whole.said.id)).toBe(raw.toString('latin1'))
  expect((await send(raw, '?report=both')).status).toBe(422)
  const json = { message_base64: lookAlike('json').toString('base64'), report: 'attached' }
  const answer = await fetch(`${site.url}/api/v1/reports`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  })
  const { id } = (await answer.json()) as Answer
  expect(await rawOf(id)).toBe(spamMessage('json').toString('latin1'))
})

test('a machine of the reporter that is named in the request proves the wrapper', async () => {
  const { said } = await send(lookAlike('via'), '?received_via=198.51.100.7')
  expect(await rawOf(said.id)).toBe(spamMessage('via').toString('latin1'))
})

test('the page shows both messages, and a button reports one of them', async () => {
  const form = new FormData()
  form.append('messages', new File([new Uint8Array(lookAlike('page'))], 'a.eml'))
  form.append('kind', 'phishing')
  const looked = await browser.postForm('/report/look', form)
  const shown = await looked.text()
  expect(shown).toContain('Cheap watches page')
  expect(shown).toContain('You choose one after you press “Report”.')
  expect(shown).not.toContain('not recorded')
  const page = await (await browser.postForm('/report', form)).text()
  expect(page).toContain('Cheap watches page')
  expect(page).toContain('Fwd: junk')
  expect(page).toContain('Please choose below which message you report')
  expect(page).not.toContain('could not be')
  expect(page).not.toContain('could be recorded')
  const { rows } = await site.app.pool.query('select id from reports where subject = $1', [
    'Fwd: junk',
  ])
  const before = rows.length
  const again = new FormData()
  for (const name of ['kind', 'shared', 'shared_name']) {
    again.append(name, new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '')
  }
  again.append('report', 'attached')
  const sent = await (await browser.postForm('/report', again)).text()
  const [, id = ''] = /href="\/reports\/([0-9a-f-]{36})"/.exec(sent) ?? []
  expect(await rawOf(id)).toBe(spamMessage('page').toString('latin1'))
  const { rows: kinds } = await site.app.pool.query('select kind from reports where id = $1', [id])
  expect(kinds).toEqual([{ kind: 'phishing' }])
  const { rows: after } = await site.app.pool.query('select id from reports where subject = $1', [
    'Fwd: junk',
  ])
  expect(after).toHaveLength(before)
})

test('a large wrapper is unwrapped in a thread', async () => {
  const spam = Buffer.concat([
    spamMessage('large'),
    Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(3_000)),
  ])
  const { said } = await send(forwardOf([greeting, attached(spam)]))
  expect(await rawOf(said.id)).toBe(spam.toString('latin1'))
})
