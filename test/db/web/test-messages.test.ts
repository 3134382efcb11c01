import { expect, test } from 'vitest'
import { createAdvisesProbe } from '../../../src/letters/probe-letter.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { lettersTo } from '../../support/letters.ts'
import { startWebSite } from './web-site.ts'

const env = { SMTP_URL: 'smtp://127.0.0.1:9', RETURN_PATH_DOMAIN: 'bounces.test.example' }
const site = await closeAfterTests(startWebSite(env))
const { pool } = site.app

async function ask(token: string, at = site.url, user?: { key: string; body: object }) {
  const forUser = user && { 'on-behalf-of': user.key, 'content-type': 'application/json' }
  const headers = { authorization: `Bearer ${token}`, ...forUser }
  const body = user && JSON.stringify(user.body)
  const method = 'POST'
  const answer = await fetch(`${at}/api/v1/test-messages`, {
    method,
    headers,
    ...(body && { body }),
  })
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

test('a provider asks for a test message to a mailbox user, whose address it gives', async () => {
  const provider = await site.addPerson('reports@provider.example')
  await pool.query(`update tokens set scopes = '{report,on-behalf}' where reporter_id = $1`, [
    provider.id,
  ])
  const address = 'Box@customer.example'
  const forUser = (key: string, body: object = { address }) => {
    return ask(provider.token, site.url, { key, body })
  }
  const vouch = (isVouched: boolean) => {
    return pool.query('update karmas set is_vouched = $2 where reporter_id = $1', [
      ...[provider.id, isVouched],
    ])
  }
  await vouch(false)
  expect(await forUser('box-1')).toMatchObject({ status: 403 })
  await vouch(true)
  expect(await forUser('box-1', {})).toMatchObject({ status: 422 })
  expect(await forUser('box-1', { address: 'nobody' })).toMatchObject({ status: 422 })
  expect(await forUser('box-1')).toMatchObject({ status: 202, body: { state: 'sent' } })
  expect(await forUser('box-1')).toMatchObject({ status: 200, body: { state: 'under-way' } })
  const [letter] = await lettersTo(pool, 'box@customer.example')
  expect(letter?.raw).not.toContain('/relays')
  expect(await lettersTo(pool, provider.email)).toEqual([])
  for (const key of ['box-2', 'box-3']) expect(await forUser(key)).toMatchObject({ status: 202 })
  expect(await forUser('box-4')).toMatchObject({ status: 429 })
})

test('the receipt of a report tells whether the way of the mail is known', async () => {
  const report = async (token: string, at = site.url) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' }
    const body = `Received: from a by b\r\nFrom: a@x.example\r\nSubject: ${token}\r\n\r\nHello\r\n`
    const answer = await fetch(`${at}/api/v1/reports`, { method: 'POST', headers, body })
    return (await answer.json()) as Record<string, unknown>
  }
  const dee = await site.addPerson('dee@reporters.example')
  expect(await report(dee.token)).toMatchObject({ status: 'received', way_in: 'unknown' })
  const eve = await site.addPerson('eve@reporters.example')
  await ask(eve.token)
  expect(await report(eve.token)).not.toHaveProperty('way_in')
  const trial = await closeAfterTests(startWebSite())
  const fay = await trial.addPerson('fay@reporters.example')
  expect(await report(fay.token, trial.url)).not.toHaveProperty('way_in')
})

test('a reporter whose mail servers are stated, or who was told before, is not told', async () => {
  const gil = await site.addPerson('gil@stated.example')
  const advises = () => createAdvisesProbe(site.app)(gil.id)
  expect(await advises()).toBe(true)
  await pool.query(`insert into receiving_hosts (domain, host, note, created_at)
    values ('stated.example', 'mx.stated.example', '', now())`)
  expect(await advises()).toBe(false)
  const hal = await site.addPerson('hal@reporters.example')
  for (const mark of ['1', '2']) {
    await site.report(hal, Buffer.from(`Received: from a by b\r\nSubject: ${mark}\r\n\r\n${mark}`))
  }
  expect(await createAdvisesProbe(site.app)(hal.id)).toBe(false)
})
