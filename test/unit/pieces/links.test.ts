import { expect, test } from 'vitest'
import { readFiles } from '../../support/read-files.ts'
import {
  analyzeForCounting,
  analyzeMessage,
  analyzePlainly,
  bodyLimits,
} from '../../../src/pieces/analyze.ts'
import { lookInto } from '../../../src/pieces/attached-files.ts'
import { findLinks, leadsSomewhere, mostTelling } from '../../../src/pieces/links.ts'
import type { MessageBody } from '../../../src/mail/message-body.ts'
import { expectEffort } from '../../support/effort.ts'
import { pieceTypes } from '../../../src/pieces/shingles/piece-types.ts'
import { composeParts, linkKinds, withLink } from '../../support/link-kinds.ts'
import { type PdfLink, pdfOfPages } from '../../support/pdf.ts'

const linksIn = (body: Partial<MessageBody>) =>
  findLinks({ text: '', html: '', attachments: [], ...body }).links
const inHtml = (html: string) => linksIn({ html }).map(({ url }) => url)
const inText = (text: string) => linksIn({ text }).map(({ url }) => url)

test.for([
  ['double quotes', '<a href="http://example.com/a b">', ['http://example.com/a b']],
  ['single quotes', "<A class=x HREF = 'http://example.com/'>", ['http://example.com/']],
  ['no quotes', '<a href=http://example.com/x>y</a>', ['http://example.com/x']],
  ['areas', '<area href="http://example.com/">', ['http://example.com/']],
  [
    'entities',
    '<a href="http&#58;//ex&#x61;mple.com/?a=1&amp;b=2&copy=3">',
    ['http://example.com/?a=1&b=2&copy=3'],
  ],
  ['line breaks inside', '<a href="ht\ntp://exa\tmple.com/">', ['http://example.com/']],
  ['no scheme', '<a href="//example.com/x">', ['//example.com/x']],
  ['a base', '<base href="http://example.com/d/"><a href="x">', ['http://example.com/d/x']],
  ['a > inside quotes', '<a title=">" href="http://example.com/">', ['http://example.com/']],
  [
    'the first href counts',
    '<a href="http://example.com/" href="http://example.org/">',
    ['http://example.com/'],
  ],
  ['other attributes', '<a data-href="http://example.com/" title="http://example.org/">', []],
  ['other tags', '<article href="http://example.com/"><link href="http://example.com/">', []],
  [
    'comments',
    '<!-- <a href="http://example.com/"> --><a href="http://example.org/">',
    ['http://example.org/'],
  ],
  [
    'what is no web link',
    '<a href="mailto:a@example.com"><a href="javascript:x()"><a href="#top">',
    [],
  ],
  ['a quote that never closes', '<a href="http://example.com/ <a href=http://example.org/>', []],
] as const)('links in HTML: %s', ([, html, expected]) => {
  expect(inHtml(html).filter((url) => !url.includes('<a'))).toEqual(expected)
})

test.for([
  ['See http://example.com/a?b=c#d.', ['http://example.com/a?b=c#d']],
  [
    '<https://example.com/x>, (https://example.org/y)!',
    ['https://example.com/x', 'https://example.org/y'],
  ],
  ['https://example.com/a_(b)', ['https://example.com/a_(b)']],
  ['www.example.com is a link, xwww.example is not', ['www.example.com']],
  ['HTTP://EXAMPLE.COM/', ['HTTP://EXAMPLE.COM/']],
  ['http:// example, httpx://example.com', []],
] as const)('links in text: %j', ([text, expected]) => {
  expect(inText(text)).toEqual(expected)
})

test.for([
  ['Go to example.com/a?b=c, now.', ['example.com/a?b=c']],
  ['EXAMPLE.COM:8080/x (or shop.example.co.uk).', ['EXAMPLE.COM:8080/x', 'shop.example.co.uk']],
  ['bücher.de and 例え.jp', ['bücher.de', '例え.jp']],
  ['bit.ly/3x is short, and so is youtu.be/x', ['bit.ly/3x', 'youtu.be/x']],
  ['a full stop.In the text, another.it and one.so. Or one.is?', []],
  ['user@example.com, a.file.pdf, notes.md, v1.2.3, 10.50, node.js, e.g.this', []],
  ['path/to/example.com/x', []],
] as const)('hosts without a scheme in text: %j', ([text, expected]) => {
  expect(inText(text)).toEqual(expected)
})

test.for([
  ['the text of HTML', '<p>Visit evil.example.com/x now</p>', ['evil.example.com/x']],
  ['a scheme in it', '<b>https://example.com/?a=1&amp;b=2</b>', ['https://example.com/?a=1&b=2']],
  [
    'not the text of a link, which may name another host',
    '<a href="https://example.org/">example.com</a> <a name=x>example.net</a>',
    ['https://example.org/', 'example.net'],
  ],
  ['not a style or script', '<style>a{b:example.com}</style><script>"example.com"</script>', []],
] as const)('addresses in %s', ([, html, expected]) => {
  expect(inHtml(html)).toEqual(expected)
})

test.for(linkKinds)('finds $name', async (kind) => {
  const header = 'From: a@a.example\nSubject: x'
  const host = { header, text: 'A text', html: '<!doctype html><body class=x><p>A page</p>' }
  const raw = withLink(host, kind, 'https://evil.com/x')
  const { links } = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: true, readFiles })
  expect(links).toEqual([expect.objectContaining({ where: kind.where, domain: 'evil.com' })])
})

test('finds links in attached pages and drawings, also in their scripts', async () => {
  const encoded = Buffer.from('https://c.example/x').toString('base64')
  const pages = [
    ['a.html', 'application/octet-stream', '<a href="https://a.example/">'],
    [undefined, 'text/html', '<script>location = "https:\\/\\/b.example/x"</script>'],
    [
      undefined,
      'image/svg+xml',
      `<svg><a href="//d.example/"/></svg><script>"${encoded}"</script>`,
    ],
    ['page', 'text/plain', '<!DOCTYPE html><a href=https://e.example/>'],
    ['utf16.htm', 'text/html', '\uFEFF<a href=https://f.example/>'],
    ['a.bin', 'application/octet-stream', '\0<a href="https://no.example/">'],
    ['headers', 'text/rfc822-headers', 'Received: from mail.no.com; https://no.com/'],
    ['a.log', 'text/x-log', 'mail.no.com 250 OK'],
  ] as const
  const attachments = pages.map(([name, type, text]) => ({
    name,
    type,
    content: Buffer.from(text, text.startsWith('\uFEFF') ? 'utf16le' : 'utf8'),
  }))
  const { links: found } = await lookInto(attachments, bodyLimits)
  const { links } = findLinks({ text: '', html: '' }, undefined, found)
  expect(links.map(({ host, where }) => `${where} ${host}`)).toEqual(
    ['a', 'b', 'd', 'c', 'e', 'f'].map((name) => `attachment ${name}.example`),
  )
})

test('remote pictures come last, one for each host', () => {
  const pictures = ['//a.example/1', '//a.example/2', '//b.example/1', 'cid:x']
  const html = `${pictures.map((src) => `<img src="${src}">`).join('')}<a href="https://c.example">`
  const links = linksIn({ html })
  expect(links.map(({ url }) => url)).toEqual([
    'https://c.example',
    '//a.example/1',
    '//b.example/1',
  ])
  expect(links.filter(leadsSomewhere)).toHaveLength(1)
})

test('thousands of plain addresses hide no disguised one', () => {
  const text = `${some(3_000, (at) => `https://a.com/${at}`)}\nhxxps://evil[.]com/x`
  expect(linksIn({ text }).map(({ url }) => url)).toContain(evil)
})

const some = (count: number, write: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => write(at)).join('\n')
const evil = 'https://evil.com/x'

test.for<[string, Partial<MessageBody>]>([
  ['links to one host', { html: some(3_000, (at) => `<a href="https://a.com/${at}">x</a>`) }],
  [
    'links to hosts of one domain',
    { html: some(2_000, (at) => `<a href="https://a${at}.a.com/">x`) },
  ],
  ['links without a text', { html: some(300, (at) => `<a href="https://decoy${at}.com/"></a>`) }],
  [
    'links around blanks',
    { html: some(300, (at) => `<a href="https://decoy${at}.com/"> <b> </b></a>`) },
  ],
  [
    'links in a frame',
    { html: `<iframe srcdoc='${some(2_000, (at) => `<a href=//a.com/${at}>x`)}'></iframe>` },
  ],
  ['forms', { html: some(200, (at) => `<form action="https://a.com/${at}">`) }],
  ['addresses', { text: some(900, (at) => `https://a.com/${at}`) }],
  ['hosts', { text: some(900, (at) => `a.com/${at}`) }],
  ['disguised addresses', { text: some(150, (at) => `hxxps://a[.]com/${at}`) }],
])('decoys hide no link, and are counted: %s', ([, { text = '', html = '' }]) => {
  const body = {
    text: text === '' ? '' : `${text}\n${evil}`,
    html: html === '' ? '' : `${html}<form action="${evil}"></form><a href="${evil}">x</a>`,
  }
  const { links, more } = findLinks(body)
  expect(links.map(({ url }) => url)).toContain(evil)
  expect(links.length).toBeLessThanOrEqual(200)
  const decoys = (html + text).split('\n').length
  expect(links.length + more).toBeGreaterThanOrEqual(decoys)
})

test('decoys before a link hide it from no feature, shingle or subject', async () => {
  const decoys = some(90, (at) => `<a href="https://a.com/${at}">x</a>`)
  const html = `${decoys}<a href="http://192.0.2.9/x">x</a>`
  const raw = composeParts('From: a@a.example\nSubject: x', [{ type: 'text/html', content: html }])
  const options = { trustedRelays: [], ignoreStamps: true }
  const { analysis, features } = await analyzeForCounting(raw, options)
  expect(features.links).toMatchObject({ count: 91, ip_hosts: 1 })
  expect(mostTelling(analysis.links, 20).map(({ host }) => host)).toContain('192.0.2.9')
  const { shingles } = await analyzeMessage(raw, options)
  expect(shingles.map(({ type }) => type)).toContain(pieceTypes['link-ip'].number)
})

test.for([
  ['small decoys', some(60, (at) => `https://decoy${at}.com/`), 3, 100],
  ['decoys of one host', some(150, (at) => `https://a.com/${at}`), 50, 3],
  ['many small decoys', some(400, (at) => `https://decoy${at}.com/`), 2, 90],
  ['large decoys of one host', some(30, (at) => `https://a.com/${at}`), 90, 1],
] as const)('annotations of a PDF file hide no link: %s', async ([, urls, small, large]) => {
  const links: PdfLink[] = [
    ...urls.split('\n').map((url) => ({ url, side: small })),
    { url: evil, side: large },
  ]
  const raw = composeParts('From: a@a.example\nSubject: x', [
    { type: 'application/pdf', name: 'a.pdf', content: pdfOfPages([links]) },
  ])
  const options = { trustedRelays: [], ignoreStamps: true, readFiles }
  const { links: found, moreLinks = 0 } = await analyzePlainly(raw, options)
  expect(found.map(({ url }) => url)).toContain(evil)
  expect(found).toHaveLength(20)
  expect(found.length + moreLinks).toBe(links.length)
})

test('the links of the pages after the tenth are found', async () => {
  const pages = Array.from({ length: 14 }, (_, at) => [{ url: `https://a${at}.com/`, side: 9 }])
  const raw = composeParts('From: a@a.example\nSubject: x', [
    { type: 'application/pdf', name: 'a.pdf', content: pdfOfPages(pages) },
  ])
  const options = { trustedRelays: [], ignoreStamps: true, readFiles }
  expect((await analyzePlainly(raw, options)).links).toHaveLength(14)
})

test.for([
  'The dot com bubble',
  'connect the dot to the next dot and so on',
  'a polka dot dress, a dot matrix',
  'grep "foo[.]c" and [.]sh or x(.)y',
  'array[.] or (.) or [...]',
  'from dot com to dot net',
])('a text without a link: %s', (written) => {
  expect(inText(written)).toEqual([])
})

test('a link has its host and its registrable domain', () => {
  expect(
    linksIn({
      text: 'http://a.B.example.co.uk:81/ http://192.0.2.1/',
      html: '<form action="https://bücher.example/">',
    }),
  ).toEqual([
    {
      url: 'https://bücher.example/',
      host: 'xn--bcher-kva.example',
      domain: 'xn--bcher-kva.example',
      where: 'form',
    },
    {
      url: 'http://a.B.example.co.uk:81/',
      host: 'a.b.example.co.uk',
      domain: 'example.co.uk',
      where: 'text',
    },
    { url: 'http://192.0.2.1/', host: '192.0.2.1', domain: null, where: 'text' },
  ])
})

test('a link is listed once for each place', () => {
  const url = 'http://example.com/'
  const links = linksIn({ text: `${url} ${url}`, html: `<a href=${url}><a href=${url}>` })
  expect(links.map(({ where }) => where)).toEqual(['html', 'text'])
})

test.for([
  ['opening brackets', '<'.repeat(1_000_000)],
  ['tags that never close', '<a '.repeat(300_000)],
  ['quotes that never close', '<a href="'.repeat(100_000)],
  ['comments that never close', '<!--'.repeat(250_000)],
  ['ampersands', `<a href="${'&'.repeat(1_000_000)}">`],
  ['links', '<a href=http://example.com/>'.repeat(30_000)],
  ['comments that end with a bang', '<!-- --!>'.repeat(100_000)],
  ['comments of Outlook in each other', '<!--[if mso]>'.repeat(70_000)],
  ['drawings', '<svg><title>'.repeat(80_000)],
  ['equals signs', `<a ${'= '.repeat(500_000)}>`],
  ['names', `<p>${'a.b.'.repeat(250_000)}`],
  ['words with a dot', `<p>${'a.example/ '.repeat(90_000)}`],
  ['pages in pages', `<iframe srcdoc='${'<iframe srcdoc="'.repeat(60_000)}'>`],
  ['urls in styles', 'url('.repeat(250_000)],
] as const)('a flood of %s takes linear time', async ([, html]) => {
  const links = await expectEffort(() => linksIn({ html }), 500)
  expect(links.length).toBeLessThanOrEqual(300)
})
