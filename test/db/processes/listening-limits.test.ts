import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { usualLimits } from '../../../src/processes/receive/receive.ts'
import { closeAfterTests, makeTestFolder } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { selfSigned, type TestCertificate } from '../../support/certificate.ts'
import { smtpTalk } from '../../support/smtp-talk.ts'
import { freshMail, greeted, keptFor, listenFor, ready, returnPath } from './listener.ts'

const app = await closeAfterTests(openTestApp())
const folder = await makeTestFolder()

async function tlsFiles(name: string, { cert, key }: TestCertificate) {
  const certFile = path.join(folder, `${name}.crt`)
  const keyFile = path.join(folder, `${name}.key`)
  await Promise.all([writeFile(certFile, cert), writeFile(keyFile, key)])
  return { receiveTlsCertFile: certFile, receiveTlsKeyFile: keyFile }
}

test('with a certificate mail arrives encrypted; earlier commands are forgotten', async () => {
  const own = selfSigned()
  const listener = await listenFor(app, await tlsFiles('own', own))
  const rcpt = returnPath(app)
  const talk = smtpTalk(listener.port)
  await talk.hear()
  expect(await talk.say('EHLO peer.example')).toContain('STARTTLS')
  await talk.say('MAIL FROM:<>')
  expect(await talk.encrypt()).toBe(own.cert)
  expect(await talk.say('EHLO peer.example')).not.toContain('STARTTLS')
  expect(await talk.say(`RCPT TO:<${rcpt}>`)).toMatch(/^503 /)
  await talk.say('MAIL FROM:<>')
  await talk.say(`RCPT TO:<${rcpt}>`)
  await talk.say('DATA')
  expect(await talk.mail(freshMail())).toEqual(['250 2.6.0 Kept'])
  talk.end()
  await listener.close()
  expect(await keptFor(app, rcpt)).toHaveLength(1)
})

test('without a certificate STARTTLS is neither offered nor accepted', async () => {
  const listener = await listenFor(app)
  const talk = smtpTalk(listener.port)
  await talk.hear()
  expect(await talk.say('EHLO peer.example')).not.toContain('STARTTLS')
  expect(await talk.say('STARTTLS')).toMatch(/^50[02] /)
  talk.end()
  await listener.close()
})

test('a renewed certificate is used from then on, and an invalid one never', async () => {
  const [first, second] = [selfSigned(), selfSigned()]
  const settings = await tlsFiles('renewed', first)
  const listener = await listenFor(app, settings)
  const shown = async () => {
    const talk = await greeted(listener.port)
    const cert = await talk.encrypt()
    talk.end()
    return cert
  }
  expect(await shown()).toBe(first.cert)
  await tlsFiles('renewed', { ...second, key: first.key })
  await listener.renew()
  expect(await shown()).toBe(first.cert)
  await tlsFiles('renewed', second)
  await listener.renew()
  expect(await shown()).toBe(second.cert)
  const third = selfSigned()
  await tlsFiles('renewed', third)
  process.emit('SIGHUP')
  let cert = ''
  for (let tries = 0; tries < 30 && cert !== third.cert; tries++) cert = await shown()
  expect(cert).toBe(third.cert)
  await listener.close()
})

test('an invalid certificate prevents the start, with a reason', async () => {
  const settings = await tlsFiles('wrong', { ...selfSigned(), key: selfSigned().key })
  await expect(listenFor(app, settings)).rejects.toThrow('not the key of the certificate')
  const missing = { ...settings, receiveTlsKeyFile: path.join(folder, 'none.key') }
  await expect(listenFor(app, missing)).rejects.toThrow('RECEIVE_TLS_KEY_FILE cannot be read')
  const half = { ...settings, receiveTlsKeyFile: undefined }
  await expect(listenFor(app, half)).rejects.toThrow('RECEIVE_TLS_KEY_FILE is missing')
  const noise = await tlsFiles('noise', { cert: 'none', key: 'none' })
  await expect(listenFor(app, noise)).rejects.toThrow('does not contain a PEM certificate')
})

test('a client that sends a mail too slowly is cut off, and nothing is stored', async () => {
  const listener = await listenFor(app, {}, { dataMs: 30 })
  const rcpt = returnPath(app)
  const talk = await ready(listener.port, [rcpt])
  talk.push('From: slow@peer.example\r\n')
  expect(await talk.hear()).toMatch(/^421 4\.4\.2 /)
  talk.end()
  await talk.closed
  await listener.close()
  expect(await keptFor(app, rcpt)).toEqual([])
})

test('an endless session is ended, and so is a silent one', async () => {
  const listener = await listenFor(app, {}, { sessionMs: 30 })
  const talk = smtpTalk(listener.port)
  expect(await talk.hear()).toMatch(/^220 /)
  expect(await talk.hear()).toMatch(/^421 4\.4\.2 /)
  await listener.close()
  const silent = await listenFor(app, {}, { silenceMs: 400 })
  const mute = smtpTalk(silent.port)
  expect(await mute.hear()).toMatch(/^220 /)
  expect(await mute.hear()).toMatch(/^421 /)
  await silent.close()
})

test('mails above the total memory are deferred, and memory is released again', async () => {
  const listener = await listenFor(app, { messageBytesMax: 1 }, { held: 1 })
  const [first, second] = [returnPath(app), returnPath(app)]
  const half = `${'z'.repeat(998)}\r\n`.repeat(9_990)
  const waiting = await Promise.all([
    ready(listener.port, [first]),
    ready(listener.port, [second]),
    ready(listener.port, [second]),
  ])
  for (const talk of waiting) talk.push(half)
  const answers = await Promise.all(waiting.map((talk) => talk.mail('\r\nend\r\n')))
  const kept = answers.flat().filter((answer) => answer.startsWith('250'))
  const putOff = answers.flat().filter((answer) => answer.startsWith('452 4.3.1'))
  expect(kept.length + putOff.length).toBe(3)
  for (const talk of waiting) talk.end()
  const after = await ready(listener.port, [first])
  expect(await after.mail(freshMail())).toEqual(['250 2.6.0 Kept'])
  after.end()
  await listener.close()
})

test('recipients above the maximum of a mail are deferred', async () => {
  const listener = await listenFor(app, {}, { recipients: 2 })
  const talk = await greeted(listener.port)
  await talk.say('MAIL FROM:<>')
  expect(await talk.say(`RCPT TO:<${returnPath(app)}>`)).toMatch(/^250 /)
  expect(await talk.say(`RCPT TO:<${returnPath(app)}>`)).toMatch(/^250 /)
  expect(await talk.say(`RCPT TO:<${returnPath(app)}>`)).toMatch(/^452 /)
  talk.end()
  await listener.close()
})

test('sessions above the maximum are deferred', async () => {
  const listener = await listenFor(app, {}, { ...usualLimits, clients: 1 })
  const first = await greeted(listener.port)
  const second = smtpTalk(listener.port)
  expect(await second.hear()).toMatch(/^421 /)
  first.end()
  second.end()
  await listener.close()
})
