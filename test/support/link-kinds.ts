import type { LinkPlace } from '../../src/pieces/links.ts'
import { pdfFile } from './pdf.ts'
import {
  codeTable,
  gzipOf,
  officeFile,
  officeText,
  oldRarOf,
  rarOf,
  sevenZipOf,
  tarOf,
  zipOf,
} from './packed-files.ts'
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

/** Links in files that are unpacked, or are texts. */
function within(name: string, write: (url: string) => string | Buffer): LinkKind {
  return {
    name,
    where: 'attachment',
    part: 'file',
    write,
    file: [name, 'application/octet-stream'],
  }
}

const picture = (url: string) => encodedPicture(pngFile(drawQrCode(url)))
const encodedPicture = (file: Buffer) => `data:image/png;base64,${file.toString('base64')}`
const message = (body: string, type = 'text/html') =>
  `From: a@b.example\r\nSubject: x\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`
const attachedMessage = (body: string) => {
  const encodedBody = encoded(body).replaceAll(/.{76}/g, '$&\r\n')
  const fields = 'Content-Type: text/html\r\nContent-Transfer-Encoding: base64'
  const part = `--I\r\n${fields}\r\n\r\n${encodedBody}`
  return message(`${part}\r\n--I--`, 'multipart/mixed; boundary=I')
}
const calendar = (line: string) =>
  ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', line.replaceAll(/.{60}/g, '$&\r\n '), 'END:VEVENT'].join(
    '\r\n',
  )
const words = (text: string) => `<w:document><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:document>`

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
  text('hxxp', (url) => `See ${url.replace('http', 'hxxp')} today`),
  text('a dot in square brackets', (url) => `See ${host(url).replace('.', '[.]')}/x`),
  text('a dot in parentheses', (url) => `See ${url.replace('.', '(.)')}`),
  text('a dot in words', (url) => `Open ${host(url).replace('.', ' dot ')} please`),
  text('a dot in words in brackets', (url) => `Open ${host(url).replace('.', ' [dot] ')}/x`),
  text('a dot and a slash in words', (url) => `Open ${host(url).replace('.', ' DOT ')} slash x`),
  text('blanks after the scheme', (url) => `Copy ${url.replace('://', ':// ')}`),
  text('h**p and brackets', (url) => `Go h**p${url.slice(5).replace('.', '[.]')}`),
  text('a colon in brackets', (url) => `Go ${url.replace(':', '[:]').replace('.', '{.}')}`),
  text('a zero width space', (url) => `Go to ${url.slice(0, 10)}\u200b${url.slice(10)}`),
  text('full-width letters', (url) => `Go to ${url.replace('.', '．')}`),
  text('one slash', (url) => `Go to ${url.replace('//', '/')} now`),
  text('three slashes', (url) => `Go to ${url.replace('//', '///')} now`),
  text('backslashes', (url) => `Go to ${url.replace('//', '\\\\')} now`),
  html('text', 'hxxp in a page', (url) => `</a><p>See ${url.replace('http', 'hxxp')} today</p>`),
  html(
    'text',
    'a dot in brackets in a page',
    (url) => `<p>${host(url).replace('.', '<b>[.]</b>')}/x`,
  ),
  html('text', 'a dot in words in a page', (url) => `<p>Open ${host(url).replace('.', ' dot ')}`),
  html('html', 'a link without a scheme', (url) => `<a href="${host(url)}/x">x</a>`),
  html('html', 'a link that is a host', (url) => `<a href="${host(url)}">x</a>`),
  html('html', 'a link with www', (url) => `<a href="www.${host(url)}">x</a>`),
  html('form', 'a form without a scheme', (url) => `<form action="${host(url)}/x">`),
  html('html', 'a link with a port', (url) => `<a href="${host(url)}:8080/x">x</a>`),
  html('html', 'a link with one slash', (url) => `<a href="${url.replace('//', '/')}">x</a>`),
  html('html', 'a link with three slashes', (url) => `<a href="${url.replace('//', '///')}">x</a>`),
  html('html', 'a link without slashes', (url) => `<a href="${url.replace('//', '')}">x</a>`),
  html(
    'html',
    'a link with a slash and a backslash',
    (url) => `<a href="${url.replace('//', '/\\')}">`,
  ),
  html('image', 'a picture after a line break', (url) => `<img src="\n${url}">`),
  html(
    'image',
    'a picture after blanks',
    (url) => `<img src=" \t\r\n ${url.replace('//', '/\n/')}">`,
  ),
  html('image', 'a background after a line break', (url) => `<table><td background="\r\n${url}">`),
  html('image', 'a poster after a line break', (url) => `<video poster="\n${url}"></video>`),
  html('image', 'a source after a line break', (url) => `<img srcset="\n${url} 2x">`),
  html('embedded', 'a frame after a line break', (url) => `<iframe src="\n${url}"></iframe>`),
  file('a.html', 'text/html', page),
  file('a.htm', 'application/octet-stream', page),
  file('a.svg', 'image/svg+xml', (url) => `<svg><a href="${url}"><path/></a></svg>`),
  file('b.html', 'text/html', (url) => `<script>location.href = "${url}"</script>`),
  file('c.html', 'text/html', (url) => `<script>go(atob("${encoded(url)}"))</script>`),
  file('d.html', 'text/html', (url) => `<meta http-equiv=refresh content="1;${url}">`),
  file('a.xhtml', 'application/xhtml+xml', page),
  within('a.ics', (url) => calendar(`DESCRIPTION:A long text before it. Pay at ${url}\\, today`)),
  within('b.ics', (url) => calendar(`LOCATION:${url}`)),
  within('c.ics', (url) => calendar(`X-ALT-DESC;FMTTYPE=text/html:<a href="${url}">x</a>`)),
  within('d.ics', (url) => calendar(`ATTACH:${url}`)),
  within('a.vcf', (url) => `BEGIN:VCARD\nURL:${url}\nEND:VCARD`),
  within('a.txt', (url) => `Go to ${url}`),
  within('b.txt', (url) => `Go to ${host(url)}/x`),
  within('c.txt', (url) => Buffer.from(`\uFEFFGo to ${url}`, 'utf16le')),
  within('a.csv', (url) => `name;link\nx;${url}`),
  within('readme', (url) => `See ${url}`),
  within('a.url', (url) => `[InternetShortcut]\r\nURL=${url}\r\n`),
  within('a.webloc', (url) => `<?xml version="1.0"?><plist><string>${url}</string></plist>`),
  within('a.eml', (url) => message(`<a href="${url}">x</a>`)),
  within('b.eml', (url) => message(`See ${url}`, 'text/plain')),
  within('c.eml', (url) => attachedMessage(`<a href="${url}">x</a>`)),
  within('d.eml', (url) => message(message(`<a href="${url}">x</a>`), 'message/rfc822')),
  within('a.mht', (url) => attachedMessage(`<form action="${url}">`)),
  within('a.rtf', (url) => `{\\rtf1{\\field{\\*\\fldinst{HYPERLINK "${url}"}}{\\fldrslt x}}}`),
  within(
    'b.rtf',
    (url) => `{\\rtf1\\ansi See {\\b ${url.slice(0, 12)}}\\i0 ${url.slice(12)}\\par}`,
  ),
  within('c.doc', (url) => `{\\rtf1 HYPERLINK "${url.replaceAll('.', "\\'2e")}"}`),
  within(
    'd.rtf',
    (url) => `{\\rtf1 {\\fldinst HYPERLINK \\\\l x "${url.replaceAll('/', '\\u47?')}"}}`,
  ),
  within('a.docx', (url) => officeFile('word/document.xml', url)),
  within('b.docx', (url) => officeFile('word/settings.xml', url, 'attachedTemplate')),
  within('c.docx', (url) => officeText('word/document.xml', words(`See ${url} now`))),
  within('d.docx', (url) =>
    officeText(
      'word/document.xml',
      words(`${url.slice(0, 9)}</w:t></w:r><w:r><w:t>${url.slice(9)}`),
    ),
  ),
  within('e.docx', (url) =>
    officeText('word/document.xml', `<w:fldSimple w:instr=" HYPERLINK &quot;${url}&quot; "/>`),
  ),
  within('a.xlsx', (url) => officeFile('xl/worksheets/sheet1.xml', url)),
  within('b.xlsx', (url) =>
    officeText('xl/sharedStrings.xml', `<sst><si><t>${url}</t></si></sst>`),
  ),
  within('c.xlsx', (url) =>
    officeText('xl/worksheets/sheet1.xml', `<c><f>HYPERLINK("${url}","x")</f></c>`),
  ),
  within('a.pptx', (url) => officeFile('ppt/slides/slide1.xml', url)),
  within('b.pptx', (url) => officeText('ppt/slides/slide1.xml', `<a:p><a:t>${url}</a:t></a:p>`)),
  within('a.odt', (url) =>
    zipOf({ mimetype: 'x', 'content.xml': `<text:a xlink:href="${url}">x</text:a>` }),
  ),
  within('a.zip', (url) => zipOf({ 'a.html': page(url) })),
  within('b.zip', (url) => zipOf({ 'x/a.svg': `<svg><a href="${url}"><path/></a></svg>` })),
  within('c.zip', (url) => zipOf({ 'a.url': `URL=${url}`, 'b.exe': 'MZ' })),
  within('d.zip', (url) => zipOf({ 'b.zip': zipOf({ 'a.htm': page(url) }) })),
  within('e.zip', (url) => zipOf({ 'a.docx': officeFile('word/document.xml', url) })),
  within('f.zip', (url) => zipOf({ 'a.txt': `Go to ${url}` }).subarray(0, -40)),
  within('g.zip', (url) => zipOf({ 'a.js': `location = "${url}"`, 'b.html': page(url) })),
  within('a.html.gz', (url) => gzipOf('a.html', page(url))),
  within('a.tar', (url) => tarOf({ 'a.html': page(url) })),
  within('a.tgz', (url) => gzipOf('a.tar', tarOf({ 'a.html': page(url) }))),
  within('a.rar', (url) => rarOf({ 'a.html': page(url) })),
  within('b.rar', (url) => oldRarOf({ 'a.html': page(url) })),
  within('a.7z', (url) => sevenZipOf({ 'a.html': page(url) })),
  ...(['color', 'style', 'class', 'span', 'width', 'row'] as const).map((form) =>
    html('qr', `a QR code in a table, by ${form}`, (url) => codeTable(url, form)),
  ),
  html('qr', 'a QR code in a data: URI', (url) => `<img src="${picture(url)}">`),
  html('qr', 'a QR code in a style', (url) => `<p style="background: url('${picture(url)}')">`),
  html('qr', 'a QR code in GIF in a data: URI', (url) => {
    const data = gifFile(drawQrCode(url)).toString('base64')
    return `<img src="\n data:image/gif;charset=x;base64,${data}">`
  }),
  attached('qr', 'a QR code in a page', 'text/html', (url) =>
    Buffer.from(`<html><img src='${picture(url)}'>`),
  ),
  attached('qr', 'a QR code in a drawing', 'image/svg+xml', (url) =>
    Buffer.from(`<svg><image href='${picture(url)}'/></svg>`),
  ),
  attached('qr', 'a table in a page', 'text/html', (url) => Buffer.from(codeTable(url, 'color'))),
  attached('qr', 'a QR code in a document', 'application/x-y', (url) =>
    zipOf({ '[Content_Types].xml': '', 'word/media/image1.png': pngFile(drawQrCode(url)) }),
  ),
  attached('qr', 'a QR code in a zip archive', 'application/zip', (url) =>
    zipOf({ 'a.jpg': jpegFile(drawQrCode(url)) }),
  ),
  attached('pdf', 'a PDF file in a zip archive', 'application/zip', (url) =>
    zipOf({ 'a.pdf': pdfFile({ url }) }),
  ),
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
