import fc from 'fast-check'

/** One field of a part in a message: where it is, and its value as written. */
export type PartField = { name: string; value: string; start: number; end: number }

const base64 = (text: string) => Buffer.from(text).toString('base64')

/** The texts of the sample that stay visible, by the part that shows them. */
export const shownIn = {
  plain: { word: 'marmalade', link: 'https://plain.example/offer' },
  page: { word: 'gooseberry', link: 'https://page.example/offer' },
} as const

const extra = (part: string) => [
  `Content-ID: <${part}@example.com>`,
  `Content-Description: the ${part} (of this mail)`,
  `Content-Location: https://example.com/${part}`,
  'MIME-Version: 1.0 (by hand)',
]

/** A message with every field in every part. Its parts have names, for the tests. */
export const fullSample = [
  'From: Ann <ann@example.com>',
  'To: bob@example.org',
  'Subject: Offer',
  'Date: Sat, 28 Nov 2026 10:00:00 +0000',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="outer=_1"',
  'Content-Transfer-Encoding: 8bit',
  '',
  'For old programs.',
  '--outer=_1',
  'Content-Type: multipart/alternative; boundary="inner=_2"',
  '',
  '--inner=_2',
  'Content-Type: text/plain; charset="utf-8"; format=flowed',
  'Content-Transfer-Encoding: quoted-printable',
  'Content-Disposition: inline',
  ...extra('plain'),
  '',
  `Sweet ${shownIn.plain.word} for you only today: ${shownIn.plain.link}`,
  '--inner=_2',
  'Content-Type: text/html; charset=utf-8',
  'Content-Transfer-Encoding: base64',
  'Content-Disposition: inline',
  ...extra('page'),
  '',
  base64(
    `<html><body><p>Sweet ${shownIn.page.word} jam for you only today</p>` +
      `<a href="${shownIn.page.link}">here</a></body></html>`,
  ),
  '--inner=_2--',
  '--outer=_1',
  'Content-Type: image/jpeg; name="x.jpg"',
  'Content-Transfer-Encoding: base64',
  'Content-Disposition: attachment; filename="x.jpg"; size=20',
  ...extra('picture'),
  '',
  base64('not quite a picture of anything'),
  '--outer=_1',
  'Content-Type: message/rfc822',
  "Content-Disposition: attachment; filename*=utf-8''a%20b.eml",
  '',
  'From: eve@example.net',
  'Subject: inside',
  'Content-Type: text/plain',
  '',
  'Nothing.',
  '--outer=_1--',
  '',
].join('\r\n')

const partField = /^(content-[a-z-]+|mime-version):([^\n]*(?:\n[ \t][^\n]*)*)$/gim

/** Finds the fields of all parts of a message, also of the message itself. `raw` is Latin-1. */
export function partFieldsIn(raw: string): PartField[] {
  return [...raw.matchAll(partField)].map(({ 0: whole, 1: name = '', index }) => {
    const start = index + name.length + 1
    const end = index + whole.replace(/\r$/, '').length
    return { name: name.toLowerCase(), value: raw.slice(start, end), start, end }
  })
}

/** Values that belong to no field, or to another one. */
export const oddValues = [
  ...[
    '',
    ' ',
    ';',
    ' ;',
    ' "";',
    ' ""',
    ' "',
    ' \\',
    ' (',
    ' (open',
    ' ()',
    ' ; name="x.jpg"',
    ' =',
    ' /',
  ],
  ...[' text', ' text/', ' /html', ' text//html', ' text / html', ' "text/html"', " 'text/html'"],
  ...[' text/html charset=utf-8', ' text/html, charset=utf-8', ' text/html:charset=utf-8'],
  ...[
    ' text/html; charset',
    ' text/html; charset=',
    ' text/html;; charset=;',
    ' text/html;charset="utf-8',
  ],
  ...[
    ' text/html; charset=x-unknown',
    ' text/html; charset="(utf-8)"',
    " text/html; charset*=''utf-8",
  ],
  ...[
    ' (a (nested) comment) text/html (another)',
    ' TEXT/HTML',
    ' text/unknown',
    ' text/x-new; format',
  ],
  ...[
    ' =?utf-8?Q?text/html?=',
    ' =?x-unknown?B?QUJD?=',
    ' =?x?Q?=ff?=; name="=?x-unknown?B?QUJD?="',
  ],
  ...[
    ' text/html; name="=?utf-8?Q?',
    " text/html; name*=x-unknown'en'%FF%",
    ' text/html; name*0=a; name*2=c',
  ],
  ...[
    ' \0',
    ' text/html\0; charset=utf-8',
    ' \xff\xfe',
    ' text/html; name=\xe9',
    ' \x01\x7f',
    ' \r text/html',
  ],
  ...['\r\n text/html;\r\n\tcharset=utf-8', '\r\n \r\n text/html', ' text/html;\r charset=utf-8'],
  ...[
    ' 8bit',
    ' base64;',
    ' "base64"',
    ' x-uuencode',
    ' quoted-printable charset=utf-8',
    ' 7bit, base64',
  ],
  ...[
    ' inline; filename',
    ' attachment',
    ' other',
    ' ; filename=a',
    ' 1.0',
    ' __proto__',
    ' constructor',
  ],
  ...[
    ' text/html; __proto__=x; constructor=y',
    ' multipart/mixed',
    ' multipart/mixed; boundary=""',
  ],
  ...[
    ' multipart/mixed; boundary=none',
    ' multipart/digest; boundary=x',
    ' message/rfc822',
    ' message/partial',
  ],
  ...[
    ' application/octet-stream; name=a.html',
    ' application/octet-stream',
    ' text/plain; boundary="inner=_2"',
  ],
] as const

const longPieces = [
  'a',
  ';',
  '"',
  '(',
  '\\',
  '=',
  ' ',
  '/',
  '\xff',
  '\0',
  'a=b;',
  ' "a',
  '\r\n ',
  ',a*0=b',
  ';=;',
]

/** A way to damage the value of a field. */
type Damage = { name: string; apply: (value: string) => string }

const changedTo = ['\0', '\r', '\xff', '"', ';', ' ', '(', 'x', '=', '\\']

/** Lists the ways to damage one value: cut and changed at each place, replaced, and very long. */
export function damagesOf(value: string): Damage[] {
  const places = Array.from({ length: value.length }, (_, at) => at)
  return [
    ...oddValues.map((odd) => ({ name: `is ${JSON.stringify(odd)}`, apply: () => odd })),
    ...places.map((at) => ({ name: `cut at ${at}`, apply: (its: string) => its.slice(0, at) })),
    ...places.flatMap((at) =>
      changedTo.map((byte) => ({
        name: `${JSON.stringify(byte)} at ${at}`,
        apply: (its: string) => its.slice(0, at) + byte + its.slice(at + 1),
      })),
    ),
    ...places.map((at) => ({
      name: `folded at ${at}`,
      apply: (its: string) => `${its.slice(0, at)}\r\n\t${its.slice(at)}`,
    })),
    ...longPieces.flatMap((piece) => {
      const long = piece.repeat(20_000 / piece.length)
      return [
        { name: `${JSON.stringify(piece)} repeated`, apply: () => long },
        { name: `${JSON.stringify(piece)} repeated behind`, apply: (its: string) => its + long },
        {
          name: `${JSON.stringify(piece)} repeated in a name`,
          apply: (its: string) => `${its}; name="${long}"`,
        },
      ]
    }),
  ]
}

/** Replaces the value of a field. */
export function withValue(raw: string, { start, end }: PartField, value: string): string {
  return raw.slice(0, start) + value + raw.slice(end)
}

/** Repeats a field with another value, before or after it. */
export function withRepeated(
  raw: string,
  field: PartField,
  value: string,
  isFirst: boolean,
): string {
  const { name, start, end } = field
  const at = isFirst ? start - name.length - 1 : end
  const line = isFirst ? `${name}:${value}\r\n` : `\r\n${name}:${value}`
  return raw.slice(0, at) + line + raw.slice(at)
}

/** Generates messages whose part fields are damaged in one to three places. */
export function damagedMail(bases: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const samples = [fullSample, ...bases.map((raw) => raw.toString('latin1'))]
  const share = fc.double({ min: 0, max: 0.999_999, noNaN: true })
  const one = fc.record({ field: share, how: share, repeats: fc.constantFrom(0, 0, 0, 1, 2) })
  return fc
    .tuple(fc.constantFrom(...samples), fc.array(one, { minLength: 1, maxLength: 3 }))
    .map(([sample, changes]) =>
      changes.reduce((raw, { field, how, repeats }) => {
        const fields = partFieldsIn(raw)
        const chosen = fields[Math.floor(field * fields.length)]
        if (!chosen) return raw
        const odd = oddValues[Math.floor(how * 2 * oddValues.length)]
        const damages = odd === undefined ? damagesOf(chosen.value.slice(0, 300)) : []
        const damage = damages[Math.floor((how * 2 - 1) * damages.length)]
        const value = odd ?? damage?.apply(chosen.value) ?? ''
        if (repeats === 0) return withValue(raw, chosen, value)
        return withRepeated(raw, chosen, value, repeats === 1)
      }, sample),
    )
    .map((text) => Buffer.from(text, 'latin1'))
}
