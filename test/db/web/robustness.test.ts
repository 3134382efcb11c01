import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { corpusFiles } from '../../support/corpus.ts'
import { Browser } from './browser.ts'
import { startWebSite } from './web-site.ts'

const files = corpusFiles('robustness') ?? []
const names = files.length > 0 ? files.map(({ name }) => name) : ['(there is no corpus here)']

const site = await closeAfterTests(startWebSite())
const ann = await site.addPerson('ann@reporters.example')
const browser = new Browser(site.url, { 'accept-language': 'en' })
await browser.post('/sign-in', {
  'user[email_or_login]': ann.email,
  'user[password]': ann.password,
})

const taken = [200, 202]
const refused = [400, 413, 422]

/** A byte order mark before a message is not part of it. */
const withoutMark = (raw: Buffer) =>
  raw.toString('latin1', 0, 3) === '\xef\xbb\xbf' ? raw.subarray(3) : raw

test.skipIf(files.length === 0).for(names)(
  '%s is accepted or refused by every route',
  async (file) => {
    const raw = Buffer.from(files.find(({ name }) => name === file)?.raw ?? '')
    const authorization = ann.basic
    const send = (address: string, type: string, body: string | Buffer<ArrayBuffer> | FormData) =>
      fetch(`${site.url}${address}`, {
        method: 'POST',
        headers: { authorization, ...(type ? { 'content-type': type } : {}) },
        body,
      })
    const encoded = raw.toString('base64')
    const form = new FormData()
    form.set('file', new Blob([raw]), 'a.eml')
    const answers = [
      await send('/api/v1/reports', 'message/rfc822', raw),
      await send(
        '/api/v1/reports',
        'application/json',
        JSON.stringify({ message_base64: encoded }),
      ),
      await send('/api/v1/reports', '', form),
      await send('/api/signaler', 'application/x-www-form-urlencoded', `message=${encoded}`),
    ]
    for (const answer of answers) {
      expect(answer.status).toBeOneOf([...taken, ...refused])
      const isTaken = taken.includes(answer.status)
      const type = isTaken ? 'application/json; charset=utf-8' : 'application/problem+json'
      expect(answer.headers.get('content-type')).toBe(type)
      if (!isTaken) continue
      const { id } = (await answer.json()) as { id: string }
      const back = await fetch(`${site.url}/api/v1/reports/${id}/raw`, {
        headers: { authorization },
      })
      expect(Buffer.from(await back.arrayBuffer()).equals(withoutMark(raw))).toBe(true)
    }
    const page = new FormData()
    page.set('messages', new Blob([raw]), file)
    expect((await browser.postForm('/report', page)).status).toBeOneOf([200, ...refused])
  },
)
