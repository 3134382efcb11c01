import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { updateReporter } from '../../src/db/reporters.ts'
import { hashPassword } from '../../src/people/credentials.ts'
import { sampleMessage } from '../db/web/web-site.ts'
import { closeAfterTests, makeTestFolder } from '../support/after-tests.ts'
import { makeSite } from '../support/parts.ts'

const folder = await makeTestFolder()
const site = await closeAfterTests(makeSite())
await site.start('web')
const { pool } = site.database
const { rows } = await pool.query<{ id: string }>('select id from reporters')
await updateReporter(pool, rows[0]?.id ?? '', { passwordHash: await hashPassword('secret') })

/** Sends the request of evolution-signal-spam with its library; returns the status. */
async function report(message: Buffer, password: string): Promise<string> {
  const body = path.join(folder, 'body')
  await writeFile(body, `message=${message.toString('base64')}`)
  const what = ['--user', `ann@reporters.example:${password}`, '--data-binary', `@${body}`]
  const shown = ['--silent', '--output', '/dev/null', '--write-out', '%{http_code}']
  const { stdout } = await promisify(execFile)('curl', [
    ...shown,
    ...what,
    `${site.url}/api/signaler`,
  ])
  return stdout
}

test('a request of evolution-signal-spam reports the message byte for byte', async () => {
  // In base64, this contains the characters that the plug-in does not escape.
  const message = Buffer.concat([sampleMessage('evolution'), Buffer.from('~~~???>>>\u00fb')])
  expect(message.toString('base64')).toMatch(/\+.*\/|\/.*\+/)
  expect(await report(message, 'secret')).toBe('202')
  const { rows: reports } = await pool.query<{ id: string }>('select id from reports')
  const response = await fetch(`${site.url}/api/v1/reports/${reports[0]?.id}/raw`, {
    headers: { authorization: `Bearer ${site.token}` },
  })
  expect(Buffer.from(await response.arrayBuffer()).equals(message)).toBe(true)
  expect(await report(message, 'wrong')).toBe('401')
})
