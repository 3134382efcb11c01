import { describe, expect, test } from 'vitest'
import { campaignKeys, isSameCampaign } from '../../../src/pieces/fingerprints.ts'
import { groupIntoCampaigns } from '../../support/campaigns.ts'
import { analysisOf, type Written } from '../../support/shingles.ts'

const offer =
  'Dear customer, we are glad to tell you that your parcel has arrived at our depot. To have it ' +
  'brought to your house, please pay the small fee for customs within two days. If you do not ' +
  'answer, the parcel goes back to where it came from and the fee is lost. Our drivers work from ' +
  'Monday to Saturday and call before they come.'
const statement =
  'Good morning, attached is the statement for the last month as we agreed by telephone. Have a ' +
  'look at the third page, where the costs of travel are listed, and tell me whether you see it ' +
  'as I do. I will be in the office on Thursday. Greetings from all of us.'
const disclaimer =
  ' This message and what is attached to it are meant for the person they are addressed to, and ' +
  'may hold what is confidential or privileged. If you are not that person, you may not read, ' +
  'copy, pass on or use any of it; please tell the one who wrote it and delete it. Opinions in ' +
  'this message are those of its author and not those of the company, which takes no part in any ' +
  'liability for damage that is done by a virus that may have come with it. The company is ' +
  'registered in the register of companies under the number given at the head of its letters.'
const salads = [
  ' honor several flower shine driver battle primitive interest western train kettle rubber',
  ' sheep region island yard plastic tongue exchange college motion throughout marble spoon',
] as const
const task = (name: string) =>
  `Hi ${name}, are you at your desk today? I need you to take care of a task for me before noon. ` +
  'Send me your number and I tell you the rest.'
const image = (name: string) =>
  `<a href="https://shop.example/1"><img src="https://pictures.example/${name}"></a>`

const same: readonly (readonly [string, Written, Written])[] = [
  ['the same text', { text: offer }, { text: offer }],
  [
    'another subject and author',
    { text: offer, subject: 'A', from: 'a@b.example' },
    { text: offer },
  ],
  [
    'another name, amount and link',
    { text: `${offer.replace('customer', 'Rose Miller')} Pay 3.20 at https://a.example/1` },
    { text: `${offer.replace('customer', 'Tom')} Pay 14 at https://b.example/2` },
  ],
  ['a name in a greeting', { text: task('Anna') }, { text: task('Mister James Miller') }],
  ['random words at the end', { text: offer + salads[0] }, { text: offer + salads[1] }],
  ['one sentence more', { text: `${offer} We wish you a pleasant day.` }, { text: offer }],
  ['one clause less', { text: offer.replace(/ and call before.*/, '.') }, { text: offer }],
  [
    'another case and disguise',
    { text: offer.toUpperCase().replaceAll('O', 'О') },
    { text: offer },
  ],
  [
    'HTML instead of text',
    { html: `<p>${offer.replace('. To', '.</p><p>To')}</p>` },
    { text: offer },
  ],
  [
    'a short text',
    { text: 'Your mailbox is full, click here to have more room' },
    { text: 'YOUR MAILBOX IS FULL: click here to have more room!' },
  ],
  [
    'the same picture from elsewhere',
    { html: image('offer.png') },
    { html: `<p>${image('offer.png')}</p>` },
  ],
]

const different: readonly (readonly [string, Written, Written])[] = [
  ['another text', { text: offer }, { text: statement }],
  [
    'the same long disclaimer below',
    { text: offer.slice(0, 200) + disclaimer },
    { text: statement.slice(0, 200) + disclaimer },
  ],
  [
    'another wording',
    { text: offer },
    {
      text: offer
        .replace('glad to tell', 'happy to inform')
        .replace('arrived at our depot', 'reached our storehouse')
        .replace('brought to your house', 'delivered to your door')
        .replace('goes back', 'is returned'),
    },
  ],
  ['the same beginning', { text: `${offer.slice(0, 150)} ${statement}` }, { text: offer }],
  ['half of it', { text: offer.slice(0, 160) }, { text: offer }],
  ['one in front of the other', { text: `${statement} ${offer}` }, { text: offer }],
  [
    'a short text that is nearly the same',
    { text: 'Your mailbox is full, click here to have more room' },
    { text: 'Your mailbox is full, click here to have more time' },
  ],
  ['other pictures', { html: image('offer.png') }, { html: image('other.png') }],
]

const without: readonly (readonly [string, Written])[] = [
  ['nothing at all', {}],
  ['blanks', { text: ' \r\n \r\n' }],
  ['a phrase that everybody writes', { text: 'Please see attached.' }],
  ['a link alone', { text: 'https://shop.example/1' }],
  ['HTML without words', { html: '<html><body><p></p></body></html>' }],
]

const fingerprintsOf = async (written: Written) => (await analysisOf(written)).fingerprints

describe('two messages belong to one campaign', () => {
  test.for(same)('with %s', async ([, one, other]) => {
    const [a, b] = [await fingerprintsOf(one), await fingerprintsOf(other)]
    expect(isSameCampaign(a, b)).toBe(true)
    expect(isSameCampaign(b, a)).toBe(true)
    expect(new Set(campaignKeys(a)).isDisjointFrom(new Set(campaignKeys(b)))).toBe(false)
  })
})

describe('two messages belong to different campaigns', () => {
  test.for(different)('with %s', async ([, one, other]) => {
    const [a, b] = [await fingerprintsOf(one), await fingerprintsOf(other)]
    expect(campaignKeys(a)).not.toEqual([])
    expect(campaignKeys(b)).not.toEqual([])
    expect(isSameCampaign(a, b)).toBe(false)
    expect(isSameCampaign(b, a)).toBe(false)
  })
})

describe('a message without keys', () => {
  test.for(without)('with %s', async ([, written]) => {
    const fingerprints = await fingerprintsOf(written)
    expect(campaignKeys(fingerprints)).toEqual([])
    expect(isSameCampaign(fingerprints, fingerprints)).toBe(false)
  })
})

test('there are at most eight keys, of 16 hexadecimal digits', async () => {
  const keys = campaignKeys(await fingerprintsOf({ text: offer }))
  expect(keys.length).toBe(8)
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{16}$/)
})

test('a campaign does not drift: each message is compared with the first', async () => {
  const words = offer.split(' ')
  const steps = Array.from({ length: 20 }, (_, at) =>
    words.map((word, index) => (index < at * 4 ? `changed${index}` : word)).join(' '),
  )
  const messages = await Promise.all(
    steps.map(async (text) => ({ text, fingerprints: await fingerprintsOf({ text }) })),
  )
  const [first, ...others] = groupIntoCampaigns(messages)
  expect(first?.members.length).toBeGreaterThan(1)
  expect(first?.members.length).toBeLessThan(8)
  expect(others.length).toBeGreaterThan(1)
})

test('fingerprints never change', async () => {
  expect(await fingerprintsOf({ text: offer })).toEqual({
    words: '64',
    text: '45a3586e49999eef',
    near: 'cb1721018560aba389ef2965a9842b2ee75326e875bce903415df273696e817b3f525df4',
    head: 'cb172101ac60ab26',
    wording:
      'TZWCG4nLBxHb798Xd6PcJctD4BHL7yAju/helIphmixJuBHRQef435i1yyvgq70I+JRlW9wHNL1Vy3cI/7Kdrg==',
  })
})

test('a campaign that was stored with a longer signature and no wording goes on', async () => {
  const stored = {
    words: '64',
    near:
      'cb1721018560aba389ef2965a9842b2ee75326e875bce903415df273696e817b3f525df44d9d1191' +
      '916f3ab269235d66120e8974c4a69063b6a6250c7479ea629736fbfb11281bea5852c2fc463c65c7' +
      'eb4d56904d52b5aee7188dd9899b1860416b201369cef940666911b6a0d5374255a61f1d896eff2c',
    head: 'cb172101ac60ab26898c2950a9558e2e',
  }
  const again = await fingerprintsOf({ text: `${offer} We wish you a pleasant day.` })
  expect(isSameCampaign(stored, again)).toBe(true)
  expect(new Set(campaignKeys(stored)).isDisjointFrom(new Set(campaignKeys(again)))).toBe(false)
  const other = await fingerprintsOf({ text: statement })
  expect(isSameCampaign(stored, other)).toBe(false)
})
