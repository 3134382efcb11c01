import { expect, test } from 'vitest'
import { accusable } from '../../../src/phishing/accusable.ts'
import { askableHost } from '../../../src/phishing/askable-host.ts'
import { pageTarget } from '../../../src/phishing/page-target.ts'

const judge = (url: string) => accusable(new URL(url), ['signalpost.example'])

test.for([
  ['https://page.example/login', 'host', 'page.example'],
  ['https://jane.github.io/login', 'host', 'jane.github.io'],
  ['https://jane.pages.dev/', 'host', 'jane.pages.dev'],
  ['https://bit.ly/abc', 'path', 'bit.ly/abc'],
  ['https://docs.google.com/forms/d/e/x/viewform', 'path', 'docs.google.com/forms/d/e/x/viewform'],
  ['https://storage.googleapis.com/b/p.html', 'path', 'storage.googleapis.com/b/p.html'],
  ['https://shop.example/wp-content/plugins/x/', 'path', 'shop.example/wp-content/plugins/x/'],
  ['https://town.gov.br/x', 'path', 'town.gov.br/x'],
  ['http://8.8.8.8/x', 'host', '8.8.8.8'],
])('for %s, accuses its %s: %s', ([url = '', scope, name]) => {
  expect(judge(url)).toMatchObject({ scope, name })
})

test.for([
  ['https://www.paypal.com/signin', 'known site'],
  ['https://www.wellsfargo.com/', 'known site'],
  ['https://bit.ly/', 'known site'],
  ['https://www.google.com/search?q=x', 'known site'],
  ['https://github.io/', 'public suffix'],
  ['http://10.0.0.1/', 'no public address'],
  ['https://mail.signalpost.example/', 'our own'],
  ['https://www.foxmail.com/', 'mailbox provider'],
])('for %s, accuses nobody: %s', ([url = '', spared]) => {
  expect(judge(url)).toEqual({ spared })
})

test.for([
  ['login.page.example', 'login.page.example'],
  ['q7w8e9r0t1y2.page.example', 'page.example'],
  ['u471.page.example', 'page.example'],
  ['web12.page.example', 'web12.page.example'],
  ['login.q7w8e9r0t1y2.page.example', 'page.example'],
  ['q7w8e9r0t1y2.jane.pages.dev', 'jane.pages.dev'],
  ['192.0.2.1', '192.0.2.1'],
])('about %s, asks about %s', ([host = '', asked]) => {
  expect(askableHost(host, () => false)).toBe(asked)
})

test('asks about a label that independent reporters received', () => {
  const host = 'q7w8e9r0t1y2.page.example'
  expect(askableHost(host, (label) => label === 'q7w8e9r0t1y2')).toBe(host)
})

test.for([
  ['https://www.bing.com/ck/a?!&&p=1&u=a1aHR0cHM6Ly9wYWdlLmV4YW1wbGUveA&ntb=1'],
  ['https://r.example/c?to=https%3A%2F%2Fpage.example%2Fx'],
  ['https://links.example/CL0/https:%2F%2Fpage.example%2Fx/1/01'],
  ['https://translate.google.com/translate?u=page.example/x'],
  ['hxxps://page[.]example/x'],
])('finds the page in %s', ([written = '']) => {
  expect(pageTarget(written)?.url.href).toMatch(/^https?:\/\/page\.example\/x$/)
})

test('follows redirections a few steps only, and no circles', () => {
  const inner = 'https://a.example/?u=https://b.example/'
  expect(pageTarget(`https://a.example/?u=${encodeURIComponent(inner)}`)?.through).toEqual([])
  expect(pageTarget('mailto:jane@home.example')).toBeUndefined()
})
