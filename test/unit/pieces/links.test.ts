import { expect, test } from 'vitest'
import { findLinks, htmlLinks } from '../../../src/pieces/links.ts'
import { expectEffort } from '../../support/effort.ts'

const inHtml = (html: string) => findLinks({ text: '', html }).map(({ url }) => url)
const inText = (text: string) => findLinks({ text, html: '' }).map(({ url }) => url)

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
  ['www.example.com is a link, xwww.example.com is not', ['www.example.com']],
  ['HTTP://EXAMPLE.COM/', ['HTTP://EXAMPLE.COM/']],
  ['http:// example.com, httpx://example.com', []],
] as const)('links in text: %j', ([text, expected]) => {
  expect(inText(text)).toEqual(expected)
})

test('a link has its host and its registrable domain', () => {
  expect(
    findLinks({
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
  const links = findLinks({ text: `${url} ${url}`, html: `<a href=${url}><a href=${url}>` })
  expect(links.map(({ where }) => where)).toEqual(['html', 'text'])
})

test.for([
  ['opening brackets', '<'.repeat(1_000_000)],
  ['tags that never close', '<a '.repeat(300_000)],
  ['quotes that never close', '<a href="'.repeat(100_000)],
  ['comments that never close', '<!--'.repeat(250_000)],
  ['ampersands', `<a href="${'&'.repeat(1_000_000)}">`],
  ['links', '<a href=http://example.com/>'.repeat(30_000)],
] as const)('a flood of %s takes linear time', async ([, html]) => {
  const links = await expectEffort(() => htmlLinks(html), 500)
  expect(links.length).toBeLessThanOrEqual(1000)
})
