import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composeLetter } from '../../../src/mail/letter.ts'
import type { OutgoingMail } from '../../../src/net/mailer.ts'
import { createSigner, readSigningKey, signing } from '../../../src/net/signing.ts'
import { ed25519Key, rsaKey, type SigningKey } from '../../support/signing.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'signing-'))))
afterAll(() => rm(folder, { recursive: true }))

const warnings: string[] = []
const log = { warn: (_: unknown, text: string) => void warnings.push(text) }

async function keyFrom(pem: string, domain = 'here.example') {
  const keyFile = path.join(folder, 'key.pem')
  await writeFile(keyFile, pem)
  const dkim = { domain, selector: 's1', keyFile }
  return readSigningKey({ dkim, mailFrom: 'feedback@mail.here.example' }, log as never)
}

const mail = composeLetter({
  from: 'feedback@mail.here.example',
  to: 'abuse@there.example',
  replyTo: 'answers@here.example',
  subject: 'A very long subject in many words, so that its line must be folded — été comme hiver',
  text: 'Hello  there.\n\n  Two blanks.  \n\n\n',
  language: 'en',
  date: new Date('2026-11-20T12:00:00Z'),
  messageId: '<1@here.example>',
  autoSubmitted: 'generated',
  unsubscribe: 'https://here.example/stop/1',
})

async function verify(raw: Buffer, { record }: SigningKey) {
  const { results } = await dkimVerify(raw, {
    resolver: (name: string) => {
      if (name === 's1._domainkey.here.example') return Promise.resolve([[record]])
      return Promise.reject(Object.assign(new Error(name), { code: 'ENOTFOUND' }))
    },
  })
  return results
}

test.for([
  ['RSA', rsaKey()],
  ['Ed25519', ed25519Key()],
] as const)('mail signed with %s is verified by another implementation', async ([, key]) => {
  const sign = createSigner(await keyFrom(key.privateKey))
  const [result] = await verify(sign(mail), key)
  expect(result?.status).toMatchObject({ result: 'pass', aligned: 'here.example' })
  expect(result?.canonBodyLengthLimited).toBe(false)
})

test('every mixture of spaces, tabs and line ends in a body is verified', async () => {
  const key = ed25519Key()
  const sign = createSigner(await keyFrom(key.privateKey))
  const header = mail.toString('latin1').split('\r\n\r\n', 1)[0] ?? ''
  const body = fc.array(fc.constantFrom(' ', '\t', '\r\n', 'a', 'é'), { maxLength: 12 })
  const verified = fc.asyncProperty(body, async (pieces) => {
    const raw = Buffer.from(`${header}\r\n\r\n${pieces.join('')}`, 'latin1')
    const [result] = await verify(sign(raw), key)
    expect(result?.status.result).toBe('pass')
  })
  await fc.assert(verified, { numRuns: 150 })
})

test.for([
  ['another subject', (text: string) => text.replace('Subject: ', 'Subject: Re: ')],
  ['a second From', (text: string) => `From: boss@here.example\r\n${text}`],
  ['a Cc that was not there', (text: string) => `Cc: all@there.example\r\n${text}`],
  ['another link to stop', (text: string) => text.replace('/stop/1', '/stop/2')],
  ['another word in the body', (text: string) => text.replace('Two', 'Three')],
] as const)('with %s it is not verified', async ([, change]) => {
  const key = ed25519Key()
  const sign = createSigner(await keyFrom(key.privateKey))
  const changed = Buffer.from(change(sign(mail).toString('latin1')), 'latin1')
  const [result] = await verify(changed, key)
  expect(result?.status.result).not.toBe('pass')
})

test('signing again gives the same bytes, and no second signature', async () => {
  const sign = createSigner(await keyFrom(rsaKey().privateKey))
  expect(sign(mail).equals(sign(mail))).toBe(true)
  expect(sign(sign(mail)).equals(sign(mail))).toBe(true)
  expect(sign(mail).toString()).toContain('; t=1795176000;')
})

test('the signature has lines that any server accepts', async () => {
  const sign = createSigner(await keyFrom(rsaKey(4096).privateKey))
  const signature = sign(mail).toString().split('\r\nFrom: ')[0] ?? ''
  expect(Math.max(...signature.split('\r\n').map(({ length }) => length))).toBeLessThan(79)
})

test('a mailer with a key sends nothing unsigned', async () => {
  const sent: OutgoingMail[] = []
  const mailer = {
    send: (one: OutgoingMail) => {
      sent.push(one)
      return Promise.resolve({ outcome: 'accepted', reply: '250 OK' } as const)
    },
    close: () => Promise.resolve(),
  }
  const key = await keyFrom(ed25519Key().privateKey)
  const envelope = { from: '', to: 'abuse@there.example' }
  await signing(mailer, key)?.send({ envelope, raw: mail })
  expect(sent[0]?.raw.toString()).toMatch(/^DKIM-Signature: v=1; a=ed25519-sha256;/)
  expect(signing(mailer, undefined)).toBe(mailer)
  expect(signing(undefined, key)).toBeUndefined()
})

const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
test.for([
  ['too short', rsaKey(768).privateKey, /768 bits: at least 1024/],
  ['no key', 'hello', /no private key in PEM/],
  ['of another kind', String(ecKey.export({ type: 'pkcs8', format: 'pem' })), /type ec/],
] as const)('a key that is %s is refused at start', async ([, pem, words]) => {
  await expect(keyFrom(pem)).rejects.toThrow(words)
})

test('a missing file is refused at start', async () => {
  const dkim = { domain: 'here.example', selector: 's1', keyFile: path.join(folder, 'none.pem') }
  const reading = readSigningKey({ dkim, mailFrom: 'a@here.example' }, log as never)
  await expect(reading).rejects.toThrow(/DKIM_KEY_FILE cannot be read/)
})

test('a domain unrelated to MAIL_FROM causes a warning, a parent does not', async () => {
  const { privateKey } = ed25519Key()
  warnings.length = 0
  await keyFrom(privateKey)
  expect(warnings).toEqual([])
  await keyFrom(privateKey, 'elsewhere.example')
  expect(warnings).toHaveLength(1)
})

test('without a setting nothing is signed', async () => {
  const key = await readSigningKey({ dkim: undefined, mailFrom: 'a@here.example' }, log as never)
  expect(createSigner(key)(mail)).toBe(mail)
})
