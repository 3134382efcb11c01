import { filled, htmlPlace } from './body-places.ts'
import type { Place } from './draft.ts'
import { base64, percents } from './way.ts'

/** Attributes of links; `{}` is the text. */
const links: readonly string[] = [
  '<a href="https://t.spam.test/c/{}">x</a>',
  '<a href="https://t.spam.test/c/{}/open.gif">x</a>',
  '<a href="https://t.spam.test/{}.html">x</a>',
  '<a href="https://t.spam.test/a(b)/{}">x</a>',
  '<a href="https://t.spam.test/a^b/{}">x</a>',
  '<a href="https://t.spam.test/{b}/{}">x</a>',
  '<a href="https://t.spam.test/c;u={}">x</a>',
  '<a href="https://t.spam.test/c?u={}">x</a>',
  '<a href="https://t.spam.test/c?a=1&amp;mail={}&amp;b=2">x</a>',
  '<a href="https://t.spam.test/c?{}">x</a>',
  '<a href="https://t.spam.test/c?{}=1">x</a>',
  '<a href="https://t.spam.test/c#{}">x</a>',
  '<a href="https://t.spam.test/c#!/u/{}">x</a>',
  '<a href="https://{}@t.spam.test/c">x</a>',
  '<a href="https://user:{}@t.spam.test/c">x</a>',
  '<a href="https:&#47;&#47;t.spam.test/c/{}">x</a>',
  '<a href="https&#58;//t.spam.test/c?u={}">x</a>',
  '<a href="https&colon;//t.spam.test/c?u={}">x</a>',
  '<a href="&#104;ttps://t.spam.test/c?u={}">x</a>',
  '<a href="https&Tab;://t.spam.test/c?u={}">x</a>',
  '<a href="https:t.spam.test/c/{}">x</a>',
  '<a href="https:/t.spam.test/c/{}">x</a>',
  '<a href="https:////t.spam.test/c/{}">x</a>',
  '<a href="ht\ttps://t.spam.test/c/{}">x</a>',
  '<a href="https://t.spam.test/\tc/{}">x</a>',
  '<a href="\r\n https://t.spam.test/c/{}">x</a>',
  '<a href="\u0001https://t.spam.test/c/{}">x</a>',
  '<a href="https:\\\\t.spam.test\\c\\{}">x</a>',
  '<a href="//t.spam.test/c/{}">x</a>',
  '<a href="www.spam.test/c/{}">x</a>',
  '<a href="t.spam.test/c/{}">x</a>',
  '<a href="/c/{}">x</a>',
  '<a href="?u={}">x</a>',
  '<a href="#{}">x</a>',
  '<a href="hxxps://t.spam.test/c/{}">x</a>',
  '<a href="HTTPS://T.SPAM.TEST/c/{}">x</a>',
  '<a href="https://192.0.2.7/c/{}">x</a>',
  '<a href="https://[2001:db8::7]/c/{}">x</a>',
  '<a href="https://0xc0000207/c/{}">x</a>',
  '<a href="https://t.spam%2etest/c/{}">x</a>',
  '<a href="https://t.spam.test:8443/c/{}">x</a>',
  '<a href="https://t\uff0espam\uff0etest/c/{}">x</a>',
  "<a href='https://t.spam.test/c/{}'>x</a>",
  '<a href=https://t.spam.test/c/{}>x</a>',
  '<a href="https://t.spam.test/c/{}',
  '<a HREF = "https://t.spam.test/c/{}"\r\n>x',
  '<a/href="https://t.spam.test/c/{}">x</a>',
  '<a href="https://a.test/" href="https://t.spam.test/c/{}">x</a>',
  '<a ping="https://t.spam.test/p/{}" href="https://t.spam.test/">x</a>',
  '<a href="https://t.spam.test/redirect?to=https%3A%2F%2Fshop.test%2Fc%2F{}">x</a>',
  '<a href="https://t.spam.test/https://shop.test/{}">x</a>',
  '<a href="mailto:{}">x</a>',
  '<a href="mailto:leave-{}@spam.test">x</a>',
  '<a href="mailto:leave@spam.test?subject={}">x</a>',
  '<a href="mailto:leave@spam.test?body=remove%20{}">x</a>',
  '<a href="mailto:leave@spam.test?cc={}">x</a>',
  '<a href="tel:{}">x</a>',
  '<a href="tel:+4930;ext={}">x</a>',
  '<a href="sms:+4930?body={}">x</a>',
  '<a href="whatsapp://send?text={}">x</a>',
  '<a href="https://wa.me/4930?text={}">x</a>',
  '<a href="tg://resolve?domain=x&start={}">x</a>',
  '<a href="xmpp:a@spam.test?message;body={}">x</a>',
  '<a href="bitcoin:1abc?label={}">x</a>',
  '<a href="wss://t.spam.test/{}">x</a>',
  '<a href="ftp://t.spam.test/{}">x</a>',
  '<a href="webcal://t.spam.test/{}">x</a>',
  '<a href="gopher://t.spam.test/{}">x</a>',
  '<a href="file:///home/{}/a.txt">x</a>',
  '<a href="urn:x:{}">x</a>',
  '<a href="cid:{}@spam.test">x</a>',
  '<a href="data:text/html,%3Cp%3E{}">x</a>',
  '<a href="data:text/plain;x={},abc">x</a>',
  '<a href="javascript:go(\'{}\')">x</a>',
  '<a href="java\nscript:go(\'{}\')">x</a>',
  '<a href="vbscript:go({})">x</a>',
  '<a href="intent://t.spam.test/{}#Intent;scheme=https;S.u={};end">x</a>',
  '<a href="view-source:https://t.spam.test/{}">x</a>',
  '<a href="blob:https://t.spam.test/{}">x</a>',
  '<img src="https://t.spam.test/o/{}.gif">',
  '<img src="a.png" srcset="https://t.spam.test/1.png 1x, https://t.spam.test/{} 2x">',
  '<img longdesc="https://t.spam.test/{}" src="a.png">',
  '<img lowsrc="https://t.spam.test/{}" dynsrc="https://t.spam.test/{}">',
  '<picture><source srcset="https://t.spam.test/{}"></picture>',
  '<video poster="https://t.spam.test/{}"><track src="https://t.spam.test/{}"></video>',
  '<audio src="https://t.spam.test/{}"></audio>',
  '<iframe src="https://t.spam.test/{}"></iframe>',
  '<frame src="https://t.spam.test/{}">',
  '<embed src="https://t.spam.test/{}">',
  '<object data="https://t.spam.test/{}"><param name=u value="{}"></object>',
  '<applet codebase="https://t.spam.test/{}"></applet>',
  '<form action="https://t.spam.test/go/{}"><button formaction="https://t.spam.test/{}">x</button></form>',
  '<input type=image src="https://t.spam.test/{}">',
  '<area href="https://t.spam.test/{}">',
  '<q cite="https://t.spam.test/{}">x</q>',
  '<del cite="https://t.spam.test/{}">x</del>',
  '<body background="https://t.spam.test/{}">',
  '<td background="https://t.spam.test/{}">x</td>',
  '<p style="background:url(https://t.spam.test/{})">x</p>',
  '<p style="background:url(\'//t.spam.test/{}\')">x</p>',
  '<style>@import "https://t.spam.test/{}.css";</style>',
  '<style>.a{background:image-set("https://t.spam.test/{}" 1x)}</style>',
  '<link rel=stylesheet href="https://t.spam.test/{}.css">',
  '<meta http-equiv=refresh content="0;url=https://t.spam.test/{}">',
  '<meta property="og:url" content="https://t.spam.test/{}">',
  '<svg><a xlink:href="https://t.spam.test/{}">x</a></svg>',
  '<svg><image href="https://t.spam.test/{}"/><use href="https://t.spam.test/a.svg#{}"/></svg>',
  '<v:fill src="https://t.spam.test/{}"/>',
  '<!--[if mso]><v:rect href="https://t.spam.test/{}"></v:rect><![endif]-->',
  '<script src="https://t.spam.test/{}.js"></script>',
  '<script>location = "https://t.spam.test/{}"</script>',
  '<html manifest="https://t.spam.test/{}">',
  '<p data-href="https://t.spam.test/{}">x</p>',
  '<p>&lt;a href="https://t.spam.test/{}"&gt;</p>',
]

/** Links in which the text is a part of the host, or a number. */
const hosts: readonly string[] = [
  '<a href="https://{}.spam.test/">x</a>',
  '<a href="https://u-{}.t.spam.test/c">x</a>',
  '<a href="http://t.spam.test@{}.spam.test/">x</a>',
  '<img src="//{}.t.spam.test/o.gif">',
]

/** The places in links. */
export const linkPlaces: readonly Place[] = [
  ...links.map((template) => htmlPlace(template, 'link')),
  ...hosts.map((template) => htmlPlace(template, 'atom')),
  {
    ...htmlPlace('<a href="https://t.spam.test:{}/c">x</a>', 'link'),
    categories: ['port'],
  },
  {
    ...htmlPlace('<img src="//t.spam.test:{}/o.gif">', 'link'),
    categories: ['port'],
  },
  {
    name: 'link after <base href>',
    medium: 'link',
    key: 'base',
    put({ head, html }, written) {
      head.push('<base href="https://t.spam.test/">')
      html.push(`<a href="c/${written}">x</a>`)
    },
  },
  {
    name: '<base href>',
    medium: 'link',
    key: 'base',
    put({ head, html }, written) {
      head.push(`<base href="https://t.spam.test/${written}/">`)
      html.push('<a href="c">x</a>')
    },
  },
  {
    name: 'base64 of a link in a link',
    medium: 'atom',
    put({ html }, written) {
      html.push(
        `<a href="https://t.spam.test/r/${base64(`https://shop.test/c?u=${written}`)}">x</a>`,
      )
    },
  },
  {
    name: 'data: link in base64',
    medium: 'html',
    put({ html }, written) {
      html.push(
        `<iframe src="data:text/html;base64,${base64(filled('<p>Dear {}</p>', written))}"></iframe>`,
      )
    },
  },
  {
    name: 'percent-encoded link in a link',
    medium: 'atom',
    put({ html }, written) {
      html.push(
        `<a href="https://t.spam.test/?to=${percents(`https://shop.test/${written}`)}">x</a>`,
      )
    },
  },
]
