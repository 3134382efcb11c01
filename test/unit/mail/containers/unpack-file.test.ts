import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { unpackFile } from '../../../../src/mail/containers/unpack-file.ts'
import {
  compoundFile,
  keptRtf,
  outlookFile,
  outlookStorage,
  traveledHeader,
} from '../../../support/containers/outlook-file.ts'
import { zipFile } from '../../../support/containers/zip-file.ts'

const limits = { messagesMax: 500, entriesMax: 2_000, unpackedBytesMax: 50_000_000 }

function mail(mark: string): Buffer {
  return Buffer.from(`From: a@b.example\r\nSubject: ${mark}\r\n\r\nText of ${mark}.\r\n`)
}

/** Returns the result of a file as short texts: `name: subject` or `name: refusal`. */
async function told(bytes: Buffer, changed: Partial<typeof limits> = {}): Promise<string[]> {
  const found = await unpackFile({ name: 'it', bytes }, { ...limits, ...changed })
  return found.map((one) => {
    const subject = 'raw' in one && /^Subject: (.*)$/m.exec(one.raw.toString('latin1'))?.[1]
    return `${one.name}: ${'raw' in one ? (subject || 'no subject').trim() : one.refusal}`
  })
}

test('a file with only a message is returned byte for byte', async () => {
  const raw = mail('one')
  const [found] = await unpackFile({ name: 'a.zip', bytes: raw }, limits)
  expect(found).toEqual({ name: 'a.zip', raw })
})

test('an archive and the files in it are detected by their bytes', async () => {
  const inside = [
    { name: 'mails/', content: Buffer.alloc(0) },
    { name: 'mails/a.txt', content: mail('one') },
    { name: '__MACOSX/mails/._a.eml', content: Buffer.from('chaff') },
    { name: '../../etc/b.eml', content: mail('two') },
    { name: 'stored.eml', content: mail('three'), method: 0, packed: mail('three') },
    { name: 'c.bin', content: outlookFile({ header: traveledHeader, text: 'x' }) },
    { name: 'sent.msg', content: outlookFile({ text: 'x' }) },
    { name: 'inner.zip', content: zipFile([{ name: 'd.eml', content: mail('four') }]) },
  ]
  expect(await told(zipFile(inside))).toEqual([
    'it › mails/a.txt: one',
    'it › ../../etc/b.eml: two',
    'it › stored.eml: three',
    'it › c.bin: Cheap watches',
    'it › sent.msg: no-header',
    'it › inner.zip: nested-archive',
  ])
})

test.for([
  ['an empty archive', zipFile([]), ['it: not-a-message']],
  [
    'an Office document',
    zipFile([{ name: '[Content_Types].xml', content: Buffer.from('<x/>') }]),
    ['it: not-a-message'],
  ],
  [
    'a cut archive',
    zipFile([{ name: 'a', content: mail('a') }]).subarray(0, 60),
    ['it: damaged-archive'],
  ],
  [
    'a locked file in an archive',
    zipFile([
      { name: 'a', content: mail('a'), flags: 1 },
      { name: 'b', content: mail('b') },
    ]),
    ['it › a: encrypted-archive', 'it › b: b'],
  ],
  [
    'a file whose checksum is wrong',
    zipFile([
      { name: 'a', content: mail('a'), crc: 7 },
      { name: 'b', content: mail('b') },
    ]),
    ['it › a: damaged-archive', 'it › b: b'],
  ],
  [
    'a packing that nobody uses',
    zipFile([{ name: 'a', content: mail('a'), method: 14 }]),
    ['it › a: damaged-archive'],
  ],
  [
    'a compound file that is no message',
    compoundFile({ WordDocument: Buffer.from('x') }),
    ['it: not-a-message'],
  ],
] as const)('%s is reported as such', async ([, bytes, expected]) => {
  expect(await told(bytes)).toEqual(expected)
})

test('of too many messages the first are accepted, and the rest is reported', async () => {
  const three = ['a', 'b', 'c'].map((name) => ({ name, content: mail(name) }))
  const two = { messagesMax: 2 }
  expect(await told(zipFile(three), two)).toEqual([
    'it › a: a',
    'it › b: b',
    'it: too-many-messages',
  ])
  expect(await told(zipFile(three), { messagesMax: 3 })).toHaveLength(3)
  const box = Buffer.from(
    ['a', 'b', 'c']
      .map((mark) => `From x Mon Nov 16 10:00:00 2026\n${mail(mark).toString()}\n`)
      .join(''),
  )
  expect(await told(box, two)).toEqual(['it › 1: a', 'it › 2: b', 'it: too-many-messages'])
})

test('an Apple Mail file gives the message without the data that Apple adds', async () => {
  const raw = mail('apple')
  const bytes = Buffer.concat([
    Buffer.from(`${raw.length}      \n`),
    raw,
    Buffer.from('<?xml ?><plist/>'),
  ])
  const [found] = await unpackFile({ name: 'x', bytes }, limits)
  expect(found).toEqual({ name: 'x', raw })
})

test('an Outlook file gives its original header, and a body with the same content', async () => {
  const bytes = outlookFile({
    header: `Microsoft Mail Internet Headers Version 2.0\r\n${traveledHeader}`,
    text: 'Café',
    html: '<p>Caf\u00e9 <a href="https://shop.example">buy</a></p>',
    files: [
      { name: 'prix été.pdf', type: 'application/pdf', content: Buffer.alloc(5_000, 7) },
      { name: 'x', type: 'text/html\r\nBcc: a@b', content: Buffer.from('x') },
      { name: 'inner', content: outlookStorage({ header: traveledHeader, text: 'inside' }) },
      { name: 'note', content: outlookStorage({ text: 'never traveled' }) },
    ],
  })
  const [found] = await unpackFile({ name: 'x', bytes }, limits)
  if (!found || !('raw' in found)) throw new Error('nothing was found')
  expect(found.rebuiltFrom).toBe('msg')
  const parsed = await simpleParser(found.raw)
  expect(found.raw.toString()).toMatch(/^Received: from mail\.shop\.example .*\r\n by mx/)
  expect(parsed.text).toContain('Café')
  expect(parsed.html).toContain('https://shop.example')
  expect(
    parsed.attachments.map(({ filename, contentType, size }) => [filename, contentType, size]),
  ).toEqual([
    ['prix été.pdf', 'application/pdf', 5_000],
    ['x', 'application/octet-stream', 1],
    ['inner', 'message/rfc822', expect.any(Number)],
  ])
  expect(await unpackFile({ name: 'x', bytes }, limits)).toEqual([found])
})

test('HTML wrapped in RTF by Outlook is unwrapped; real RTF is kept', async () => {
  const wrapped =
    '{\\rtf1\\ansi\\ansicpg1252\\fromhtml1 {\\fonttbl{\\f0 Arial;}}' +
    "{\\*\\htmltag64 <p>}Caf\\'e9{\\*\\htmltag72 </p>}}"
  const htmlOf = async (rtf: string) => {
    const bytes = outlookFile({ header: traveledHeader, text: 'x', rtf: keptRtf(rtf) })
    const [found] = await unpackFile({ name: 'x', bytes }, limits)
    return found && 'raw' in found ? (await simpleParser(found.raw)).html : undefined
  }
  expect(await htmlOf(wrapped)).toContain('<p>Café</p>')
  expect(await htmlOf('{\\rtf1\\ansi plain text}')).toBe(false)
})

const zipOf = (files: readonly (readonly [string, Buffer])[]) =>
  zipFile(files.map(([name, content]) => ({ name, content })))
const emlx = (mark: string) => {
  const raw = mail(mark)
  return Buffer.concat([Buffer.from(`${raw.length}\n`), raw, Buffer.from('<plist/>')])
}
const other = Buffer.from('\x01\x02 no mail')

test.for<[string, readonly (readonly [string, Buffer])[], string[]]>([
  [
    'a Maildir',
    [
      ['Junk/cur/1795860000.M1P2.host,S=9:2,S', mail('a')],
      ['Junk/new/1795860001.M1P2.host', mail('b')],
      ['Junk/tmp/1795860002.M1P2.host', mail('c')],
      ['Junk/dovecot-uidlist', other],
      ['Junk/dovecot.index.cache', other],
      ['Junk/maildirfolder', Buffer.alloc(0)],
    ],
    ['it › Junk/cur/1795860000.M1P2.host,S=9:2,S: a', 'it › Junk/new/1795860001.M1P2.host: b'],
  ],
  [
    'a Maildir of Courier, packed from inside',
    [
      ['cur/1.a.host:2,', mail('a')],
      ['courierimapuiddb', other],
      ['maildirsize', other],
    ],
    ['it › cur/1.a.host:2,: a'],
  ],
  [
    'a mailbox folder of Apple Mail',
    [
      ['Junk.mbox/Info.plist', other],
      ['Junk.mbox/Messages/1.emlx', emlx('a')],
      ['Junk.mbox/Messages/2.partial.emlx', emlx('b')],
      ['Junk.mbox/Attachments/2/2/picture.png', other],
      ['__MACOSX/Junk.mbox/._Info.plist', other],
    ],
    ['it › Junk.mbox/Messages/1.emlx: a', 'it › Junk.mbox/Messages/2.partial.emlx: b'],
  ],
  [
    'a deeper mailbox folder of Apple Mail',
    [
      ['V10/X.mbox/A-B/Data/4/Messages/9.emlx', emlx('a')],
      ['V10/X.mbox/A-B/Data/4/Attachments/9/1/a.pdf', other],
    ],
    ['it › V10/X.mbox/A-B/Data/4/Messages/9.emlx: a'],
  ],
  [
    'an exported mailbox folder of Apple Mail',
    [
      [
        'Junk.mbox/mbox',
        Buffer.from(`From a@b\n${mail('a').toString()}From c@d\n${mail('b').toString()}`),
      ],
      ['Junk.mbox/table_of_contents', other],
    ],
    ['it › Junk.mbox/mbox › 1: a', 'it › Junk.mbox/mbox › 2: b'],
  ],
  [
    'a folder of Thunderbird',
    [
      ['Junk', Buffer.from(`From \n${mail('a').toString()}\nFrom \n${mail('b').toString()}`)],
      ['Junk.msf', other],
    ],
    ['it › Junk › 1: a', 'it › Junk › 2: b'],
  ],
  ['a message named like such a file', [['subscriptions', mail('a')]], ['it › subscriptions: a']],
  ['only such files', [['maildirsize', other]], ['it: not-a-message']],
])(
  'in an archive, the messages of %s are found, and its other files ignored',
  async ([, files, expected]) => {
    expect(await told(zipOf(files))).toEqual(expected)
  },
)

test('a data file of Outlook is refused as such, also in an archive', async () => {
  const pst = Buffer.concat([Buffer.from('!BDN'), Buffer.alloc(600, 1)])
  expect(await told(pst)).toEqual(['it: outlook-data-file'])
  expect(await told(zipOf([['a.pst', pst]]))).toEqual(['it › a.pst: outlook-data-file'])
})
