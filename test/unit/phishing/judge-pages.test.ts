import { expect, test } from 'vitest'
import { parseHeader } from '../../../src/mail/header.ts'
import { parseBody } from '../../../src/mail/message-body.ts'
import { judgePages } from '../../../src/phishing/judge-pages.ts'
import { findLinks } from '../../../src/pieces/links.ts'

type Given = {
  from?: string
  to?: string
  subject?: string
  html: string
  fields?: readonly string[]
}

const jane = 'Jane Roe <jane@home.example>'

async function judged({ from, to = jane, subject = 'Hello', html, fields = [] }: Given) {
  const lines = [
    `From: ${from ?? 'Billing <billing@sender.example>'}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    ...fields,
    'Content-Type: text/html; charset=utf-8',
    '',
    html,
  ]
  const raw = Buffer.from(lines.join('\r\n'))
  const header = parseHeader(raw)
  const body = await parseBody(raw, header)
  const { links } = findLinks(body)
  return judgePages({ fields: header.fields, body, links }, ['signalpost.example'])
}

const linksOf = async (given: Given) => (await judged(given)).pages.flatMap(({ links }) => links)

const page = '<a href="https://page.example/login">Verify your account</a>'

test.for([
  ['the link that asks to act', page],
  ['not the link to unsubscribe', `${page}<a href="https://page.example/u">Unsubscribe</a>`],
  [
    'not a link that the words around it explain',
    `${page}<p>To be removed from our emails and
    unsubscribe, <a href="https://other.example/x">click here</a></p>`,
  ],
  [
    'not the same in other languages',
    `${page}<a href="https://other.example/x">Se désabonner</a>
    <a href="https://other.example/y">hier abmelden</a>`,
  ],
  [
    'not the end of a mailing',
    `<a href="https://other.example/v">View this email in your browser
    </a>${page}<a href="https://other.example/p">Privacy policy</a>`,
  ],
  ['not the site of a brand', `<a href="https://www.paypal.com/">Log in</a>${page}`],
  [
    'not a well-known site',
    `<a href="https://en.wikipedia.org/wiki/Phishing">Read more</a>${page}`,
  ],
  ['not a picture', `<img src="https://pictures.example/a.png">${page}`],
  ['not an invisible link', `<a href="https://hidden.example/a"></a>${page}`],
  ['not our own site', `<a href="https://signalpost.example/a">Verify now</a>${page}`],
  [
    'not a newsletter around it',
    `<a href="https://shop.example/a"><img src="a.png"></a>${page}
    <a href="https://shop.example/b"><img src="b.png"></a>`,
  ],
])('names %s', async ([, html = '']) => {
  expect(await linksOf({ html })).toEqual(['https://page.example/login'])
})

test('names a page once for all its links, which differ in tokens only', async () => {
  const html = `<a href="https://a8Fk2pQz91x.page.example/c/4f9a8b7c6d5e4f3a2b1c0d9e">Claim</a>
    <a href="https://b7Gj3qRy82w.page.example/c/0a1b2c3d4e5f6a7b8c9d0e1f">Start now</a>`
  const { pages } = await judged({ html })
  expect(pages).toMatchObject([{ key: '*.page.example/c/*' }])
  expect(pages[0]?.links).toHaveLength(2)
})

test.for([
  ['docs.google.com/forms/d/1FAIpQLSd_a8Fk2pQz91xVb7/viewform', 'forms with long ids'],
  ['bit.ly/3w6uTZ4', 'short links'],
  ['drive.google.com/uc?id=1a8Fk2pQz91xVb7c', 'files named by a parameter'],
] as const)('the key of %s keeps its id, because %s belong to different people', async ([its]) => {
  const { pages } = await judged({ html: `<a href="https://${its}">Log in</a>` })
  expect(pages.map(({ key }) => key)).toEqual([its])
})

test('names the page behind redirections that contain it', async () => {
  const target = encodeURIComponent('https://page.example/a')
  const html = `<a href="https://r.us-east-1.awstrack.me/L0/${target}/1/0100">Log in</a>`
  const { pages } = await judged({ html })
  expect(pages).toMatchObject([
    { url: 'https://page.example/a', through: ['r.us-east-1.awstrack.me'] },
  ])
})

test('names nothing when all links are spared', async () => {
  const html = `<a href="https://accounts.google.com/">Log in</a>
    <a href="https://docs.google.com">Open</a><a href="http://192.168.1.1/">Router</a>`
  expect(await linksOf({ html })).toEqual([])
})

test('the content confirms a message in the name of a brand', async () => {
  const from = 'PayPal <service@sender.example>'
  expect(await judged({ from, html: page })).toMatchObject({ isConfirmed: true })
})

const failed = 'Authentication-Results: mx.home.example; spf=none; dkim=none'
const proven =
  'Authentication-Results: mx.home.example; spf=pass smtp.mailfrom=a@example.net; dkim=none'
const strangers = ['a@one.example', 'b@two.example', 'c@three.example', 'd@four.example']
const words = '<p>We thank you for your visit last week and hope to see you again next year.</p>'
const letter = `${words}<a href="https://page.example/a">Read more</a>`
const document = `${words}<a href="https://docs.google.com/drawings/d/a8Fk2/preview">Accept</a>`

test.for([
  [
    'the first words name a brand that nothing else is of',
    { html: `Welcome to your Netflix membership. ${letter}` },
    { html: `Welcome to <a href="https://www.netflix.com/">Netflix</a>. ${letter}` },
  ],
  [
    'a form service sends it, and the page is elsewhere',
    { from: 'Forms <notices@typeform.com>', html: letter },
    { from: 'Forms <notices@example.net>', html: letter },
  ],
  [
    'it goes to many strangers, and nothing proves its author',
    { to: [jane, ...strangers].join(', '), html: document, fields: [failed] },
    { to: [jane, ...strangers].join(', '), html: document, fields: [proven] },
  ],
  [
    'a name is written with a capital I for an l',
    { from: 'Payment DecIined <billing@example.net>', html: letter },
    { from: 'Castro <billing@example.net>', subject: "I'm glad", html: letter },
  ],
  [
    'no program can read its date',
    { html: letter, fields: ['Date: Xy, 29 Jan'] },
    { html: letter, fields: ['Date: Thu, 29 Jan 2026 10:00:00 +0000 (UTC)'] },
  ],
] as const)('%s: that confirms a page, and its opposite does not', async ([, given, opposite]) => {
  const from = 'Billing <billing@example.net>'
  expect(await judged({ from, ...given })).toMatchObject({ isConfirmed: true })
  expect(await judged({ from, ...opposite })).toMatchObject({ isConfirmed: false })
})

test.for([
  [
    'a newsletter that links to its own site',
    {
      from: 'Page <news@page.example>',
      html: `${page} You won a prize! Claim your reward: your account.`,
      fields: ['List-Unsubscribe: <https://page.example/u>'],
    },
  ],
  [
    'a newsletter that a service of its own domain redirects',
    {
      from: 'Shop <news@shop.example>',
      html: '<a href="https://click.shop.example/?u=https://partner.example/a">Shop now</a> Sale!',
      fields: ['List-Unsubscribe: <https://shop.example/u>'],
    },
  ],
  [
    'an answer among friends',
    {
      from: 'John <john@friend.example>',
      subject: 'Re: lunch',
      html: '<p>See <a href="https://menu.example/today">here</a></p>&gt; Where?<br>&gt; When?',
      fields: ['In-Reply-To: <1@home.example>'],
    },
  ],
  [
    'a mailing list of the recipient',
    {
      from: 'Dev <dev@kernel.example>',
      html: '<a href="https://lists.home.example/info/list">list info</a>',
      fields: ['List-Id: <list.home.example>'],
    },
  ],
] as const)('the content does not confirm %s', async ([, given]) => {
  const { pages, isConfirmed } = await judged(given)
  expect(pages).not.toEqual([])
  expect(isConfirmed).toBe(false)
})
