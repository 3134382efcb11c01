import { codes } from './codes.ts'
import { reversed } from './needles.ts'
import { base64, changed, escapeHtml, everywhere, percents, utf7, type Way, way } from './way.ts'

const prose = ['field', 'plain', 'html', 'attribute', 'file'] as const
const shown = ['plain', 'html'] as const
const markup = ['html', 'attribute', 'link'] as const

const all = [
  'address',
  'local',
  'full name',
  'single name',
  'telephone',
  'token',
  'domain',
] as const
const telling = ['address', 'local', 'full name'] as const
const notNumbers = ['address', 'local', 'full name', 'single name', 'domain'] as const
const notSingle = ['address', 'local', 'full name', 'telephone', 'token', 'domain'] as const
const fullNames = ['full name'] as const
const withAt = ['address'] as const

/** Ways that only change letters, or put something between them. */
const spellings: readonly Way[] = [
  way('as is', everywhere, [...all, 'port'], (text) => text),
  way('in capitals', everywhere, notNumbers, (text) => text.toUpperCase()),
  way('in small letters', everywhere, ['address', 'local', 'full name', 'domain'], (text) =>
    text.toLowerCase(),
  ),
  way('in mixed case', everywhere, ['address', 'local', 'full name', 'domain'], mixedCase),
  way('decomposed', prose, ['full name', 'single name'], (text) =>
    changed(text, text.normalize('NFD')),
  ),
  way('without accents', everywhere, ['full name', 'single name'], (text) =>
    changed(text, text.normalize('NFD').replace(/\p{M}/gu, '')),
  ),
  way('with zero-width spaces', prose, all, (text) => [...text].join('\u200b')),
  way('with soft hyphens', prose, all, (text) => [...text].join('\u00ad')),
  way('with word joiners', prose, all, (text) => [...text].join('\u2060')),
  way('with variation selectors', prose, all, (text) => [...text].join('\ufe00')),
  way('with Hangul fillers', shown, all, (text) => [...text].join('\u3164')),
  way('full-width', prose, all, (text) => latin(text, (code) => code + 0xfee0)),
  way('in mathematical letters', prose, all, mathematical),
  way('in circled letters', prose, ['address', 'local', 'full name', 'domain'], circled),
  way('with homoglyphs', prose, notNumbers, homoglyphs),
  way('in Arabic digits', prose, ['telephone', 'token'], (text) =>
    changed(
      text,
      text.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit))),
    ),
  ),
  way('with combining marks', prose, notSingle, (text) => [...text].join('\u0301')),
  way('with blanks between letters', [...shown, 'attribute'], notSingle, (text) =>
    [...text].join(' '),
  ),
  way('with no-break spaces', shown, notSingle, (text) => [...text].join('\u00a0')),
  way('with dots between letters', everywhere, ['address', 'local', 'full name'], (text) =>
    [...text].join('.'),
  ),
  way(
    'with dashes between letters',
    everywhere,
    ['address', 'local', 'full name', 'telephone'],
    (text) => [...text].join('-'),
  ),
  way('with slashes between letters', ['plain', 'html', 'link'], telling, (text) =>
    [...text.replaceAll(' ', '')].join('/'),
  ),
  way('with control characters', ['plain', 'html', 'file'], notSingle, (text) =>
    [...text].join('\u0001'),
  ),
  way('with corrected letters', ['plain'], notSingle, (text) => halved(text, 'X\b')),
  way('split by a line break', ['plain', 'html'], notSingle, (text) => halved(text, '\r\n')),
  way('split by a hyphen', ['plain', 'html'], notSingle, (text) => halved(text, '-\r\n')),
  way('split by a soft line break', ['plain', 'html', 'file'], notSingle, (text) =>
    halved(text, '=\r\n'),
  ),
  way('split by a quotation mark', ['plain'], notSingle, (text) => halved(text, '\r\n> ')),
  way('split by a fold', ['field'], notSingle, (text) => halved(text, '\r\n\t')),
  way('with (at) and [dot]', [...prose, 'link'], withAt, (text) =>
    text.replace('@', '(at)').replaceAll('.', '[dot]'),
  ),
  way('with the words at and dot', prose, withAt, (text) =>
    text.replace('@', ' at ').replaceAll('.', ' dot '),
  ),
  way('with blanks around @', prose, withAt, (text) => text.replace('@', ' @ ')),
  way('with comments', ['field'], withAt, (text) => text.replace('@', '(c)@(d)')),
  way('as VERP', everywhere, withAt, (text) => text.replace('@', '=')),
  way('domain first', everywhere, withAt, (text) => text.replace(/^(.*)@(.*)$/, '$2=$1')),
  way('local part in quotes', [...prose, 'link'], withAt, (text) =>
    text.replace(/^(.*)@/, '"$1"@'),
  ),
  way('in angle brackets', prose, withAt, (text) => `<${text}>`),
  ...['_', '+', '-', '.', '%20', '%2B', '/', ''].map((sign) =>
    way(`joined by "${sign}"`, everywhere, fullNames, (text) =>
      changed(text, text.replace(/,? /g, sign)),
    ),
  ),
]

/** Ways that use the syntax of HTML or of links. */
const escapes: readonly Way[] = [
  way(
    'signs percent-encoded',
    [...markup, 'plain', 'field', 'atom'],
    ['address', 'full name', 'single name'],
    (text) => changed(text, text.replace(/[^A-Za-z0-9]/gu, percents)),
  ),
  way('percent-encoded', everywhere, all, (text) => text.replace(/./gu, percents)),
  way('percent-encoded twice', everywhere, all, (text) =>
    text.replace(/./gu, percents).replaceAll('%', '%25'),
  ),
  way('percent-encoded thrice', ['link', 'plain'], all, (text) =>
    text.replace(/./gu, percents).replaceAll('%', '%2525'),
  ),
  way('percent-encoded in small letters', everywhere, all, (text) =>
    text.replace(/./gu, percents).toLowerCase(),
  ),
  way('first letter percent-encoded', ['link', 'plain', 'atom'], all, (text) =>
    text.replace(/^./u, percents),
  ),
  way('percent-encoded as UTF-16', ['link', 'plain', 'html'], all, (text) =>
    codesOf(text, (code) => `%u${code.toString(16).padStart(4, '0')}`),
  ),
  way('in octal escapes', ['plain', 'html', 'file', 'field'], telling, (text) =>
    text.replace(/[!-~]/g, (one) => `\\${one.charCodeAt(0).toString(8)}`),
  ),
  markupWay('entities in capitals', (text) =>
    entities(text, (code) => `&#X${code.toString(16).toUpperCase()};`),
  ),
  markupWay('entities without semicolons', (text) => entities(text, (code) => `&#${String(code)}`)),
  markupWay('decimal entities', (text) => entities(text, (code) => `&#${String(code)};`)),
  markupWay('hexadecimal entities', (text) => entities(text, (code) => `&#x${code.toString(16)};`)),
  markupWay('entities with zeros', (text) => entities(text, (code) => `&#0000${String(code)};`)),
  markupWay('entities twice', (text) => entities(text, (code) => `&amp;#${String(code)};`)),
  way('entities as text', ['plain', 'field'], notSingle, (text) =>
    entities(text, (code) => `&#${String(code)};`),
  ),
  {
    ...markupWay('named entities', (text) =>
      changed(
        text,
        text.replace('@', '&commat;').replaceAll('.', '&period;').replaceAll('_', '&lowbar;'),
      ),
    ),
    categories: withAt,
  },
  elementWay('split by <b>', (text) => divided(text, '<b>', '</b>')),
  elementWay('each letter in an element', (text) =>
    [...text].map((one) => `<span>${escapeHtml(one)}</span>`).join(''),
  ),
  elementWay('split by a comment', (text) => between(text, '<!-- x -->')),
  elementWay('split by an empty element', (text) => between(text, '<i class="a"></i>')),
  elementWay('split by <wbr>', (text) => between(text, '<wbr>')),
  elementWay('split by hidden text', (text) =>
    hiddenWithin(text, '<span style="display:none">qq</span>'),
  ),
  elementWay('split by small text', (text) =>
    hiddenWithin(text, '<font style="font-size:0">q</font>'),
  ),
  elementWay(
    'each letter in a cell',
    (text) =>
      `<table><tr>${[...text].map((one) => `<td>${escapeHtml(one)}</td>`).join('')}</tr></table>`,
  ),
  {
    ...elementWay(
      'reversed by bdo',
      (text) => `<bdo dir="rtl">${escapeHtml(reversed(text))}</bdo>`,
    ),
    categories: telling,
  },
  way('in JSON escapes', ['field', 'plain', 'file', 'html'], notSingle, (text) =>
    text.replace(/./g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ),
  way('in hexadecimal escapes', ['plain', 'file', 'link'], telling, (text) =>
    text.replace(/./gu, (one) => percents(one).replaceAll('%', '\\x')),
  ),
  way('in CSS escapes', ['html', 'plain'], telling, (text) =>
    [...text].map((one) => `\\${(one.codePointAt(0) ?? 0).toString(16)} `).join(''),
  ),
  way('as parts of a script', ['plain', 'html', 'file'], telling, (text) => halved(text, "' + '")),
  way('quoted-printable as text', ['plain', 'html', 'file'], notSingle, (text) =>
    text.replace(/./gu, (one) => percents(one).replaceAll('%', '=')),
  ),
  way('encoded word, base64', ['field', 'plain'], all, (text) => `=?utf-8?B?${base64(text)}?=`),
  way(
    'encoded word, quoted-printable',
    ['field', 'plain'],
    all,
    (text) => `=?UTF-8?Q?${text.replace(/./gu, (one) => percents(one).replaceAll('%', '='))}?=`,
  ),
  way('encoded word with a language', ['field'], all, (text) => `=?utf-8*en?b?${base64(text)}?=`),
  way('encoded words for each letter', ['field'], all, (text) =>
    [...text].map((one) => `=?utf-8?b?${base64(one)}?=`).join(' '),
  ),
  way('encoded word in quotes', ['field'], all, (text) => `"=?utf-8?b?${base64(text)}?="`),
  way(
    'encoded word in UTF-7',
    ['field'],
    all,
    (text) => `=?utf-7?q?${utf7(text).replaceAll('+', '=2B')}?=`,
  ),
  way(
    'encoded word in UTF-16',
    ['field'],
    all,
    (text) => `=?utf-16le?b?${Buffer.from(text, 'utf16le').toString('base64')}?=`,
  ),
  way(
    'encoded word in an encoded word',
    ['field'],
    notSingle,
    (text) => `=?utf-8?b?${base64(`=?utf-8?b?${base64(text)}?=`)}?=`,
  ),
  way('UTF-7', ['field', 'plain', 'html'], notSingle, utf7),
  way('mojibake', ['plain', 'html', 'field'], ['full name', 'single name'], (text) =>
    changed(text, Buffer.from(text).toString('latin1')),
  ),
]

export const ways: readonly Way[] = [...spellings, ...escapes, ...codes]

function markupWay(name: string, write: Way['write']): Way {
  return { ...way(name, markup, [...all, 'port'], write), isMarkup: true }
}

function elementWay(name: string, write: Way['write']): Way {
  return { ...way(name, ['html'], all, write), isMarkup: true }
}

/** Each half of it looks like a word. */
function isShortToken(text: string): boolean {
  return /^(?=.*\d)[\w-]{1,24}$/.test(text)
}

function halved(text: string, sign: string): string | undefined {
  const letters = [...text]
  if (letters.length < 6 || (/\s/.test(sign) && isShortToken(text))) return undefined
  const middle = Math.ceil(letters.length / 3)
  return letters.slice(0, middle).join('') + sign + letters.slice(middle).join('')
}

function divided(text: string, before: string, after: string): string {
  const letters = [...text]
  const middle = Math.ceil(letters.length / 2)
  const [first, rest] = [letters.slice(0, middle).join(''), letters.slice(middle).join('')]
  return before + escapeHtml(first) + after + escapeHtml(rest)
}

function between(text: string, sign: string): string {
  return divided(text, '', sign)
}

/** Two halves of a word of few letters can stand near each other by chance. */
function hiddenWithin(text: string, sign: string): string | undefined {
  return [...text].length < 8 ? undefined : between(text, sign)
}

function mixedCase(text: string): string | undefined {
  const mixed = [...text].map((one, at) => (at % 2 === 0 ? one.toLowerCase() : one.toUpperCase()))
  return changed(text, mixed.join(''))
}

function latin(text: string, change: (code: number) => number): string | undefined {
  return changed(
    text,
    text.replace(/[!-~]/g, (one) => String.fromCodePoint(change(one.charCodeAt(0)))),
  )
}

function mathematical(text: string): string | undefined {
  const bases: [RegExp, number, string][] = [
    [/[A-Z]/, 0x1d400, 'A'],
    [/[a-z]/, 0x1d41a, 'a'],
    [/\d/, 0x1d7ce, '0'],
  ]
  return changed(
    text,
    text.replace(/[A-Za-z0-9]/g, (one) => {
      const [, base = 0, zero = 'a'] = bases.find(([pattern]) => pattern.test(one)) ?? []
      return String.fromCodePoint(base + one.charCodeAt(0) - zero.charCodeAt(0))
    }),
  )
}

function circled(text: string): string | undefined {
  return changed(
    text,
    text
      .toLowerCase()
      .replace(/[a-z]/g, (one) => String.fromCharCode(0x24d0 + one.charCodeAt(0) - 97)),
  )
}

function homoglyphs(text: string): string | undefined {
  const [from, to] = ['acepoxyisjhABEHKMOPCTX', 'асерохуіѕјһАВЕНКМОРСТХ']
  return changed(
    text,
    text.replace(/[A-Za-z]/g, (one) => to[from.indexOf(one)] ?? one),
  )
}

function codesOf(text: string, write: (code: number) => string): string {
  return text.replace(/[^]/g, (one) => write(one.charCodeAt(0)))
}

function entities(text: string, write: (code: number) => string): string {
  return [...text].map((one) => write(one.codePointAt(0) ?? 0)).join('')
}
