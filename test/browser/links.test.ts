import { expect, test } from 'vitest'
import { htmlView } from '../../src/pieces/html-view.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { chanceFrom } from '../support/chance.ts'
import { corpusFiles } from '../support/corpus.ts'
import { parseHeader } from '../../src/mail/header.ts'
import { parseBody } from '../../src/mail/message-body.ts'
import { startChromium } from './chromium.ts'

const browser = await closeAfterTests(startChromium())
const page = await (await browser.newContext({ offline: true })).newPage()

/** Finds all links of each page with the parser of the browser: places and addresses. */
const ask = (pages: readonly string[]) => `${JSON.stringify(pages)}.map((html) => {
  const page = new DOMParser().parseFromString(html, 'text/html')
  const written = page.querySelector('base[href]')?.getAttribute('href') ?? ''
  const base = /^https?:/.test(URL.parse(written)?.protocol ?? '') ? written : undefined
  const found = []
  for (const [where, selector, name] of [
    ['html', 'a[href], area[href]', 'href'],
    ['form', 'form[action]', 'action'],
    ['form', 'button[formaction], input[formaction]', 'formaction'],
    ['embedded', 'iframe[src], frame[src], embed[src], script[src]', 'src'],
    ['embedded', 'object[data]', 'data'],
  ]) {
    for (const element of page.querySelectorAll(selector)) {
      const url = URL.parse(element.getAttribute(name), base)
      // Chromium accepts blanks in host names, although no such name exists.
      const isWeb = url && /^https?:$/.test(url.protocol) && !url.host.includes('%')
      if (isWeb) found.push(where + ' ' + url.href)
    }
  }
  return found
})`

async function linksOfBrowser(pages: readonly string[]): Promise<string[][]> {
  return (await page.evaluate(ask(pages))) as string[][]
}

function linksFound(html: string): string[] {
  return htmlView(html).links.flatMap(({ url, where }) => {
    const parsed = URL.parse(url)
    return parsed && /^https?:$/.test(parsed.protocol) ? [`${where} ${parsed.href}`] : []
  })
}

/** Returns a generator of whole numbers below a limit. */
function randomOf(chance: () => number): (below: number) => number {
  return (below) => Math.floor(chance() * below)
}

const links = [
  '<a href="URL">',
  "<A HREF = 'URL'>x</a>",
  '<a href=URL>',
  '<a title=">" href="URL">',
  '<a\nhref\n=\n"URL"/>',
  '<a/href="URL">',
  '<a x="1"href="URL">',
  '<a href=URL/x>',
  '<a href=" \tURL\n ">',
  '<a href="URL?a&#150;&copy=3&amp;b&#x80;&NewLine;">',
  '<a href="h&#116;tp&colon;//HOST/">',
  '<area href="URL">',
  '<a x=a="b>c" href="URL">',
  '<a ="x" href="URL">',
  '<a "x" href="URL">',
  '<form action="URL"></form>',
  '<button formaction="URL">x</button>',
  '<input type=submit formaction=URL>',
  '<iframe src="URL"></iframe>',
  '<embed src="URL">',
  '<object data="URL"></object>',
  '<svg><a href="URL"><text>x</text></a></svg>',
  '<script src="URL"></script>',
]

const noise = [
  '<!-->',
  '<!--->',
  '<!-- x -->',
  '<!-- x --!>',
  '<!--',
  '-->',
  '<!x>',
  '<?x>',
  '</>',
  '</ x>',
  '<p>',
  '</p>',
  '<div style="a:b">',
  '</div>',
  '<table>',
  '<tr>',
  '<td>',
  '</table>',
  '<b>',
  '</b>',
  '<title>',
  '</title>',
  '<style>',
  '</style>',
  '<textarea>',
  '</textarea>',
  '<xmp>',
  '</xmp>',
  '<script>',
  '</script>',
  '<noscript>',
  '</noscript>',
  '<svg>',
  '</svg>',
  '<math>',
  '</math>',
  '<mi>',
  '</mi>',
  '<foreignObject>',
  '</foreignObject>',
  '<desc>',
  '</desc>',
  '<![CDATA[',
  ']]>',
  '"',
  "'",
  '<',
  '>',
  '=',
  '&',
  '/',
  ' ',
  'text',
  '<p a="',
  "<p a='",
  '<p a=',
  '<a ',
  '</a',
  '</a>',
  '<base href="http://base.example/d/">',
  '<a href="rel">',
  '<select>',
  '</select>',
  '<br/>',
  '\0',
  '<font color=red>',
  '<iframe>',
  '</iframe>',
  '<noembed>',
  '</noembed>',
  '<a href="/abs">',
  '</style x="</style>">',
  '</titlex>',
  '</title/',
  '<o:p>',
  '</o:p>',
  '<a-b href="http://x.example/">',
]

function randomPage(random: (below: number) => number): string {
  const pieces: string[] = []
  for (let count = 3 + random(12), index = 0; index < count; index++) {
    const isLink = random(3) === 0
    const host = `h${index}.example`
    const one = isLink ? links[random(links.length)] : noise[random(noise.length)]
    pieces.push((one ?? '').replaceAll('URL', `http://${host}/`).replaceAll('HOST', host))
  }
  return pieces.join('')
}

test('finds every link that Chromium finds in random malformed HTML', async () => {
  const random = randomOf(chanceFrom(22))
  const pages = Array.from({ length: 20_000 }, () => randomPage(random))
  const { links, missed, more } = await compare(pages)
  expect(links).toBeGreaterThan(30_000)
  expect(missed).toEqual([])
  // Quotes that are never closed hide the rest of the page in a browser only.
  expect(more).toBeLessThan(pages.length / 20)
})

test('finds every link that Chromium finds in real and in damaged mail', async ({ skip }) => {
  const files = corpusFiles('phishing', 'newsletters', 'spam')
  if (!files) return skip('no corpus')
  const random = randomOf(chanceFrom(23))
  const pages: string[] = []
  for (const { raw } of files) {
    const { html } = await parseBody(raw, parseHeader(raw))
    if (html !== '') pages.push(html, ...[1, 2, 3].map(() => damaged(html, random)))
  }
  const { missed } = await compare(pages)
  expect(missed).toEqual([])
})

/** Deletes pieces, and adds noise and links at random places. */
function damaged(html: string, random: (below: number) => number): string {
  let page = html
  for (let count = 0; count < 20; count++) {
    const at = random(page.length)
    const added = count % 2 === 0 ? noise[random(noise.length)] : links[random(links.length)]
    const written = (added ?? '').replaceAll('URL', `http://h${count}.example/`)
    page = `${page.slice(0, at)}${written}${page.slice(at + random(4))}`
  }
  return page
}

async function compare(pages: readonly string[]) {
  const missed: { html: string; missed: string[] }[] = []
  let links = 0
  let more = 0
  for (let at = 0; at < pages.length; at += 500) {
    const batch = pages.slice(at, at + 500)
    for (const [index, expected] of (await linksOfBrowser(batch)).entries()) {
      const html = batch[index] ?? ''
      const found = new Set(linksFound(html))
      links += expected.length
      // The analysis reads at most 1,000 links.
      const lacking = found.size < 1000 ? expected.filter((link) => !found.has(link)) : []
      if (lacking.length > 0) missed.push({ html, missed: lacking })
      if (!found.isSubsetOf(new Set(expected))) more++
    }
  }
  return { links, missed, more }
}
