import { describe, expect, test } from 'vitest'
import { hashesOf, type Written } from '../../../support/shingles.ts'

type Row = readonly [disguise: string, type: string, disguised: Written, plain: Written]

const text = (disguised: string, plain: string, type = 'text') =>
  [type, { text: disguised }, { text: plain }] as const
const html = (disguised: string, plain: string) =>
  ['text', { html: disguised }, { html: `<p>${plain}</p>` }] as const
const subject = (disguised: string, plain: string, type = 'subject') =>
  [type, { subject: disguised }, { subject: plain }] as const
const name = (disguised: string, plain: string) =>
  [
    'author-name',
    { from: `${disguised} <a@b.example>` },
    { from: `${plain} <a@b.example>` },
  ] as const

const disguises: readonly Row[] = [
  ['Cyrillic о', ...text('Your accоunt is closed', 'Your account is closed')],
  ['Cyrillic а, е, р, с', ...text('Сlоsе your рауреr fоldеr', 'Close your payper folder')],
  ['Cyrillic word without Latin letters', ...text('the хор sings', 'the xop sings')],
  ['Cyrillic в for B', ...text('your вank', 'your bank')],
  ['Cyrillic и for n', ...text('wiииer of today', 'winner of today')],
  ['Cyrillic ѕ and і', ...text('bu\u0455\u0456ness offer', 'business offer')],
  ['Cyrillic capitals', ...text('VІАGRА now', 'VIAGRA now')],
  ['Greek ο', ...text('passw\u03bfrd reset', 'password reset')],
  ['Greek α and ε', ...text('p\u03b1yment r\u03b5quest', 'payment request')],
  ['Greek capital Ρ', ...text('\u03a1ayPal', 'PayPal')],
  ['Greek ν for v', ...text('in\u03bdoice', 'invoice')],
  ['Armenian օ', ...text('l\u0585gin', 'login')],
  ['Cherokee capitals', ...text('\u13e2in \u13d4ax', 'pin wax')],
  ['Lisu capitals', ...text('\ua4d0\ua4eeNK', 'BANK')],
  ['Coptic letters', ...text('a\u2c9f\u2c9f', 'aoo')],
  ['marks in heaps', ...text(`w${'\u0315\u0300'.repeat(600)}inner`, 'winner')],
  ['mathematical bold', ...text('𝐖𝐢𝐧𝐧𝐞𝐫', 'Winner')],
  ['mathematical script', ...text('𝓦𝓲𝓷𝓷𝓮𝓻', 'Winner')],
  ['mathematical double-struck', ...text('𝕎𝕚𝕟𝕟𝕖𝕣', 'Winner')],
  ['mathematical sans-serif', ...text('𝖶𝗂𝗇𝗇𝖾𝗋', 'Winner')],
  ['mathematical monospace', ...text('𝚆𝚒𝚗𝚗𝚎𝚛', 'Winner')],
  ['mathematical Fraktur', ...text('𝔚𝔦𝔫𝔫𝔢𝔯', 'Winner')],
  ['mathematical Greek', ...text('𝛲ay𝛲al', 'PayPal')],
  ['fullwidth letters', ...text('Ｗｉｎｎｅｒ', 'Winner')],
  ['circled letters', ...text('Ⓦⓘⓝⓝⓔⓡ', 'Winner')],
  ['negative circled letters', ...text('🅦🅘🅝🅝🅔🅡', 'Winner')],
  ['negative squared letters', ...text('🆆🅸🅽🅽🅴🆁', 'Winner')],
  ['flags as letters', ...text('🇼🇮🇳🇳🇪🇷', 'Winner')],
  ['parenthesized letters', ...text('⒲⒤⒩⒩⒠⒭', '(w)(i)(n)(n)(e)(r)')],
  ['small capitals', ...text('ᴡɪɴɴᴇʀ', 'Winner')],
  ['superscripts', ...text('ʷⁱⁿⁿᵉʳ', 'Winner')],
  ['ligatures', ...text('conﬁrm your oﬀer', 'confirm your offer')],
  ['roman numeral signs', ...text('part Ⅳ of all', 'part IV of all')],
  ['capitals', ...text('CONFIRM YOUR ACCOUNT', 'confirm your account')],
  ['mixed case', ...text('cOnFiRm YoUr AcCoUnT', 'confirm your account')],
  ['zero-width space', ...text('con\u200bfirm', 'confirm')],
  ['zero-width non-joiner', ...text('con\u200cfirm', 'confirm')],
  ['zero-width joiner', ...text('con\u200dfirm', 'confirm')],
  ['word joiner', ...text('con\u2060firm', 'confirm')],
  ['byte order mark', ...text('con\ufefffirm', 'confirm')],
  ['left-to-right marks', ...text('c\u200eo\u200en\u200ef\u200eirm', 'confirm')],
  ['direction override', ...text('con\u202d\u202cfirm', 'confirm')],
  ['soft hyphen', ...text('con\u00adfirm', 'confirm')],
  ['combining grapheme joiner', ...text('con\u034ffirm', 'confirm')],
  ['variation selectors', ...text('con\ufe0efirm\ufe0f', 'confirm')],
  ['Mongolian vowel separator', ...text('con\u180efirm', 'confirm')],
  ['Hangul filler', ...text('con\u3164firm', 'confirm')],
  ['tags of language', ...text('con\u{e0041}firm', 'confirm')],
  ['combining accents', ...text('c\u0301o\u0308n\u0303firm', 'confirm')],
  ['stacked combining marks', ...text('c\u0335\u0321o\u0336n\u0337firm', 'confirm')],
  ['accented letters', ...text('Ĉöñfírm', 'confirm')],
  ['leetspeak digits', ...text('v1agra and c1al1s', 'viagra and cialis')],
  ['leetspeak zero', ...text('l0gin to g00gle', 'login to google')],
  ['leetspeak at sign', ...text('p@yment', 'payment')],
  ['leetspeak dollar', ...text('ca$h and bu$iness', 'cash and business')],
  ['leetspeak exclamation mark', ...text('v!agra', 'viagra')],
  ['leetspeak bar', ...text('b|ack friday', 'black friday')],
  ['leetspeak run of signs', ...text('p@$$word', 'password')],
  ['capital I for l', ...text('PayPaI', 'PayPal')],
  ['letters with gaps', ...text('buy V I A G R A here', 'buy VIAGRA here')],
  ['letters with dots', ...text('buy V.I.A.G.R.A here', 'buy VIAGRA here')],
  ['letters with hyphens', ...text('buy v-i-a-g-r-a here', 'buy viagra here')],
  ['letters with wide gaps', ...text('buy v  i  a  g  r  a here', 'buy viagra here')],
  ['words pulled apart', ...text('con firm your acc ount', 'confirm your account', 'text-letters')],
  ['words run together', ...text('confirmyour account', 'confirm your account', 'text-letters')],
  ['hyphens in a word', ...text('con-firm', 'confirm', 'text-letters')],
  ['other numbers', ...text('Order 4711 of 12.50', 'Order 99 of 1,250')],
  ['other dates', ...text('until 2026-11-20 only', 'until 20.11.26 only')],
  ['Arabic-Indic digits', ...text('order \u0664\u0667 now', 'order 47 now')],
  ['fullwidth digits', ...text('order ４７ now', 'order 47 now')],
  ['no-break spaces', ...text('confirm\u00a0your\u202faccount', 'confirm your account')],
  ['ideographic space', ...text('confirm\u3000your account', 'confirm your account')],
  ['other line breaks', ...text('confirm\r\nyour\r\n account', 'confirm your account')],
  ['typographic apostrophe', ...text('don\u2019t wait', "don't wait")],
  ['emoji between words', ...text('🎁 win 🎁 now 🎁', 'win now')],
  ['other link in the text', ...text('see https://a.example/1 now', 'see https://b.example/2 now')],
  ['other address in the text', ...text('for you@a.example only', 'for me@b.example only')],
  ['decimal entities', ...html('&#87;&#105;&#110;ner', 'Winner')],
  ['hexadecimal entities', ...html('&#x57;&#x69;nner', 'Winner')],
  ['entities without semicolon', ...html('&#87&#105nner', 'Winner')],
  ['named entities of letters', ...html('Caf&eacute; M&uuml;ller', 'Café Müller')],
  ['entity of soft hyphen', ...html('con&shy;firm', 'confirm')],
  ['entity of zero width', ...html('con&#8203;firm&zwnj;', 'confirm')],
  ['entity of no-break space', ...html('confirm&nbsp;now', 'confirm now')],
  ['tags inside words', ...html('con<b></b>firm <i>n</i>ow', 'confirm now')],
  ['comments inside words', ...html('con<!-- x -->firm', 'confirm')],
  ['styles between words', ...html('confirm <style>p { x: y }</style>now', 'confirm now')],
  ['hidden scripts', ...html('confirm <script>"a b c"</script>now', 'confirm now')],
  ['other mark-up', ...html('<div>confirm</div><td>now</td>', 'confirm now')],
  ['tags with > in a quote', ...html('confirm <a title="a > b">now</a>', 'confirm now')],
  ['<wbr> in words', ...html('con<wbr>firm', 'confirm')],
  ['subject as encoded words', ...subject('=?utf-8?B?V2lubmVyIG9mIHRvZGF5?=', 'Winner of today')],
  ['subject letter by letter', ...subject('=?utf-8?Q?=57=69=6E=6E=65=72?=', 'Winner')],
  [
    'subject in another charset',
    ...subject('=?iso-8859-1?Q?M=FCller?=', '=?utf-8?Q?M=C3=BCller?='),
  ],
  ['subject with look-alikes', ...subject('Yоur аccount', 'Your account')],
  ['subject that was answered', ...subject('Re: FW: AW: Your account', 'Your account')],
  ['subject in mathematical letters', ...subject('𝗪𝗲𝗹𝗰𝗼𝗺𝗲 home', 'Welcome home')],
  [
    'subject with another number',
    ...subject('Order #4711 is on hold', 'Order #12 is on hold', 'subject-template'),
  ],
  [
    'subject with another token',
    ...subject('Message pending kx81vq2', 'Message pending q9w2e4r', 'subject-template'),
  ],
  [
    'subject with another date',
    ...subject('Invoice of 20.11.2026 due', 'Invoice of 1/2/26 due', 'subject-template'),
  ],
  ['name with look-alikes', ...name('РayРal Ѕervice', 'PayPal Service')],
  ['name as encoded words', ...name('=?utf-8?B?UGF5UGFs?=', 'PayPal')],
  ['name with invisible characters', ...name('Pay\u200bPal', 'PayPal')],
  ['name in quotes', ...name('"Pay" "Pal"', 'Pay Pal')],
  [
    'address in capitals',
    'author-address',
    { from: 'A <Offers@Shop.EXAMPLE>' },
    { from: 'offers@shop.example' },
  ],
]

const nearMisses: readonly Row[] = [
  ['another word', ...text('confirm your account', 'confirm your amount')],
  ['another order of words', ...text('confirm your account', 'your account confirm')],
  ['one word more', ...text('confirm your account', 'confirm your account now')],
  ['a negation', ...text('do pay', 'do not pay')],
  ['words of Russian are not Latin ones', ...text('привет мир', 'npubet mup')],
  ['words of Greek are not Latin ones', ...text('καλημέρα', 'kalhmepa')],
  ['Chinese signs', ...text('中文字', '中文学')],
  ['w3c is not wec', ...text('the w3c says', 'the wec says')],
  ['b2b is no word', ...text('a b2b offer', 'a bzb offer')],
  ['mp3s is not mpes', ...text('the mp3s here', 'the mpes here')],
  ['h264 is not h', ...text('in h264 only', 'in h only')],
  ['a number is not nothing', ...text('order 47 now', 'order now')],
  ['a number is no letter', ...text('order 1 now', 'order i now')],
  ['initials stay apart', ...text('by J R R of it', 'by JRR of it')],
  ['letters of two words', ...text('is land', 'island')],
  ['rn is not m', ...text('a modern line', 'a modem line')],
  ['l is not i', ...text('the lint', 'the iint')],
  ['a capital I that begins a word', ...text('In time', 'ln time')],
  ['umlauts are not two letters', ...text('Müller', 'Mueller')],
  ['what is in a comment is not shown', ...html('pay <!-- not --> now', 'pay not now')],
  ['what is in a style is not shown', ...html('pay <style>not</style> now', 'pay not now')],
  ['an unknown entity is no letter', ...html('con&xyz;firm', 'confirm')],
  ['a number in a subject', ...subject('Order 47', 'Order 48')],
  ['a subject with another word', ...subject('Your account', 'Your amount', 'subject-template')],
  ['a name that is longer', ...name('PayPal', 'PayPal Service')],
  [
    'another local part',
    'author-address',
    { from: 'a.b@shop.example' },
    { from: 'ab@shop.example' },
  ],
  [
    'an author under another domain',
    'author-address',
    { from: 'a@shop.example' },
    { from: 'a@shop.test' },
  ],
]

describe('a disguised text gives the same shingle as its plain form', () => {
  test.for(disguises)('%s', async ([, type, disguised, plain]) => {
    const expected = await hashesOf(type, plain)
    expect(expected.size).toBeGreaterThan(0)
    expect(await hashesOf(type, disguised)).toEqual(expected)
  })
})

describe('a text that only looks similar gives another shingle', () => {
  test.for(nearMisses)('%s', async ([, type, one, other]) => {
    const hashes = await hashesOf(type, one)
    expect(hashes.size).toBeGreaterThan(0)
    expect(hashes.isDisjointFrom(await hashesOf(type, other))).toBe(true)
  })
})
