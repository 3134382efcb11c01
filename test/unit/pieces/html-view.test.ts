import { describe, expect, test } from 'vitest'
import { htmlView } from '../../../src/pieces/html-view.ts'

const words = (html: string) =>
  htmlView(html)
    .text.split(/\s+/)
    .filter((word) => word !== '')

describe('the text that HTML shows', () => {
  test.for([
    ['text between tags', '<p>a <b>b</b></p>', ['a', 'b']],
    [
      'no comments, styles, scripts and titles',
      '<title>t</title><!-- c --><style>s</style><script>x</script>a',
      ['a'],
    ],
    ['what follows an empty title or style', '<title></title><style></style>a', ['a']],
    ['nothing of a comment that never ends', 'a <!-- b', ['a']],
    ['nothing of a tag that never ends', 'a <b c="d', ['a']],
    ['no part of a quoted attribute', '<a title="x > y">a</a>', ['a']],
    ['what follows a lone quote in a tag', "<a b='c>a</a><p>b</p>", ['a', 'b']],
    ['a < that begins no tag', '1 < 2', ['1', '<', '2']],
    ['entities as characters', '&lt;b&gt; &#65;&amp;&eacute;', ['<b>', 'A&é']],
  ] as const)('%s', ([, html, expected]) => {
    expect(words(html)).toEqual(expected)
  })

  test('blocks are separated by an empty line', () => {
    expect(htmlView('<p>a</p><div>b<br>c</div>').text).toMatch(/^\s*a\n\n\s*b\nc\s*$/)
  })
})

describe('the structure of HTML', () => {
  test('its elements in order, adjacent equal ones once', () => {
    expect(htmlView('<DIV><p>a<p>b</p><br/></div><h1>').tags).toEqual(['div', 'p', 'br', 'h1'])
  })

  test('its pictures, title, comments and style sheets', () => {
    const html =
      '<title>A &amp; B</title><style>p{}</style><!-- made by X -->' +
      '<img alt="x" src="https://a.example/?a=1&amp;b=2"><IMG SRC=b.png><img src=\'c.png\'>'
    const { images, title, comments, styleSheet } = htmlView(html)
    expect(images).toEqual(['https://a.example/?a=1&b=2', 'b.png', 'c.png'])
    expect(title).toBe('A & B')
    expect(comments).toEqual(['made by X'])
    expect(styleSheet).toBe('p{}')
  })
})
