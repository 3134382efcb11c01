import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  checkCertificate,
  checkDataFolder,
  checkDisk,
  checkSettingsFile,
  checkSigningFile,
} from '../../../../src/cli/doctor/machine.ts'
import {
  checkPorts,
  checkPublicUrl,
  checkRegistries,
  checkRelay,
} from '../../../../src/cli/doctor/reach.ts'
import { readConfig } from '../../../../src/config.ts'
import { closeAfterTests } from '../../../support/after-tests.ts'
import { selfSigned } from '../../../support/certificate.ts'
import { rsaKey } from '../../../support/signing.ts'
import { startSmtpSink } from '../../../support/smtp-sink.ts'

const folder = await mkdtemp(path.join(tmpdir(), 'signalpost-doctor-'))
afterAll(() => rm(folder, { recursive: true }))
const clock = () => new Date('2026-11-20T12:00:00Z')

const configOf = (env: Record<string, string>) => ({
  config: readConfig({ DATA_DIR: folder, ...env }, { cores: 1, cwd: folder }),
})

async function fileWith(name: string, content: string, mode = 0o600): Promise<string> {
  const file = path.join(folder, name)
  await writeFile(file, content)
  await chmod(file, mode)
  return file
}

test('a missing data folder, and secrets that others may read, are problems', async () => {
  expect(await checkDataFolder(configOf({ DATA_DIR: '/nonexistent' }))).toMatchObject([
    { level: 'problem', says: 'The data folder /nonexistent does not exist.' },
  ])
  const secret = await fileWith('secret', 'x')
  expect(await checkDataFolder(configOf({}))).toMatchObject([{ level: 'ok' }])
  await chmod(secret, 0o640)
  expect(await checkDataFolder(configOf({}))).toMatchObject([
    {
      level: 'problem',
      says: 'Other accounts may read secret.',
      todo: `Run "chmod 600 ${secret}".`,
    },
  ])
})

test('settings that every account may read are a problem', async () => {
  const file = await fileWith('signalpost.env', '', 0o640)
  expect(await checkSettingsFile({ SIGNALPOST_SETTINGS: file })).toMatchObject([{ level: 'ok' }])
  await chmod(file, 0o644)
  expect(await checkSettingsFile({ SIGNALPOST_SETTINGS: file })).toMatchObject([
    { level: 'problem', says: `Every account may read ${file}.` },
  ])
  expect(await checkSettingsFile({ SIGNALPOST_SETTINGS: '/dev/null' })).toEqual([])
})

test('a disk is judged by the bounds of the health page', async () => {
  expect(await checkDisk(configOf({}), { warning: 0, critical: 0 })).toMatchObject({ level: 'ok' })
  const full = await checkDisk(configOf({}), { warning: 101, critical: 101 })
  expect(full).toMatchObject({ level: 'problem', todo: expect.stringContaining('RETENTION_DAYS') })
  expect(await checkDisk(configOf({}), { warning: 101, critical: 0 })).toMatchObject({
    level: 'warning',
  })
  expect(await checkDisk(configOf({ DATA_DIR: '/nonexistent' }))).toMatchObject({
    level: 'unknown',
  })
})

test('an unsigned installation is warned; an unusable or readable key is a problem', async () => {
  const signed = (file: string) =>
    checkSigningFile(
      configOf({ DKIM_DOMAIN: 'example.org', DKIM_SELECTOR: 'sp', DKIM_KEY_FILE: file }),
    )
  expect(await checkSigningFile(configOf({}))).toMatchObject({ level: 'warning' })
  expect(await signed('/nonexistent')).toMatchObject({ level: 'problem' })
  expect(await signed(await fileWith('bad.pem', 'no key'))).toMatchObject({ level: 'problem' })
  const { privateKey } = rsaKey()
  expect(await signed(await fileWith('good.pem', privateKey))).toMatchObject({ level: 'ok' })
  expect(await signed(await fileWith('open.pem', privateKey, 0o644))).toMatchObject({
    level: 'problem',
    todo: expect.stringContaining('chmod o-r'),
  })
})

test('a certificate that is missing, unreadable, expired or about to expire is found', async () => {
  const key = (one: { key: string }) => fileWith('key.pem', one.key)
  const outcome = async (until: string) => {
    const made = selfSigned(until)
    const files = {
      RECEIVE_TLS_CERT_FILE: await fileWith('cert.pem', made.cert),
      RECEIVE_TLS_KEY_FILE: await key(made),
    }
    const [finding] = await checkCertificate({ ...configOf(files), clock })
    return finding?.level
  }
  expect(await checkCertificate({ ...configOf({}), clock })).toEqual([])
  expect(await outcome('301231')).toBe('ok')
  expect(await outcome('261205')).toBe('warning')
  expect(await outcome('261122')).toBe('problem')
  expect(await outcome('261101')).toBe('problem')
  const half = configOf({ RECEIVE_TLS_CERT_FILE: path.join(folder, 'cert.pem') })
  expect(await checkCertificate({ ...half, clock })).toMatchObject([{ level: 'problem' }])
})

test('a port is ours, free, used by another program, or impossible', async () => {
  const web = createHttpServer((_req, res) => res.end('alive\n'))
  const other = createServer((socket) => socket.end('220 other ESMTP\r\n'))
  const [ours, theirs] = [await listen(web), await listen(other)]
  const findings = await checkPorts(
    configOf({ HTTP_PORT: String(ours), RECEIVE_PORT: String(theirs) }),
  )
  expect(findings).toMatchObject([
    { level: 'ok', says: `Signalpost listens on 127.0.0.1:${ours} (HTTP_PORT).` },
    {
      level: 'problem',
      says: `Another program listens on 127.0.0.1:${theirs} (RECEIVE_PORT).`,
      todo: 'Stop that program, or set RECEIVE_PORT to another port.',
    },
  ])
  other.close()
  web.close()
  const gone = configOf({ RECEIVE_PORT: String(theirs), HTTP_HOST: '192.0.2.1' })
  expect(await checkPorts(gone)).toMatchObject([
    { level: 'problem', todo: 'Set HTTP_HOST to an address of this machine.' },
    { level: 'unknown', todo: 'Start Signalpost.' },
  ])
})

test('a public address must be encrypted and answer', async () => {
  expect(await checkPublicUrl(configOf({}))).toMatchObject({ level: 'warning' })
  expect(await checkPublicUrl(configOf({ PUBLIC_URL: 'http://spam.example' }))).toMatchObject({
    level: 'problem',
    says: 'http://spam.example is not encrypted.',
  })
  const dead = await checkPublicUrl(configOf({ PUBLIC_URL: 'https://127.0.0.2:1' }))
  expect(dead).toMatchObject({ level: 'problem', todo: expect.stringContaining('firewall') })
})

test('the mail server accepts, refuses, or does not answer', async () => {
  expect(await checkRelay(configOf({}))).toMatchObject({ level: 'warning' })
  const sink = await closeAfterTests(startSmtpSink())
  expect(await checkRelay(configOf({ SMTP_URL: sink.url }))).toMatchObject({ level: 'ok' })
  sink.failAll('connect', { code: 554, text: 'Go away' })
  expect(await checkRelay(configOf({ SMTP_URL: sink.url }))).toMatchObject({
    level: 'problem',
    says: expect.stringMatching(/refuses us: .*Go away/),
  })
  expect(await checkRelay(configOf({ SMTP_URL: 'smtp://127.0.0.1:1' }))).toMatchObject({
    level: 'problem',
    says: expect.stringContaining('does not answer'),
  })
})

test('the clock is compared with that of the registries', async () => {
  const server = createHttpServer((_req, res) => {
    res.setHeader('date', 'Fri, 20 Nov 2026 12:03:00 GMT').end('{}')
  })
  const url = `http://127.0.0.1:${await listen(server)}`
  const clocks = await checkRegistries({ ...configOf({ RDAP_BOOTSTRAP_URL: url }), clock })
  expect(clocks).toMatchObject([
    { level: 'ok' },
    { level: 'problem', says: 'The clock differs from that of the registries by 180 seconds.' },
  ])
  server.close()
  const gone = await checkRegistries({ ...configOf({ RDAP_BOOTSTRAP_URL: url }), clock })
  expect(gone).toMatchObject([{ level: 'warning' }])
  expect(await checkRegistries({ ...configOf({ RDAP_BOOTSTRAP_URL: 'none' }), clock })).toEqual([])
})

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return (server.address() as AddressInfo).port
}
