import type { LinkPlace } from '../../src/pieces/links.ts'
import { pdfFile } from './pdf.ts'
import { drawQrCode, gifFile, jpegFile, pngFile } from './pictures.ts'

/** A way to write a link, and the place in which the analysis should find it. */
export type LinkKind = {
  name: string
  where: LinkPlace
  /** What to add to which part of a message. */
  part: 'html' | 'text' | 'file'
  write: (url: string) => string | Buffer
  /** Name and media type of a file. */
  file?: readonly [name: string, type: string]
}

const page = (url: string) => `<html><body><a href="${url}">x</a></body></html>`
const encoded = (text: string) => Buffer.from(text).toString('base64')
const escaped = (text: string) => text.replaceAll(/./g, (char) => `&#${char.charCodeAt(0)};`)
const host = (url: string) => new URL(url).host

function html(where: LinkPlace, name: string, write: (url: string) => string): LinkKind {
  return { name, where, part: 'html', write }
}

function text(name: string, write: (url: string) => string): LinkKind {
  return { name, where: 'text', part: 'text', write }
}

function attached(
  where: LinkPlace,
  name: string,
  type: string,
  write: (url: string) => Buffer,
): LinkKind {
  return { name, where, part: 'file', write, file: ['x', type] }
}

function file(name: string, type: string, write: (url: string) => string): LinkKind {
  return { name: `${name} (${type})`, where: 'attachment', part: 'file', write, file: [name, type] }
}

/** Every kind of link that a browser or a mail program finds. */
export const linkKinds: readonly LinkKind[] = [
  html('html', 'a link', (url) => `<a href="${url}">x</a>`),
  html('html', 'a link without quotes', (url) => `<A HREF=${url}>x</A>`),
  html('html', 'a link in numeric references', (url) => `<a href="${escaped(url)}">x</a>`),
  html('html', 'a reference of windows-1252', (url) => `<a href="${url}?&#150;&#x80;">x</a>`),
  html('html', 'a link with line breaks', (url) => `<a href="\n${url.replace('//', '/\t/')}">`),
  html('html', 'a link with backslashes', (url) => `<a href="\\\\${host(url)}\\x">x</a>`),
  html('html', 'a link after <!-->', (url) => `<!--><a href="${url}">x</a><!-- -->`),
  html('html', 'a link after --!>', (url) => `<!-- --!><a href="${url}">x</a><!-- -->`),
  html('html', 'a link below a base', (url) => `<base href="${url}"><a href="y">x</a>`),
  html('html', 'a link beyond 1 MiB', (url) => `${' '.repeat(1_100_000)}<a href="${url}">x</a>`),
  html('html', 'an area', (url) => `<map name="m"><area href="${url}"></map>`),
  html('html', 'a link in SVG', (url) => `<svg><a xlink:href="${url}"><path/></a></svg>`),
  html('html', 'a shape of VML', (url) => `<v:roundrect href="${url}" fill="t"></v:roundrect>`),
  html('html', 'a comment for Outlook', (url) => `<!--[if mso]><v:rect href="${url}"><![endif]-->`),
  html('html', 'a page in a frame', (url) => `<iframe srcdoc="<a href='${url}'>"></iframe>`),
  html('form', 'a form', (url) => `<form action="${url}"></form>`),
  html('form', 'a button', (url) => `<button formaction="${url}">x</button>`),
  html('form', 'an input', (url) => `<input type="image" formaction="${url}">`),
  html('refresh', 'a refresh', (url) => `<meta http-equiv="refresh" content="0; url=${url}">`),
  html('embedded', 'a frame', (url) => `<iframe src="${url}"></iframe>`),
  html('embedded', 'an object', (url) => `<object data="${url}"></object>`),
  html('embedded', 'an embedded file', (url) => `<embed src="${url}">`),
  html('data', 'a data: URI', (url) => `<a href="data:text/html;base64,${encoded(page(url))}">`),
  html(
    'data',
    'an escaped data: URI',
    (url) => `<a href='data:text/html,${encodeURI(page(url))}'>`,
  ),
  html('text', 'an address in the text', (url) => `</a><p>See ${url} today</p>`),
  html('text', 'a host in the text', (url) => `</a><p>See ${host(url)}/x today</p>`),
  html('image', 'a picture', (url) => `<img src="${url}" width="1">`),
  html('image', 'a source of a picture', (url) => `<img srcset="${url} 2x">`),
  html('image', 'a background', (url) => `<table><td background="${url}"></table>`),
  html('image', 'a background in a style', (url) => `<p style="background: url('${url}')">`),
  html('image', 'a picture in VML', (url) => `<v:fill src="${url}"/>`),
  text('an address', (url) => `See ${url} today`),
  text('an address in brackets', (url) => `See <${url}>.`),
  text('a host with www', (url) => `See www.${host(url)}, today`),
  text('a host and a path', (url) => `See ${host(url)}/x today`),
  text('a host alone', (url) => `See ${host(url)}.`),
  file('a.html', 'text/html', page),
  file('a.htm', 'application/octet-stream', page),
  file('a.svg', 'image/svg+xml', (url) => `<svg><a href="${url}"><path/></a></svg>`),
  file('b.html', 'text/html', (url) => `<script>location.href = "${url}"</script>`),
  file('c.html', 'text/html', (url) => `<script>go(atob("${encoded(url)}"))</script>`),
  file('d.html', 'text/html', (url) => `<meta http-equiv=refresh content="1;${url}">`),
  file('a.xhtml', 'application/xhtml+xml', page),
  ...(['plain', 'packed', 'encrypted'] as const).flatMap((form) => [
    attached('pdf', `a link, ${form} PDF`, 'application/pdf', (url) => pdfFile({ url, form })),
    attached('pdf', `a text, ${form} PDF`, 'application/octet-stream', (url) =>
      pdfFile({ text: `See ${host(url)}/x now`, form }),
    ),
    attached('qr', `a QR code, ${form} PDF`, 'application/pdf', (url) =>
      pdfFile({ picture: drawQrCode(url), form }),
    ),
  ]),
  attached('qr', 'a QR code in PNG', 'image/png', (url) => pngFile(drawQrCode(url))),
  attached('qr', 'a QR code in JPEG', 'image/jpeg', (url) => jpegFile(drawQrCode(url))),
  attached('qr', 'a QR code in GIF', 'image/gif', (url) => gifFile(drawQrCode(url))),
  attached('qr', 'a small QR code', 'image/png', (url) => pngFile(drawQrCode(url, 2))),
  attached('qr', 'a host in a QR code', 'image/png', (url) => pngFile(drawQrCode(host(url)))),
]

/** Composes a message of parts in base64. */
export function composeParts(
  header: string,
  parts: readonly { type: string; name?: string; content: string | Buffer }[],
): Buffer {
  const lines = [header.trimEnd(), 'MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=B']
  for (const { type, name, content } of parts) {
    const charset = type.startsWith('text/') ? '; charset=utf-8' : ''
    const as = name === undefined ? 'inline' : `attachment; filename="${name}"`
    lines.push('', '--B', `Content-Type: ${type}${charset}`, `Content-Disposition: ${as}`)
    lines.push('Content-Transfer-Encoding: base64', '')
    lines.push(Buffer.from(content).toString('base64').replaceAll(/.{76}/g, '$&\n'))
  }
  return Buffer.from(`${[...lines, '--B--', ''].join('\n')}`, 'latin1')
}

/** A message, as its header and its decoded body. */
export type Host = { header: string; text: string; html: string }

/** Returns the message with a link of a kind added, at the start of the part. */
export function withLink({ header, text, html }: Host, kind: LinkKind, url: string): Buffer {
  const added = kind.write(url)
  const isHtml = kind.part === 'html'
  const start = /<body\b[^<>]*>/i.exec(html)
  const at = start ? start.index + start[0].length : 0
  const page = isHtml ? `${html.slice(0, at)}${String(added)}${html.slice(at)}` : html
  const plain = kind.part === 'text' ? `${String(added)}\n${text}` : text
  const parts: { type: string; name?: string; content: string | Buffer }[] = []
  if (plain !== '') parts.push({ type: 'text/plain', content: plain })
  // A host in the text/plain part is a link only if that part is shown.
  if (page !== '' && kind.part !== 'text') parts.push({ type: 'text/html', content: page })
  const [name = '', type = ''] = kind.file ?? []
  if (kind.part === 'file') parts.push({ type, name, content: added })
  return composeParts(header, parts)
}
