import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { selfSigned } from '../../support/certificate.ts'
import { greeted, keptFor, listenFor, ready, returnPath } from './listener.ts'

const app = await closeAfterTests(openTestApp())

async function certificate() {
  const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-tls-'))
  const { cert, key } = selfSigned()
  const tls = {
    receiveTlsCertFile: path.join(folder, 'own.crt'),
    receiveTlsKeyFile: path.join(folder, 'own.key'),
  }
  await writeFile(tls.receiveTlsCertFile, cert)
  await writeFile(tls.receiveTlsKeyFile, key)
  return { tls, remove: () => rm(folder, { recursive: true }) }
}

test.for([
  ...['\n.\n', '\n.\r\n', '\r\n.\n', '\r.\r', '\r.\r\n', '\r\n.\r', '\r\n\0.\r\n'],
  ...['\r\n.\0\r\n', '\r\n.\r\r\n', '\n\n.\r\r\n'],
])('only the standard end mark ends a mail: %j', async (end) => {
  const listener = await listenFor(app)
  const [rcpt, victim] = [returnPath(app), returnPath(app)]
  const talk = await ready(listener.port, [rcpt])
  const smuggled = `MAIL FROM:<>\r\nRCPT TO:<${victim}>\r\nDATA\r\nFrom: x@y.example\r\n\r\nx\r\n`
  talk.push(`From: a@b.example\r\n\r\nBack.${end}${smuggled}.\r\n`)
  expect(await talk.hear()).toBe('250 2.6.0 Kept')
  expect(await talk.say('NOOP')).toMatch(/^250 /)
  talk.end()
  await listener.close()
  expect(await keptFor(app, rcpt)).toHaveLength(1)
  expect(await keptFor(app, victim)).toEqual([])
})

test('commands sent together with STARTTLS are not executed', async () => {
  const { tls, remove } = await certificate()
  const listener = await listenFor(app, tls)
  const rcpt = returnPath(app)
  const socket = connect(listener.port, '127.0.0.1')
  let heard = ''
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString('latin1')))
  await expect.poll(() => heard).toContain('220 ')
  socket.write('EHLO a.example\r\n')
  await expect.poll(() => heard).toContain('STARTTLS')
  const injected = `EHLO b.example\r\nMAIL FROM:<>\r\nRCPT TO:<${rcpt}>\r\nDATA\r\nx: y\r\n\r\n`
  socket.write(`STARTTLS\r\n${injected}.\r\n`)
  await expect.poll(() => heard.match(/^220 /gm)).toHaveLength(2)
  // The server disconnects when it receives data that is not TLS, after it has handled everything
  // before.
  socket.write('This is no TLS.\r\n')
  await once(socket, 'close')
  expect(heard.slice(heard.lastIndexOf('220'))).not.toMatch(/^(?:250|354)/m)
  await listener.close()
  await remove()
  expect(await keptFor(app, rcpt)).toEqual([])
})

test('a client that stalls during encryption is cut off like any other', async () => {
  const { tls, remove } = await certificate()
  const listener = await listenFor(app, tls, { silenceMs: 300, sessionMs: 1_500 })
  const talk = await greeted(listener.port)
  await talk.say('STARTTLS')
  await talk.closed
  talk.end()
  await listener.close()
  await remove()
})

test('endless lines and bytes that are not SMTP end the session', async () => {
  const listener = await listenFor(app)
  const long = await greeted(listener.port)
  long.push(Buffer.alloc(5_000_000, 'A'))
  await long.closed
  const bytes = await greeted(listener.port)
  expect(await bytes.say(`MAIL FROM:<a\0b@c.example>`)).toMatch(/^[25]\d\d /)
  expect(await bytes.say('RCPT TO:<postmaster\0@bounces.test.example>')).toMatch(/^5\d\d /)
  bytes.end()
  // The listener still accepts mail.
  const talk = await ready(listener.port, [returnPath(app)])
  expect(await talk.mail('From: a@b.example\r\n\r\n\0\r\n')).toEqual(['250 2.6.0 Kept'])
  talk.end()
  await listener.close()
})
