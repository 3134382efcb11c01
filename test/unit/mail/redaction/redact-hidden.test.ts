import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { leafText, leavesOf, parseMimeTree } from '../../../../src/mail/mime-tree.ts'
import { redactToBytes } from '../../../support/redacted.ts'
import { expectEffort } from '../../../support/effort.ts'

const address = 'jane.doe@mailbox.example'
const key = Buffer.alloc(32, 7)

/** Redacts a message; returns its header, and the decoded bodies of its parts. */
function redacted(text: string, addresses: readonly string[] = [address], authors: string[] = []) {
  const raw = Buffer.from(text.replaceAll('\n', '\r\n'))
  const outcome = redactToBytes(raw, { addresses, key, tokens: 'redacted', authors })
  const tree = parseMimeTree(outcome.raw)
  const body = tree ? leavesOf(tree).map(leafText).join('\n') : ''
  return { ...outcome, text: `${outcome.raw.toString('latin1')}\n${body}` }
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const lines = (text: string) => base64(text).replace(/.{76}/g, '$&\n')
const html = 'Content-Type: text/html\n\n'
const attached = (type: string, content: string) =>
  `Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: ${type}\n\n${content}\n--B--\n`

test.for([
  ['cut by tags', `${html}<b>jane.doe</b><i>@</i><u>mailbox.example</u>`, /mailbox\.example/],
  ['cut at a dot', `${html}jane.doe@mailbox<b>.</b>example`, /mailbox/],
  ['cut by comments', `${html}jane.doe<!-- -->@<!-- -->mailbox.example`, /mailbox\.example/],
  ['in named references', `${html}jane&period;doe&commat;mailbox&period;example`, /mailbox/],
  ['in quotes', `\n"jane.doe"@mailbox.example`, /mailbox/],
  ['escaped', `\njane.doe\\@mailbox.example`, /mailbox/],
  ['in base64 twice', `${html}atob(atob("${base64(base64(address))}"))`, /YW1G/],
  [
    'over lines of base64 in a text',
    `\nContent-Transfer-Encoding: base64\n\n${lines(`${'x'.repeat(50)}${address} and more`)}`,
    /lLmRv\s+ZUBtY|eHhqYW5l/,
  ],
  [
    'the same in an attached file',
    attached('application/octet-stream', `X: y\n\n${lines(`${'x'.repeat(50)}${address} more`)}`),
    /eHhqYW5l/,
  ],
  ['as SHA-512', `\n${createHash('sha512').update(address).digest('hex')}`, /[0-9a-f]{100}/],
  ['as MD5 in base64', `\nh ${createHash('md5').update(address).digest('base64')}`, /[^\n]==/],
  [
    'in UTF-7',
    'Content-Type: text/plain; charset=utf-7\n\n' +
      `+${Buffer.from(address, 'utf16le').swap16().toString('base64').replace(/=+$/, '')}-`,
    /AGoAYQBu/,
  ],
  [
    'in a parameter in pieces',
    attached(`text/plain; name*0="jane.d"; name*1="oe@mailbox.example"`, 'hi'),
    /jane\.d|oe@/,
  ],
  [
    'in an encoded parameter in pieces',
    attached(`text/plain; name*0*=utf-8''jane.d; name*1*=oe%40mailbox.example`, 'hi'),
    /jane\.d|oe%40/,
  ],
  ['what a signature copied', `DKIM-Signature: v=1; z=To:=22Doe=22; b=a\n\nhi`, /Doe=22/],
] as const)('an address is found: %s', ([, text, leak]) => {
  const outcome = redacted(text)
  expect(outcome.text).not.toMatch(leak)
  expect(outcome.form).toBe('whole')
})

test.for([
  ['a tag nobody told us of', 'jane@mailbox.example', 'jane+shop@mailbox.example'],
  ['dots that mean nothing', 'jane.doe@gmail.com', 'ja.ned.oe@gmail.com'],
  ['the other name of a provider', 'jane.doe@gmail.com', 'janedoe@googlemail.com'],
  ['a domain as DNS has it', 'jane@bücher.example', 'jane@xn--bcher-kva.example'],
  ['a domain as people read it', 'jane@xn--bcher-kva.example', 'jane@bücher.example'],
] as const)('the same mailbox under another name: %s', ([, known, written]) => {
  expect(redacted(`X-A: <${written}>\n\n${written}\n`, [known]).text).not.toMatch(/ja\.?ne/)
})

test.for([
  ['a local user', `Received: by mx.mailbox.example with LMTP id 1 for <jd>; Tue, 3 Nov 2026`],
  ['the same without brackets', `Received: by mx.mailbox.example id 1 for jd; Tue, 3 Nov 2026`],
  ['who sent it on', `Resent-From: J <jd@work.example>\nResent-Sender: jd@work.example`],
  ['a field for the mailbox', 'X-Envelope-Recipient: jd@work.example'],
] as const)('the header does not contain %s', ([, field]) => {
  expect(redacted(`${field}\n\nHello.\n`).text).not.toMatch(/\bjd\b/)
})

test.for([
  ['Иван Петров', 'utf-8', 'Здравствуйте, Иван Петров!', /Иван|Петров/],
  ['Роман Рыбин', 'utf-8', 'РОМАН РЫБИН', /РЫБИН/],
  ['Élodie Müller', 'utf-8', 'Bonjour Élodie Müller,', /lodie/],
  ['Łukasz Żak', 'utf-8', 'Witaj Łukasz Żak.', /ukasz/],
] as const)('the name %s is found in %s', ([name, charset, said, leak]) => {
  const head = `To: =?utf-8?B?${base64(name)}?= <${address}>\n`
  const { raw } = redacted(`${head}Content-Type: text/plain; charset=${charset}\n\n${said}\n`)
  expect(raw.toString()).not.toMatch(leak)
})

test('a name is found in a single-byte charset', () => {
  const name = Buffer.from([0xc8, 0xe2, 0xe0, 0xed, 0x20, 0xcf, 0xe5, 0xf2, 0xf0, 0xee, 0xe2])
  const head = `To: =?utf-8?B?${base64('Иван Петров')}?= <${address}>\r\n`
  const type = 'Content-Type: text/plain; charset=windows-1251\r\n\r\n'
  const raw = Buffer.concat([Buffer.from(head + type), name])
  const outcome = redactToBytes(raw, { addresses: [address], key, tokens: 'redacted' })
  expect(outcome.raw.includes(name)).toBe(false)
})

test('an address in the name of a field with encoded words is found', () => {
  const word = '=?utf-8?B?TDN2Wks5Wm1IWklNRUdRZ0gyNU9LM2FRMTM1cVhHSw==?='
  const { text, form } = redacted(`X-A"jane.doe\\u0040mailbox.example"-B: ${word}\n\nHello.\n`)
  expect(text).not.toContain('mailbox.example')
  expect(form).toBe('whole')
})

test('a short name at the beginning of a line is a salutation; elsewhere it is a word', () => {
  const { text } = redacted('Subject: Paris, you won\n\nA trip to Paris, now.\n', [
    'paris@b.example',
  ])
  expect(text).not.toContain('Subject: Paris')
  expect(text).toContain('A trip to Paris, now.')
})

test.for([
  ['its name', 'example.com@victim.example', 'https://example.com/x'],
  ['its slashes', '/@example.com', 'https://example.com/x'],
  ['its end', 'login@example.com', 'https://login-example.com/x'],
  ['its name, below it', 'example.com@victim.example', 'https://www.example.com/x'],
] as const)('a sender cannot hide a host behind a recipient: %s', ([, to, link]) => {
  expect(redacted(`To: ${to}\n\nGo to ${link} now.\n`).text).toContain(link)
})

test('a name left of the registrable domain is found', () => {
  const { text } = redacted('\nhttps://jane.doe.example.com/x\n')
  expect(text).not.toContain('jane.doe')
  expect(text).toContain('.example.com/x')
})

test('a link in a page of another type, or before the parts, loses its token', () => {
  const page = '<a href="https://x.example/u/a8f7d6c5b4e3f2a1">'
  expect(redacted(attached('application/octet-stream; name=a.html', page)).text).not.toContain(
    'a8f7',
  )
  const before = attached('text/plain', 'hi').replace(
    '\n\n',
    '\n\nhttps://x.example/u/a8f7d6c5b4\n',
  )
  expect(redacted(before).text).not.toContain('a8f7')
})

test('an author who verifiably wrote to themselves and others stays visible', () => {
  const text = 'From: x@shop.example\nTo: x@shop.example\n\nHello.\n'
  expect(redacted(text, [address], ['x@shop.example']).text).toContain('From: x@shop.example')
  expect(redacted(text, [address]).text).not.toContain('x@shop.example')
  expect(redacted(text, ['x@shop.example'], ['x@shop.example']).text).not.toContain('x@shop')
  const delivered = `Delivered-To: x@shop.example\n${text}`
  expect(redacted(delivered, [address], ['x@shop.example']).text).not.toContain('x@shop')
})

test.for([
  ['tags', '@<b>'.repeat(50_000)],
  ['open tags', '@<'.repeat(100_000)],
  ['comments', '@<!--'.repeat(50_000)],
  ['lines of digits', `${'A'.repeat(76)}\r\n`.repeat(5_000)],
  ['domains', 'a.mailbox.example@'.repeat(10_000)],
  ['signs before a domain', `${'a+'.repeat(60)}@mailbox.example`.repeat(1_000)],
  ['pieces of parameters', `${';name*1=a'.repeat(10_000)}`],
] as const)('hostile text takes linear time: %s', async ([, text]) => {
  const field = `Content-Type: text/html${text.slice(0, 60_000).replaceAll('\r\n', '\n ')}`
  await expectEffort(() => redacted(`${field}\n\n${text}\n`), 5_000)
})
