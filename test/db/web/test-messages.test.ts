import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { lettersTo } from '../../support/letters.ts'
import { startWebSite } from './web-site.ts'

const env = { SMTP_URL: 'smtp://127.0.0.1:9', RETURN_PATH_DOMAIN: 'bounces.test.example' }
const site = await closeAfterTests(startWebSite(env))
const { pool } = site.app

async function ask(token: string, at = site.url) {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${at}/api/v1/test-messages`, { method: 'POST', headers })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

test('a program asks for a test message to its account, and gets its Message-ID', async () => {
  const ann = await site.addPerson('ann@reporters.example')
  const { status, body } = await ask(ann.token)
  const [letter, ...others] = await lettersTo(pool, ann.email)
  expect(others).toEqual([])
  const id = /^Message-ID: (.*)$/m.exec(letter?.raw ?? '')?.[1]?.trim()
  expect([status, body]).toEqual([202, { state: 'sent', message_id: id }])
  expect(await ask(ann.token)).toEqual({
    status: 200,
    body: { state: 'under-way', message_id: id },
  })
  expect(await lettersTo(pool, ann.email)).toHaveLength(1)
})

test('it needs a token that may report, and a site that sends mail', async () => {
  const bob = await site.addPerson('bob@reporters.example')
  await pool.query(`update tokens set scopes = '{read}' where reporter_id = $1`, [bob.id])
  expect(await ask(bob.token)).toMatchObject({ status: 403 })
  expect(await ask('sp_nothing')).toMatchObject({ status: 401 })
  expect(await lettersTo(pool, bob.email)).toEqual([])
  const trial = await closeAfterTests(startWebSite())
  const cy = await trial.addPerson('cy@reporters.example')
  expect(await ask(cy.token, trial.url)).toEqual({
    status: 200,
    body: { state: 'no-mail', message_id: null },
  })
})
