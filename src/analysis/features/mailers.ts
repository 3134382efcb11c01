import type { HeaderIndex } from './material.ts'

/** Programs that web sites send by, the honest and the broken into; in lower case. */
const scripts = /phpmailer|^php|swiftmailer|nodemailer|python|leaf|mass ?mail|bulk|blat|libwww|perl/

/** Whether a script on a web site or at a terminal wrote the message, not a person's program. */
export function isScriptMailer(mailer: string, header: HeaderIndex): boolean {
  return (
    header.count('x-php-originating-script') + header.count('x-php-script') > 0 ||
    scripts.test(mailer)
  )
}

/** How the boundaries of programs begin that always write them so. */
const boundaries: readonly (readonly [mailer: RegExp, boundary: RegExp])[] = [
  [/^microsoft (?:office )?outlook|^microsoft windows (?:live )?mail/, /^----=_NextPart_/],
  [/^apple mail|^iphone mail|^ipad mail/, /^Apple-(?:Mail|Webmail)|^--?Apple-Mail/],
  [/thunderbird/, /^-{12}[\dA-Za-z]/],
]

/** Whether the program that is named does not write such messages. */
export function contradictsMailer(mailer: string, header: HeaderIndex): boolean {
  if (mailer === '') return false
  const type = (header.value('content-type') ?? '').slice(0, 1_000)
  const found = /boundary\s{0,9}=\s{0,9}(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type)
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined) return false
  return boundaries.some(([name, start]) => name.test(mailer) && !start.test(boundary))
}
