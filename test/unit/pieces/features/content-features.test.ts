import { expect, test } from 'vitest'
import { zipOf } from '../../../support/packed-files.ts'
import type { MessageFeatures } from '../../../../src/pieces/features/features.ts'
import { featuresOfFile, featuresOfHtml, featuresOfMail } from '../../../support/feature-mail.ts'

const link = (target: string, text = 'here') => `<p>Go <a href="${target}">${text}</a></p>`

test.for<[string, string, Partial<MessageFeatures['links']>]>([
  ['an address', link('http://192.0.2.9/a'), { ip_hosts: 1, domains: 0 }],
  ['an odd port', link('https://a.example:8443/'), { odd_ports: 1 }],
  ['a usual port', link('https://a.example:443/'), { odd_ports: 0 }],
  ['a user', link('https://bank.example@a.example/'), { user_infos: 1 }],
  ['an @ in its path', link('https://a.example/@ann'), { user_infos: 0 }],
  ['a host that poses', link('https://xn--pypal-4ve.com/'), { idn_hosts: 1, disguised_hosts: 1 }],
  ['a shortener', link('https://bit.ly/3x'), { shorteners: 1 }],
  ['a free page', link('https://me.github.io/x'), { free_hosting: 1 }],
  ['the house of free pages', link('https://github.io/'), { free_hosting: 0 }],
  ['a free form', link('https://docs.google.com/forms/d/1'), { free_hosting: 1 }],
  ['a search', link('https://www.google.com/search?q=1'), { free_hosting: 0 }],
  ['a redirect', link('https://a.example/r?u=https%3A%2F%2Fb.example%2F'), { redirects: 1 }],
  ['a program', link('https://a.example/a.EXE?x'), { executables: 1 }],
  ['a page named so', link('https://a.example/exe'), { executables: 0 }],
  ['inner folders', link('https://a.example/wp-includes/x/'), { site_internals: 1 }],
  ['another shown', link('https://a.example/', 'https://bank.example/'), { shown_differs: 1 }],
  ['the same shown', link('https://www.a.example/', 'a.example'), { shown_differs: 0 }],
  ['a file shown', link('https://www.a.example/', 'report v1.2'), { shown_differs: 0 }],
  ['a script', link('javascript:go()'), { active: 1, count: 0 }],
  [
    'the author',
    link('https://www.shop.example/'),
    { author_share: 1, only_foreign_domain: false },
  ],
  ['one other', link('https://a.example/'), { author_share: 0, only_foreign_domain: true }],
  ['the reader', link('https://a.example/?m=ann.reader@reader.example'), { names_recipient: true }],
  ['a way out', link('https://a.example/unsubscribe'), { has_unsubscribe: true }],
  [
    'many parts',
    link('https://a.b.c.d.a1234567.example/?a=1&b=2'),
    {
      labels_max: 6,
      host_digits_max: 7,
      parameters_mean: 2,
    },
  ],
  ['no protection', link('http://a.example/'), { insecure_share: 1 }],
  ['a form', '<form action="https://a.example/"><input name="p"></form>', { forms: 1 }],
])('a link to %s', async ([, html, expected]) => {
  expect((await featuresOfHtml(html)).links).toMatchObject(expected)
})

const many = (word: string, times: number) => `${word} `.repeat(times)

test.for<[string, string, Partial<MessageFeatures['text']>]>([
  ['only pictures', '<img src="https://a.example/a.png">', { images: 1, images_only: true }],
  ['pictures and words', `<img src="a.png">${many('word', 20)}`, { images_only: false }],
  ['nothing', '<p></p>', { is_empty: true }],
  ['a field', '<p>Name: <input name="n"></p>', { forms: true }],
  ['a frame', '<iframe src="https://a.example/"></iframe>', { frames: true, scripts: false }],
  ['a script', '<script>go()</script>', { scripts: true }],
  [
    'hidden text',
    '<p style="display:none">x</p><p style="font-size: 0;">y</p>',
    { hidden_styles: 2 },
  ],
  [
    'every spelling of hidden text',
    '<p style="display:none;display: none;visibility:hidden;font-size:0;font-size: 0">' +
      '<p style="font-size:1px;opacity:0;display:none">',
    { hidden_styles: 7 },
  ],
  ['a shown block', '<p style="display:block;font-size:10px">x</p>', { hidden_styles: 0 }],
  ['hidden characters', '<p>Pay\u200bpal\u202e</p>', { hidden_characters: 2 }],
  ['letters that pose', '<p>P\u0430yp\u0430l</p>', { look_alikes: 2 }],
  ['Greek', '<p>Καλημέρα σας</p>', { look_alikes: 0, script: 'greek' }],
  ['Chinese', '<p>您好，请确认</p>', { script: 'chinese' }],
  [
    'English',
    '<p>The shop and the people have this for you.</p>',
    { language: 'en', script: 'latin' },
  ],
  ['French', '<p>Pour vous dans notre boutique avec les amis.</p>', { language: 'fr' }],
  ['German', '<p>Wir werden nicht mit der Post und ihrer Bahn.</p>', { language: 'de' }],
  ['two words', '<p>The shop</p>', { language: '' }],
  ['money', '<p>A bank transfer of bitcoin</p>', { money_words: 2 }],
  ['a bank', '<p>The river bank</p>', { money_words: 0 }],
  ['accounts', '<p>Verify your password</p>', { credential_words: 2 }],
  ['disguised accounts', '<p>V\u0435rify y0ur p\u0430ssword</p>', { credential_words: 2 }],
  ['haste in Spanish', '<p>URGENTE: último aviso</p>', { urgency_words: 2 }],
  ['a threat in French', '<p>Votre carte est bloquée, compte suspendu</p>', { threat_words: 1 }],
  ['a greeting', '<p>Dear customer,</p>', { generic_greeting: true }],
  ['a greeting by name', '<p>Dear Ann,</p>', { generic_greeting: false }],
  ['shouting', `<p>${many('BUY IT NOW', 10)}!!!</p>`, { upper_share: 1, exclamations: 3 }],
  ['a telephone', '<p>Call +33 1 23 45 67 89</p>', { telephones: 1 }],
  ['an account', '<p>1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa</p>', { payment_addresses: 1 }],
])('a text with %s', async ([, html, expected]) => {
  expect((await featuresOfHtml(html)).text).toMatchObject(expected)
})

test('parts with different content are distinguished from those with the same', async () => {
  const both = (plain: string, html: string) =>
    featuresOfMail(
      { 'Content-Type': 'multipart/alternative; boundary="b"' },
      ['--b', 'Content-Type: text/plain', '', plain, '--b', 'Content-Type: text/html', '']
        .concat([html, '--b--'])
        .join('\r\n'),
    )
  const words = 'Yesterday several friendly neighbors visited mountains together happily'
  const other = await both(words, '<p>Please confirm your mailbox password today, thank you</p>')
  expect(other.text).toMatchObject({ plain_part_differs: true, html_only: false })
  expect((await both(words, `<p>${words}</p>`)).text.plain_part_differs).toBe(false)
})

test.for<[string, string, string, Buffer | string, object]>([
  ['a program', 'a.exe', 'application/octet-stream', 'MZ..', { executables: 1, type_differs: 0 }],
  ['a hidden program', 'a.txt', 'text/x-log', 'MZ..', { executables: 1, type_differs: 1 }],
  ['a script', 'a.js', 'application/javascript', 'go()', { scripts: 1 }],
  ['a double ending', 'a.pdf.exe', 'application/pdf', 'MZ..', { double_extensions: 1 }],
  ['a version', 'a.v2.pdf', 'application/pdf', '%PDF-1.4', { double_extensions: 0, pdfs: 1 }],
  ['a turned name', 'a\u202efdp.exe', 'application/pdf', 'MZ..', { disguised_names: 1 }],
  [
    'an archive',
    'a.zip',
    'application/zip',
    zipOf({ 'a.txt': 'x' }),
    { archives: 1, encrypted_archives: 0 },
  ],
  [
    'a locked archive',
    'a.zip',
    'application/zip',
    zipOf({ 'a.txt': 'x' }, 1),
    { encrypted_archives: 1 },
  ],
  [
    'macros',
    'a.docx',
    'application/msword',
    zipOf({ 'word/vbaProject.bin': 'x' }),
    { macros: 1, office: 1 },
  ],
  [
    'a document',
    'a.docx',
    'application/msword',
    zipOf({ 'word/document.xml': 'x' }),
    { macros: 0 },
  ],
  ['a picture that is a page', 'a.png', 'image/png', '%PDF-1.4 ...', { type_differs: 1 }],
  ['a picture', 'a.gif', 'image/gif', 'GIF89a..', { images: 1, type_differs: 0 }],
  ['a disk', 'a.ISO', 'application/octet-stream', 'x', { disk_images: 1, extensions: ['iso'] }],
  ['a shortcut', 'a.lnk', 'application/octet-stream', 'x', { shortcuts: 1 }],
  ['a web page', 'a.html', 'text/html', '<p>x</p>', { web_pages: 1 }],
])('an attached file that is %s', async ([, name, type, content, expected]) => {
  const { attachments } = await featuresOfFile(name, type, content)
  expect(attachments).toMatchObject({ count: 1, ...expected })
})
