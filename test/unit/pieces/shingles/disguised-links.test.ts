import { describe, expect, test } from 'vitest'
import { hashesOf } from '../../../support/shingles.ts'

const plain = 'https://shop.example/a/b?x=1'
const carried = encodeURIComponent(plain)
const inBase64 = Buffer.from(plain).toString('base64url')

/** Disguised links in a text, each of which leads to the plain link. */
const inText: readonly (readonly [disguise: string, written: string, plain?: string])[] = [
  ['hxxp', 'hxxps://shop.example/a/b?x=1'],
  ['hXXp', 'hXXps://shop.example/a/b?x=1'],
  ['h**p', 'h**ps://shop.example/a/b?x=1'],
  ['[.]', 'https://shop[.]example/a/b?x=1'],
  ['(.)', 'https://shop(.)example/a/b?x=1'],
  ['{.}', 'https://shop{.}example/a/b?x=1'],
  ['[dot]', 'https://shop[dot]example/a/b?x=1'],
  ['(dot) with blanks', 'https://shop (dot) example/a/b?x=1'],
  ['[.] without a scheme', 'shop[.]example/a/b?x=1'],
  ['[:]', 'https[:]//shop.example/a/b?x=1'],
  ['all of these', 'hxxps[:]//shop[.]example/a/b?x=1'],
  ['blanks in the scheme', 'https : // shop.example/a/b?x=1'],
  ['backslashes', 'https:\\\\shop.example/a/b?x=1'],
  ['fullwidth characters', 'ｈｔｔｐｓ：／／ｓｈｏｐ．ｅｘａｍｐｌｅ/a/b?x=1'],
  ['ideographic full stop', 'https://shop。example/a/b?x=1'],
  ['mathematical letters', 'https://𝘀𝗵𝗼𝗽.example/a/b?x=1'],
  ['circled letters', 'https://ⓢⓗⓞⓟ.example/a/b?x=1'],
  ['zero-width space', 'https://sh\u200bop.example/a/b?x=1'],
  ['soft hyphen', 'https://sh\u00adop.example/a/b?x=1'],
  ['word joiner in the path', 'https://shop.example/\u2060a/b?x=1'],
  ['http instead of https', 'http://shop.example/a/b?x=1'],
  ['capitals in the host', 'HTTPS://SHOP.Example/a/b?x=1'],
  ['www', 'https://www.shop.example/a/b?x=1'],
  ['www without a scheme', 'www.shop.example/a/b?x=1'],
  ['a final dot of the host', 'https://shop.example./a/b?x=1'],
  ['the usual port', 'https://shop.example:443/a/b?x=1'],
  ['the usual port of http', 'http://shop.example:80/a/b?x=1'],
  ['a user before the host', 'https://bank.test@shop.example/a/b?x=1'],
  ['a user with a password', 'https://www.bank.test:443@shop.example/a/b?x=1'],
  ['a user that looks like a path', 'https://bank.test%2Flogin@shop.example/a/b?x=1'],
  ['a percent-encoded host', 'https://%73%68%6f%70.example/a/b?x=1'],
  ['a percent-encoded path', 'https://shop.example/%61/%62?x=1'],
  ['a percent-encoded parameter', 'https://shop.example/a/b?%78=%31'],
  ['doubled slashes', 'https://shop.example//a///b?x=1'],
  ['dot segments', 'https://shop.example/z/../a/./b?x=1'],
  ['a final slash', 'https://shop.example/a/b/?x=1'],
  ['a fragment', 'https://shop.example/a/b?x=1#you@provider.example'],
  ['utm parameters', 'https://shop.example/a/b?utm_source=m&x=1&utm_medium=e'],
  ['click ids', 'https://shop.example/a/b?x=1&fbclid=a1&gclid=b2&msclkid=c3'],
  ['ids of mailers', 'https://shop.example/a/b?x=1&mc_eid=1&mkt_tok=2&_hsenc=3'],
  ['a session in the path', 'https://shop.example/a/b;jsessionid=1A2B?x=1'],
  ['empty parameters', 'https://shop.example/a/b?&&x=1&'],
  [
    'the order of parameters',
    'https://shop.example/a/b?y=2&x=1',
    'https://shop.example/a/b?x=1&y=2',
  ],
  ['Google', `https://www.google.com/url?sa=t&q=${carried}&usg=1`],
  ['Google elsewhere', `https://www.google.co.uk/url?url=${carried}`],
  ['Google AMP', 'https://www.google.com/amp/s/shop.example/a/b?x=1'],
  ['Google advertisements', `https://www.googleadservices.com/pagead/aclk?adurl=${carried}`],
  ['DoubleClick', `https://adclick.g.doubleclick.net/pcs/click?xai=1&adurl=${carried}`],
  ['Google Translate', 'https://shop-example.translate.goog/a/b?x=1&_x_tr_sl=en'],
  ['the AMP cache', 'https://shop-example.cdn.ampproject.org/c/s/shop.example/a/b?x=1'],
  ['Safe Links', `https://nam02.safelinks.protection.outlook.com/?url=${carried}&data=05`],
  ['Proofpoint 1', `https://urldefense.proofpoint.com/v1/url?u=${carried}&k=1`],
  [
    'Proofpoint 2',
    'https://urldefense.proofpoint.com/v2/url?u=https-3A__shop.example_a_b-3Fx-3D1&d=DwM',
  ],
  ['Proofpoint 3', 'https://urldefense.com/v3/__https://shop.example/a/b?x=1__;!!abc!d$'],
  [
    'Proofpoint 3 with replaced characters',
    'https://urldefense.com/v3/__https:/*shop.example/a/b?x=1__;Lw!!abc$',
  ],
  ['Facebook', `https://l.facebook.com/l.php?u=${carried}&h=AT0`],
  ['Instagram', `https://l.instagram.com/?u=${carried}&e=1`],
  ['LinkedIn', `https://www.linkedin.com/redir/redirect?url=${carried}`],
  ['YouTube', `https://www.youtube.com/redirect?event=v&q=${carried}`],
  ['Bing', `https://www.bing.com/ck/a?!&&p=1&u=a1${inBase64}&ntb=1`],
  ['DuckDuckGo', `https://duckduckgo.com/l/?uddg=${carried}`],
  ['Yahoo', `https://r.search.yahoo.com/_ylt=A/RV=2/RE=1/RU=${carried}/RK=2/RS=x-`],
  ['Steam', `https://steamcommunity.com/linkfilter/?url=${carried}`],
  ['Tumblr', `https://t.umblr.com/redirect?z=${carried}&t=1`],
  ['Slack', `https://slack-redir.net/link?url=${carried}`],
  ['VK', `https://vk.com/away.php?to=${carried}`],
  ['a remover of referrers', `https://href.li/?${plain}`],
  ['Barracuda', `https://linkprotect.cudasvc.com/url?a=${carried}&c=E,1`],
  ['Symantec', `https://clicktime.symantec.com/3A?u=${carried}`],
  ['Sophos', `https://eu1.protection.sophos.com/?d=x&u=${inBase64}&i=1`],
  ['Cisco', `https://secure-web.cisco.com/1abc_D/${carried}`],
  ['Menlo', `https://isolate.menlosecurity.com/1/3735928/${plain}`],
  ['the Internet Archive', `https://web.archive.org/web/20260101/${plain}`],
  [
    'a redirector in a redirector',
    `https://www.google.com/url?q=${encodeURIComponent(`https://l.facebook.com/l.php?u=${carried}`)}`,
  ],
  ['an unknown redirector', `https://track.example/c?to=${carried}`],
  ['an unknown redirector with base64', `https://track.example/c/1?u=${inBase64}`],
  ['a target encoded twice', `https://track.example/c?to=${encodeURIComponent(carried)}`],
  ['a host as one number', 'http://3221225991/a', 'http://192.0.2.7/a'],
  ['a host in hexadecimal', 'http://0xC0000207/a', 'http://192.0.2.7/a'],
  ['a host in octal', 'http://0300.0.02.07/a', 'http://192.0.2.7/a'],
  ['a host of mixed numbers', 'http://192.0x00.0x2.07/a', 'http://192.0.2.7/a'],
  ['a host with fewer parts', 'http://192.0.519/a', 'http://192.0.2.7/a'],
  ['an IPv6 host with zeros', 'http://[2001:0db8:0:0::7]/a', 'http://[2001:db8::7]/a'],
  ['Punycode', 'https://xn--mller-kva.example/a', 'https://müller.example/a'],
  ['Punycode in capitals', 'https://XN--MLLER-KVA.example/a', 'https://müller.example/a'],
]

/** Disguised links in an attribute of an HTML text. */
const inHtml: readonly (readonly [disguise: string, href: string])[] = [
  ['decimal entities', '&#104;ttps://shop.example/a/b?x=1'],
  ['hexadecimal entities', 'https&#x3a;//shop.example/a/b?x=1'],
  ['named entities', 'https&colon;&sol;&sol;shop&period;example/a/b&quest;x&equals;1'],
  ['entities of zero width', 'https://sh&#8203;op.example/a/b?x=1'],
  ['line breaks', 'https://shop.exa\r\nmple/a/b?x=1'],
  ['tabs and blanks around', ' \thttps://shop.example/a/b?x=1 '],
  ['no scheme', '//shop.example/a/b?x=1'],
  ['one slash', 'https:/shop.example/a/b?x=1'],
  ['backslashes', 'https:\\\\shop.example\\a\\b?x=1'],
]

const nearMisses: readonly (readonly [what: string, one: string, other: string])[] = [
  ['another page', 'https://shop.example/a', 'https://shop.example/b'],
  ['another value', 'https://shop.example/a?x=1', 'https://shop.example/a?x=2'],
  ['another parameter', 'https://shop.example/a?x=1', 'https://shop.example/a?y=1'],
  ['a parameter that is no tracking', 'https://shop.example/a?source=m', 'https://shop.example/a'],
  ['another port', 'https://shop.example:8443/a', 'https://shop.example/a'],
  ['another host under the domain', 'https://a.shop.example/', 'https://b.shop.example/'],
  ['www2 is a host', 'https://www2.shop.example/', 'https://shop.example/'],
  ['a Cyrillic host is another', 'https://shоp.example/', 'https://shop.example/'],
  ['Punycode of a look-alike', 'https://xn--shp-rdd.example/', 'https://shop.example/'],
  ['a host that begins alike', 'https://shop.example.test/', 'https://shop.example/'],
  ['the user is not the host', 'https://shop.example@bank.test/', 'https://shop.example/'],
  ['capitals in a path', 'https://shop.example/Ab', 'https://shop.example/ab'],
  ['an encoded slash', 'https://shop.example/a%2Fb', 'https://shop.example/a/b'],
  ['a page of an application', 'https://shop.example/#/pay', 'https://shop.example/#/help'],
  [
    'a Google page that leads nowhere',
    'https://www.google.com/maps?q=x',
    'https://www.google.com/maps?q=y',
  ],
  [
    'a neighbor of Safe Links',
    `https://safelinks.test/?u=${carried}`,
    `https://safelinks.test/?u=${inBase64}`,
  ],
  ['an accent in the host', 'https://müller.example/', 'https://muller.example/'],
  ['another address', 'http://192.0.2.7/', 'http://192.0.2.8/'],
]

describe('a disguised link gives the same shingle as the plain one', () => {
  test.for(inText)('%s', async ([, written, as = plain]) => {
    const [expected = ''] = await hashesOf('link', { text: `Look: ${as} now` })
    expect(await hashesOf('link', { text: `Look: ${written} now` })).toContain(expected)
  })
  test.for(inHtml)('in HTML: %s', async ([, href]) => {
    const [expected = ''] = await hashesOf('link', { text: plain })
    expect(await hashesOf('link', { html: `<a href="${href}">Look</a>` })).toContain(expected)
  })
})

describe('a different link gives a different shingle', () => {
  test.for(nearMisses)('%s', async ([, one, other]) => {
    const [hash = ''] = await hashesOf('link', { text: one })
    expect(hash).not.toBe('')
    const [otherHash = ''] = await hashesOf('link', { text: other })
    expect(otherHash).not.toBe('')
    expect(hash).not.toBe(otherHash)
  })
})
