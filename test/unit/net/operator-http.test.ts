import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { reasonOf } from '../../../src/errors.ts'
import { callOperator } from '../../../src/net/operator-http.ts'
import { closeAfterThisTest } from '../../support/after-tests.ts'

/** Starts a server that answers those who sign in; returns its URL without `http://`. */
async function start() {
  const server = createServer((req, res) => {
    const expected = `Basic ${Buffer.from('me:a key').toString('base64')}`
    res.statusCode = req.headers.authorization === expected ? 200 : 401
    res.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  await closeAfterThisTest(
    Promise.resolve({ close: () => new Promise((resolve) => server.close(resolve)) }),
  )
  return `127.0.0.1:${(server.address() as AddressInfo).port}/table`
}

test('the name and password of a URL are sent, and are in no reason', async () => {
  const place = await start()
  await callOperator(`http://me:a%20key@${place}`)
  for (const url of [
    `http://me:another-key@${place}`,
    'http://me:another-key@127.0.0.1:9/another-key',
    'http://me:another-key@[bad/another-key',
  ]) {
    const reason = reasonOf(await callOperator(url).catch((error: unknown) => error))
    expect(reason).toMatch(/HTTP 401|ECONNREFUSED|bad port|not valid/)
    expect(reason).not.toContain('another-key')
  }
})
