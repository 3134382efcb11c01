import { createHash } from 'node:crypto'
import type { ParsedMail } from 'mailparser'
import { describe, expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { address, copyOf, header, reportOn, valuesOf } from '../../support/composed-copy.ts'
import { copyIn, wrongLines } from '../../support/copied-message.ts'
import { contentOf } from '../../support/feedback-reports.ts'
import { withinTime } from '../../support/nasty-mail.ts'

const code = /redacted-[a-z2-7]{16}/

function noteOf(copy: ParsedMail): string {
  return valuesOf(copy, 'X-Signalpost-Copy').join()
}

/** The lines below a title, up to an empty line. */
function listed({ text = '' }: ParsedMail, title: string): string[] {
  const [, list = ''] = text.split(`${title}\n`)
  return (list.split('\n\n')[0] ?? '').split('\n').filter((line) => line !== '')
}

const utf8 = 'Content-Type: text/plain; charset=utf-8'
const html = 'Content-Type: text/html; charset=utf-8'
const inHtml = (page: string) => copyOf([html], `<html><body>${page}</body></html>`)

/** Composes a message of parts, each with its header. */
function mixed(...parts: readonly string[]): [fields: string[], body: string] {
  const body = parts.map((part) => `--b\r\n${part}\r\n`).join('')
  return [['Content-Type: multipart/mixed; boundary=b'], `${body}--b--\r\n`]
}

test('a copy is a message that other programs read: the header and one text', async () => {
  const copy = await copyOf(['Subject: Cheap watches'], 'Buy now.\r\n')
  expect(copy.subject).toBe('Cheap watches')
  expect(copy.from?.value).toEqual([{ name: 'Great Offers', address: 'offers@shop.example' }])
  expect(copy.date).toEqual(new Date('2026-11-03T08:14:57Z'))
  expect(copy.headers.get('content-type')).toMatchObject({ value: 'text/plain' })
  expect(copy.text).toMatch(/^Buy now\.\n/)
  expect(copy.attachments).toEqual([])
})

const word = 'x'.repeat(2_000)
const long = 'long '.repeat(400)

test.for<[what: string, fields: readonly string[], body: string]>([
  ['8-bit text without a charset', [], 'caf\xe9 \xff\xfe\x80\r\n'],
  ['8-bit text in fields', ['Subject: caf\xe9', 'X-Mailer: Ren\xe9 1.0'], 'Hi\r\n'],
  ['a long line', [], `${long}\r\n`],
  ['a long line beyond ASCII', [], `${long}\xe9\r\n`],
  ['a long word', [], `${word}\r\n`],
  ['long fields', [`Subject: ${word}`, `Message-ID: <${word}@x.example>`], 'Hi\r\n'],
  [
    'many words in a field',
    [`Subject: ${long}`, `References: ${'<a@b.example> '.repeat(300)}`],
    '',
  ],
  ['a long link', [], `https://shop.example/${'very/long/'.repeat(190)}\r\n`],
  ['a long name of a file', ...mixed(`Content-Type: image/gif; name="${word}.gif"\r\n\r\nGIF`)],
  ['NULs', ['Subject: a\0b'], 'a\0b\0\0c\r\n'],
  ['control characters', ['Subject: a\x1b[2Jb'], 'a\x1b[2J\x07\x7f\x85b\r\n'],
  ['LFs', [], 'one\ntwo\n\nthree'],
  ['CRs', [], 'one\rtwo\r\rthree'],
  ['no line end', [], 'one'],
  ['no body', [], ''],
  ['an unknown transfer encoding', ['Content-Transfer-Encoding: x-uuencode'], '\xe9\xe9\r\n'],
  ['a broken multipart', ['Content-Type: multipart/mixed; boundary="\xe9"'], '--\xe9\r\n\r\n\xe9'],
])(
  'a report has lines of at most 998 7-bit characters when the original has %s',
  async ([, ...one]) => {
    const [fields, body] = one
    for (const form of ['whole', 'headers'] as const) {
      const report = await reportOn(fields, Buffer.from(body, 'latin1'), { form })
      expect(wrongLines(report)).toEqual([])
    }
    expect((await copyOf(fields, Buffer.from(body, 'latin1'))).text).toContain(
      'The original message',
    )
  },
)

test('a copy is the same whatever the line ends of the original', async () => {
  const raw = [...header, 'Subject: Buy', html, '', '<p>Buy <b>now</b>.', '<p>Go.', ''].join('\r\n')
  const copies = ['\r\n', '\n', '\r'].map(async (lineEnd) => {
    const message = Buffer.from(raw.replaceAll('\r\n', lineEnd))
    const analysis = await analyzePlainly(message, { trustedRelays: [], ignoreStamps: false })
    const { text, headerLines } = await copyIn(
      (await composeFeedback(message, analysis, contentOf(1))).raw,
    )
    return { headerLines, text: text?.replace(/\d+ bytes, SHA-256 \w+/g, '') }
  })
  const [first, ...others] = await Promise.all(copies)
  expect(first?.text).toContain('Buy now')
  for (const other of others) expect(other).toEqual(first)
})

test.for([
  ['numbers with dots', '1.2.3'],
  ['addresses of machines', '9.1.1.1'],
  ['no-break spaces', '\u00a0 '],
  ['narrow no-break spaces', '\u202f'],
  ['spaces', ' '],
  ['at signs', 'a@'],
  ['beginnings of files', '-----BEGIN AAA-----\n'],
  ['parameters of a link', 'https://x.example/?a=a=a=b;'],
  ['codes', 'redacted-'],
  ['letters', 'x'],
])('a report on a message of many %s takes linear time', async ([, piece = '']) => {
  const text = piece.repeat(30_000 / piece.length)
  const body = Buffer.from(`${text}x\r\n`)
  const mailer = `X-Mailer: ${text.replace(/\s/g, ' ')}`
  for (const fields of [[utf8], [html], [mailer]]) {
    await withinTime(body, () => reportOn(fields, body))
  }
})

test('the same message gives the same copy', async () => {
  const [first, second] = [await reportOn([], 'Buy.'), await reportOn([], 'Buy.')]
  expect(first.equals(second)).toBe(true)
})

describe('the header of a copy', () => {
  test('has only fields from the list, and says which ones it does not have', async () => {
    const copy = await copyOf(
      [
        `Delivered-To: ${address}`,
        'X-Spam-Status: Yes, score=9',
        'Thread-Index: AdQwMTIz',
        'X-My-Secret-Name: 1',
        'X-Other-Secret-Name: 2',
        'X-Mailer: Blaster 3.1',
        'List-Unsubscribe: <https://shop.example/leave>',
      ],
      'Buy.',
    )
    expect(valuesOf(copy, 'X-Mailer')).toEqual(['Blaster 3.1'])
    expect(valuesOf(copy, 'List-Unsubscribe')).toEqual(['<https://shop.example/leave>'])
    const names = copy.headerLines.map(({ line }) => line.split(':', 1)[0])
    expect(names).toEqual([
      ...['Return-Path', 'Received', 'Received', 'From', 'To', 'Date'],
      ...['X-Mailer', 'List-Unsubscribe', 'X-Signalpost-Copy'],
      ...['MIME-Version', 'Content-Type', 'Content-Transfer-Encoding'],
    ])
    expect(noteOf(copy)).toMatch(
      /^composed from the message; .*; fields left out: Delivered-To, X-Spam, Thread-Index, 2 with other names$/,
    )
  })

  test('says that it was composed when no field was left out', async () => {
    const note = noteOf(await copyOf([], 'Buy.'))
    expect(note).toMatch(/^composed from the message; codes replace /)
    expect(note).not.toContain('left out')
  })

  test('keeps the servers of the hand-over, except those of few people', async () => {
    const [first = '', second = ''] = valuesOf(await copyOf([], 'Buy.'), 'Received')
    expect(first).toMatch(/^from mail\.shop\.example \(mail\.shop\.example \[192\.0\.2\.44\]\) /)
    expect(first).toMatch(
      /by redacted-[a-z2-7]{16}\.invalid .* for <redacted-[a-z2-7]{16}@redacted\.invalid>/,
    )
    expect(first).toMatch(/ id 4ABC .*; Tue, 3 Nov 2026 08:15:00 \+0000$/)
    expect(second).toMatch(/^from \[203\.0\.113\.9\] by mail\.shop\.example with ESMTPSA /)
  })

  test('has the recipient as a code, in every field', async () => {
    const copy = await copyOf([`Subject: Dear Zoe Quarry, ${address}`], `Dear Zoe: ${address}`)
    const [to = ''] = valuesOf(copy, 'To')
    expect(to).toMatch(/^redacted-[a-z2-7]{16}@redacted\.invalid$/)
    expect(copy.subject).toMatch(/^Dear redacted-[a-z2-7]{16}, redacted-[a-z2-7]{16}$/)
    expect(copy.text).toMatch(/^Dear redacted-[a-z2-7]{16}: redacted-[a-z2-7]{16}\n/)
    expect(copy.subject).toContain(to.replace('@redacted.invalid', ''))
  })

  test('has names in encoded words that other programs decode', async () => {
    const copy = await copyOf(
      ['Subject: =?koi8-r?B?8NLJ18XU?=', 'Reply-To: =?utf-8?Q?=C3=89va?= <e@x.example>'],
      '',
    )
    expect(copy.subject).toBe('Привет')
    expect(copy.replyTo?.value).toEqual([{ name: 'Éva', address: 'e@x.example' }])
  })

  test.for([
    ['Text/HTML; charset="KOI8-R"; name=zoe', 'text/html; charset=koi8-r'],
    ['multipart/mixed; boundary=zoe', 'multipart/mixed'],
    ['text/plain; charset=zoe4711', 'text/plain'],
    ['text', undefined],
  ])('says that the original was %s', async ([type, said]) => {
    const copy = await copyOf([`Content-Type: ${type ?? ''}`], 'Buy.')
    expect(valuesOf(copy, 'X-Original-Content-Type')).toEqual(said === undefined ? [] : [said])
    expect(copy.headers.get('content-type')).toMatchObject({ value: 'text/plain' })
  })

  test('is all that a consumer of headers gets', async () => {
    const report = await reportOn(['Subject: Buy'], 'Cheap watches', { form: 'headers' })
    const text = report.toString()
    expect(text).not.toContain('Cheap watches')
    const [, part = ''] = text.split('Content-Type: text/rfc822-headers\r\n')
    const copy = part.slice(part.indexOf('\r\n\r\n') + 4)
    const { fields } = parseHeader(Buffer.from(copy))
    expect(fields.map(({ name }) => name)).toEqual([
      ...['Return-Path', 'Received', 'Received', 'From', 'To', 'Date', 'Subject'],
      'X-Signalpost-Copy',
    ])
  })
})

describe('the text of a copy', () => {
  test.for([
    [
      'ISO-8859-1',
      'text/plain; charset=iso-8859-1',
      Buffer.from('Un caf\xe9.', 'latin1'),
      'Un café.',
    ],
    [
      'KOI8-R',
      'text/plain; charset=koi8-r',
      Buffer.from('\xf0\xd2\xc9\xd7\xc5\xd4', 'latin1'),
      'Привет',
    ],
    ['UTF-8', 'text/plain; charset=utf-8', Buffer.from('日本語 déjà'), '日本語 déjà'],
    [
      'HTML',
      'text/html; charset=utf-8',
      Buffer.from('<p>Un caf&eacute; <b>d&#233;j&agrave;</b> bu.'),
      'Un café déjà bu.',
    ],
  ] as const)('is UTF-8 when the original was %s', async ([, type, body, shown]) => {
    const copy = await copyOf([`Content-Type: ${type}`], body)
    expect(copy.text?.split('\n')[0]).toBe(shown)
    expect(copy.headers.get('content-type')).toMatchObject({ params: { charset: 'utf-8' } })
  })

  test('is what a person was shown: the page, without its markup', async () => {
    const copy = await copyOf(
      ['Content-Type: multipart/alternative; boundary=b'],
      [
        '--b\r\nContent-Type: text/plain\r\n\r\nThe plain text of this mail.\r\n',
        `--b\r\n${html}\r\n\r\n<style>p{color:red}</style><script>var a</script>`,
        '<h1>The page</h1><p>with more than four words.</p>\r\n--b--\r\n',
      ].join(''),
    )
    expect(copy.text).toMatch(/^The page\n\nwith more than four words\.\n/)
    expect(copy.text).not.toMatch(/plain text|color|var a/)
  })

  test.for([
    ['display:none', '<div style="display: none">secret words</div>'],
    ['visibility:hidden', '<span style="visibility:hidden;color:red">secret words</span>'],
    ['a font of no size', '<font style="font-size:0px">secret words</font>'],
    ['opacity', "<p style='opacity:0'>secret words</p>"],
    ['no height', '<div style="max-height:0;overflow:hidden">secret words</div>'],
    ['an attribute', '<p hidden>secret words</p>'],
    ['nested elements', '<div style="display:none"><div>secret</div> words</div>'],
  ])('has apart what is hidden by %s', async ([, hidden]) => {
    const copy = await inHtml(`<p>Shown before.</p>${hidden ?? ''}<p>Shown after.</p>`)
    const [shown = '', apart = ''] = (copy.text ?? '').split('\n\nHidden text:\n\n')
    expect(shown).toBe('Shown before.\n\nShown after.')
    expect(apart.split('Parts that are not')[0]?.trim()).toMatch(/^secret\s+words$/)
  })

  test('has nothing apart if all is shown', async () => {
    const { text } = await inHtml('<p style="display:block">Shown with usual style here.</p>')
    expect(text).not.toMatch(/hidden/i)
  })

  test('keeps words together that hidden text separates', async () => {
    const { text } = await inHtml('Your acc<i style="display:none">xq</i>ount is locked today.')
    expect(text).toMatch(/^Your account is locked today\.\n\nHidden text:\n\nxq\n/)
  })

  test('has what is hidden up to the end of the message', async () => {
    const { text } = await inHtml('<p>Four words before it.</p><div style="display:none">secret')
    expect(text).toMatch(/^Four words before it\.\n\nHidden text:\n\nsecret\n/)
  })

  test('cannot contain marks of hidden text from the message', async () => {
    const { text } = await inHtml('Four words before it. \uE000forged\uE001 <i hidden>real</i>')
    expect(text).toMatch(/^Four words before it\. forged\n\nHidden text:\n\nreal\n/)
  })

  test('says where it was cut', async () => {
    const { text } = await copyOf([], 'buy now\r\n'.repeat(10_000))
    expect(text).toMatch(/\n\[The text goes on for \d+ characters\.\]\n/)
    expect(text?.length).toBeLessThan(40_000)
  })

  test('says that there is none', async () => {
    expect((await copyOf(['Content-Type: image/gif'], 'GIF')).text).toMatch(/^\[no text\]\n/)
  })

  test('does not contain files that were written into it', async () => {
    const lines = [
      'begin 644 a.exe',
      "M5&AI<R!I<R!A(&9I;&4@=VAI8V@@:7,@;&]N9R!E;F]U9V@@9F]R('1W;R!L",
      '`',
      'end',
    ]
    const { text } = await copyOf([], ['See the file:', ...lines, 'Bye.'].join('\r\n'))
    expect(text).toMatch(/^See the file:\n\[encoded file\]\nBye\.\n/)
  })
})

describe('the links of a copy', () => {
  test('are listed once, in their order, with their places', async () => {
    const copy = await inHtml(
      [
        '<a href="https://two.example/shop?a=1">Go</a> or <a href="https://one.example/">here</a>',
        '<a href="https://two.example/shop?a=1">again</a> https://three.example/text',
        '<img src="https://pictures.example/logo.gif"> <a href="mailto:sales@shop.example">mail</a>',
      ].join(' '),
    )
    expect(listed(copy, 'Links in the message:')).toEqual([
      '- https://two.example/shop?a=1 (html)',
      '- https://one.example/ (html)',
      '- https://three.example/text (text)',
      '- https://pictures.example/logo.gif (picture)',
      '- mailto:sales@shop.example (other program)',
    ])
  })

  test('have codes for what identifies the recipient, and keep host and path', async () => {
    const copy = await inHtml(
      `<a href="https://shop.example/unsubscribe/Zq9xK2vLw7RtPm4s?m=${encodeURIComponent(address)}&lang=en">Leave</a>`,
    )
    const [link = ''] = listed(copy, 'Links in the message:')
    expect(link.replaceAll(new RegExp(code, 'g'), 'CODE')).toBe(
      '- https://shop.example/unsubscribe/CODE?m=CODE&lang=en (html)',
    )
  })

  test.for([
    ['with escapes', 'https://redirect.example/?u=https%3A%2F%2Ftarget.example%2Flogin'],
    ['without escapes', 'https://redirect.example/?u=https://target.example/login'],
    ['in a fragment', 'https://redirect.example/#https://target.example/login'],
  ])('keep the host of a link in them, %s', async ([, url]) => {
    const copy = await inHtml(`<a href="${url ?? ''}">Go</a>`)
    const [link = ''] = listed(copy, 'Links in the message:')
    expect(decodeURIComponent(link)).toMatch(
      /^- https:\/\/redirect\.example\/.*:\/\/target\.example\/login \(html\)$/,
    )
  })

  test('of one place do not displace those of another', async () => {
    const many = Array.from(
      { length: 120 },
      (_, at) => `<a href="https://many.example/${at}">x</a>`,
    )
    const copy = await inHtml(`${many.join(' ')} or type https://typed.example/ yourself`)
    const links = listed(copy, 'Links in the message:')
    expect(links).toContain('- https://typed.example/ (text)')
    expect(links.length).toBeLessThan(200)
  })
})

describe('the other parts of a copy', () => {
  const content = Buffer.from('MZ\x90 content of a file')
  const file = (type: string) =>
    `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${content.toString('base64')}`
  const sha256 = createHash('sha256').update(content).digest('hex')

  test('are described by type, name, size and hash alone', async () => {
    const copy = await copyOf(
      ...mixed(
        '\r\nSee the file.',
        file('application/x-msdownload; name="invoice.exe"'),
        file('application/zip'),
      ),
    )
    expect(copy.attachments).toEqual([])
    const parts = listed(copy, 'Parts that are not included:')
    expect(parts).toEqual([
      `- application/x-msdownload "invoice.exe", ${content.length} bytes, SHA-256 ${sha256}`,
      `- application/zip, ${content.length} bytes, SHA-256 ${sha256}`,
    ])
    expect(copy.text).not.toMatch(/content of a file|TVq/)
  })

  test('have names without the recipient', async () => {
    const copy = await copyOf(...mixed(file('application/pdf; name="Invoice Zoe Quarry.pdf"')))
    expect(copy.text).toMatch(/- application\/pdf "Invoice redacted-[a-z2-7]{16}\.pdf", /)
    const other = await copyOf(...mixed(file('application/zoe.quarry4711+pdf; name="a"')))
    expect(other.text).not.toContain('quarry')
  })

  test('are listed up to 50, and then counted', async () => {
    const copy = await copyOf(
      ...mixed(...Array.from({ length: 60 }, () => file('image/png; name=a.png'))),
    )
    const parts = listed(copy, 'Parts that are not included:')
    expect(parts).toHaveLength(51)
    expect(parts.at(-1)).toBe('- 10 more')
  })

  test('include the page, and the message itself', async () => {
    const page = '<html><body><p>Four words or more.</p></body></html>'
    const copy = await copyOf([html], page)
    expect(listed(copy, 'Parts that are not included:')).toEqual([
      '- text/html, about 1 KB, shown above as text',
    ])
    const raw = Buffer.from([...header, html, '', page].join('\r\n'))
    const whole = createHash('sha256').update(raw).digest('hex')
    expect(copy.text).toContain(`The original message: ${raw.length} bytes, SHA-256 ${whole}`)
  })
})

test('the sender cannot write a code into an address or the case of a list of names', async () => {
  const copy = await copyOf(
    [
      'Received-SPF: pass client-ip=192.0.2.44; client-ip=abad:cafe4711',
      'Received-SPF: pass client-ip=2001:DB8::7%zoe4711; client-ip=4711',
      'DKIM-Signature: v=1; d=shop.example; s=s1; h=fRoM:SubJecT:x-zoe4711',
    ],
    'Buy now.',
  )
  expect(valuesOf(copy, 'Received-SPF')).toEqual([
    'pass client-ip=192.0.2.44',
    'pass client-ip=2001:db8::7',
  ])
  expect(valuesOf(copy, 'DKIM-Signature')).toEqual(['v=1; d=shop.example; s=s1; h=from:subject'])
})
