import type { Place } from './draft.ts'
import type { Category } from './identities.ts'
import type { Medium } from './way.ts'

const plainTexts: readonly string[] = [
  'Your code: {}',
  'Dear {}, your parcel is waiting.',
  'Sehr geehrte {}, Ihr Paket wartet.',
  'Ol\u00e1 {}! Veja.',
  '{}\u69d8',
  '\u5c0a\u656c\u7684{}',
  'Congratulations, {}!',
  '{} - your parcel',
  'This mail was sent to {}.',
  '> On Monday {} wrote:',
  '-- \r\nSent for {}',
  '[image: {}]',
  'See t.spam.test/c/{} now',
  'https://t.spam.test/c/{}',
  'https://t.spam.test/c/\r\n{}',
  '<https://t.spam.test/?u={}>',
  '[pills](https://t.spam.test/{})',
  'hxxps://t[.]spam[.]test/{}',
  'www.spam.test/{}',
  'mailto:{}',
  'ftp://t.spam.test/{}',
  'HTTPS://T.SPAM.TEST/{}/x',
  '//t.spam.test/{}',
  'tel:+4930{}',
  '{"user": "{}"}',
  'From nobody\r\nTo: {}\r\nSubject: old mail',
  '-----BEGIN PGP MESSAGE-----\r\nComment: {}\r\n\r\nabcd\r\n-----END PGP MESSAGE-----',
]

const htmlTexts: readonly string[] = [
  '<p>Your code: {}</p>',
  '<p>Dear {}, your parcel is waiting.</p>',
  '<p>Hej {}! Se her.</p>',
  '<p>Say\u0131n {}, merhaba</p>',
  '<p>{}\u69d8</p>',
  '<h1>{} - your parcel</h1>',
  '<table><tr><td>Account</td><td>{}</td></tr></table>',
  '<p>See t.spam.test/c/{} now</p>',
  '<p>https://t.spam.test/c/{}</p>',
  '<pre>sent to {}</pre>',
  '<blockquote>{} wrote</blockquote>',
  '<a href="https://t.spam.test/">{}</a>',
  '<div style="display:none">{}</div>',
  '<div style="display : NONE ! important">{}</div>',
  '<div hidden>{}</div>',
  '<div style="font-size:0">{}</div>',
  '<div style="color:#fff;background:#ffffff">{}</div>',
  '<div style="opacity:0">{}</div>',
  '<div style="visibility:hidden">{}</div>',
  '<div style="position:absolute;left:-9999px">{}</div>',
  '<div style="max-height:0;overflow:hidden;mso-hide:all">{}</div>',
  '<details><summary>x</summary>{}</details>',
  '<template>{}</template>',
  '<noscript>{}</noscript>',
  '<select><option>{}</option></select>',
  '<button>{}</button>',
  '<svg><text>{}</text><desc>{}</desc></svg>',
  '<math><mi>{}</mi></math>',
  '<iframe srcdoc="<p>x</p>">{}</iframe>',
  '<noembed>{}</noembed>',
  '<unknown-element>{}</unknown-element>',
  '<script>var user = "{}"</script>',
  '<style>.a::after { content: "{}" }</style>',
  '<!-- {} -->',
  '<!--[if mso]><p>{}</p><![endif]-->',
  '<![CDATA[{}]]>',
  '<?xml user="{}"?>',
  '<!DOCTYPE {}>',
  '<title>{}</title>',
]

const attributes: readonly string[] = [
  '<img alt="{}" src="https://t.spam.test/a.png">',
  "<p title='{}'>x</p>",
  '<p data-user="{}">x</p>',
  '<p id="{}">x</p>',
  '<p class="{}">x</p>',
  '<p style="font-family: {}">x</p>',
  '<p aria-label="{}">x</p>',
  '<p lang="{}">x</p>',
  '<p xmlns:a="{}">x</p>',
  '<a name="{}">x</a>',
  '<a class="__cf_email__" data-cfemail="{}">[protected]</a>',
  '<input type=hidden name=u value="{}">',
  '<input placeholder="{}">',
  '<form name="{}"></form>',
  '<meta name="author" content="{}">',
  '<table summary="{}"><tr><td>x</td></tr></table>',
  '<font face="{}">x</font>',
  '<iframe srcdoc="{}"></iframe>',
  '<img usemap="#{}" src="cid:a">',
  '<p onclick="open(\'{}\')">x</p>',
  '<a download="{}" href="https://t.spam.test/">x</a>',
]

/** The places in the texts of a message, and around its parts. */
export const bodyPlaces: readonly Place[] = [
  ...plainTexts.map((template): Place => ({
    name: `text ${shown(template)}`,
    medium: 'plain',
    put({ plain }, written) {
      plain.push(filled(template, written))
    },
  })),
  ...htmlTexts.map((template) => htmlPlace(template, 'html')),
  ...attributes.map((template) => htmlPlace(template, 'attribute')),
  {
    name: 'preamble',
    medium: 'plain',
    put({ preamble }, written) {
      preamble.push(`This is for ${written}`)
    },
  },
  {
    name: 'epilogue',
    medium: 'plain',
    put({ epilogue }, written) {
      epilogue.push(`This was for ${written}`)
    },
  },
  {
    name: 'boundary',
    medium: 'atom',
    key: 'boundary',
    put(draft, written) {
      // RFC 2046 allows 70 characters.
      if (written.length > 60 || /["\\]/.test(written)) return 'impossible'
      draft.boundary = `b-${written}`
      return undefined
    },
  },
  ...['; x="{}"', '; {}=x', '; type="text/{}"', '; charset="{}"', ' ({})', "; x*=utf-8''{}"].map(
    (template): Place => ({
      name: `Content-Type of the message ${template}`,
      medium: 'atom',
      key: 'parameters',
      categories: template.includes('{}=') ? (['token', 'local'] satisfies Category[]) : undefined,
      put(draft, written) {
        draft.parameters = filled(template, written)
      },
    }),
  ),
]

export function htmlPlace(template: string, medium: Medium, keyOf?: string): Place {
  const isHead = /^<(?:title|meta|base|link|style)\b/.test(template)
  return {
    name: `HTML ${shown(template)}`,
    medium,
    key: keyOf,
    put({ head, html }, written) {
      ;(isHead ? head : html).push(filled(template, written))
    },
  }
}

/** Puts a text in each gap of a template. */
export function filled(template: string, written: string): string {
  return template.split('{}').join(written)
}

/** A template on one line. */
function shown(template: string): string {
  return JSON.stringify(template).slice(1, -1).replaceAll('\\"', '"')
}
