import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { signedInBrowser } from './browser.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const browser = await signedInBrowser(site.url, ann)

type Receipt = { id: string; changed: boolean }

async function post(mark: string, kind: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${site.url}/api/v1/reports?kind=${kind}`, {
    method: 'POST',
    body: sampleMessage(mark),
    headers: {
      authorization: `Bearer ${ann.token}`,
      'content-type': 'message/rfc822',
      ...headers,
    },
  })
  const { id, changed } = (await answer.json()) as Receipt
  return { status: answer.status, id, changed }
}

async function kindOf(id: string): Promise<unknown> {
  const { rows } = await site.app.pool.query<{ kind: string }>(
    'select kind from reports where id = $1',
    [id],
  )
  return rows[0]?.kind
}

async function byForm(mark: string, kind: string): Promise<string> {
  const form = new FormData()
  form.append('kind', kind)
  form.append('messages', new Blob([sampleMessage(mark)]), 'a.eml')
  return (await browser.postForm('/report', form)).text()
}

test('the API changes a report and says so; a repeat has no effect', async () => {
  const first = await post('api', 'spam')
  expect(first).toMatchObject({ status: 202, changed: false })
  const { id } = first
  expect(await post('api', 'not-spam')).toMatchObject({ status: 202, id, changed: true })
  expect(await post('api', 'not-spam')).toMatchObject({ status: 200, id, changed: false })
  expect(await kindOf(id)).toBe('not-spam')
})

test('a repeated Idempotency-Key gets its first answer, and changes nothing back', async () => {
  const key = { 'idempotency-key': 'first' }
  const first = await post('keyed', 'spam', key)
  await post('keyed', 'not-spam', { 'idempotency-key': 'second' })
  expect(await post('keyed', 'spam', key)).toEqual(first)
  expect(await kindOf(first.id)).toBe('not-spam')
})

test('the form changes a report, and the page says so in the user’s language', async () => {
  const { id } = await post('form', 'spam')
  expect(await byForm('form', 'not-spam')).toContain('what you say now counts')
  expect(await kindOf(id)).toBe('not-spam')
  for (const [language, words] of [
    ['en', 'You changed the report: this is not spam.'],
    ['fr', 'Vous avez modifié votre signalement\u00a0: ce n’est pas un spam.'],
    ['ru', 'Вы изменили жалобу: это не спам.'],
  ] as const) {
    const reader = await signedInBrowser(site.url, ann, language)
    expect(await (await reader.get(`/reports/${id}`)).text()).toContain(words)
  }
})

test('a Signal Spam plug-in can only report spam, and that counts too', async () => {
  const { id } = await post('plug-in', 'not-spam')
  const body = new URLSearchParams({ message: sampleMessage('plug-in').toString('base64') })
  const headers = { authorization: ann.basic }
  const answer = await fetch(`${site.url}/api/signaler`, { method: 'POST', body, headers })
  expect(answer.status).toBe(202)
  expect(await kindOf(id)).toBe('spam')
})

test('the last line of a bulk request counts; a used key has no effect', async () => {
  const line = (kind: string, key?: string) =>
    JSON.stringify({
      message_base64: sampleMessage('bulk').toString('base64'),
      kind,
      ...(key !== undefined && { idempotency_key: key }),
    })
  const send = async (...lines: string[]) => {
    const answer = await fetch(`${site.url}/api/v1/reports/bulk`, {
      method: 'POST',
      body: lines.join('\n'),
      headers: { authorization: `Bearer ${ann.token}`, 'content-type': 'application/x-ndjson' },
    })
    return (await answer.json()) as { results: Receipt[] }
  }
  const others = ['not-spam', 'phishing', 'not-spam'].map((kind) => line(kind))
  const said = await send(line('spam', 'one'), ...others)
  expect(said).toMatchObject({ accepted: 1, changed: 3, repeated: 0 })
  const [{ id } = { id: '' }] = said.results
  expect(await kindOf(id)).toBe('not-spam')
  expect(await send(line('spam', 'one'))).toMatchObject({ accepted: 0, changed: 0, repeated: 1 })
  expect(await kindOf(id)).toBe('not-spam')
})
