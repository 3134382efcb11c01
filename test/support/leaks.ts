import { createHash } from 'node:crypto'
import { simpleParser } from 'mailparser'

/** The data that a mail must not contain: addresses in any notation, and words. */
export type Secrets = { addresses: readonly string[]; words: readonly string[] }

/**
 * Returns the secrets that can be found in a mail by opening every part and attached message and
 * undoing nested encodings: percent signs, character references, quoted-printable, folds, base64
 * and hexadecimal at any offset, UTF-16, and hashes of addresses. It shares no code with the
 * redaction.
 */
export async function leaksIn(raw: Buffer, { addresses, words }: Secrets): Promise<string[]> {
  const texts = new Set<string>()
  await openAll(raw, texts, 0)
  const seen = new Set<string>()
  for (const text of texts) undo(text, seen, 0)
  const found = new Set<string>()
  const needles = addresses.map(needlesOf)
  for (const text of seen) {
    for (const { address, patterns, digests } of needles) {
      if (patterns.some((pattern) => text.includes(pattern))) found.add(address)
      if (digests.some((digest) => text.includes(digest))) found.add(`hash of ${address}`)
    }
    for (const word of words) if (text.includes(word.toLowerCase())) found.add(word)
  }
  return [...found]
}

function needlesOf(address: string) {
  const lower = address.toLowerCase()
  const at = lower.lastIndexOf('@')
  const [local, domain] = [lower.slice(0, at), lower.slice(at + 1)]
  const signs = ['@', '=', '%40', ' at ', '(at)', '[at]']
  return {
    address,
    patterns: [...signs.map((sign) => local + sign + domain), `${domain}=${local}`],
    digests: ['md5', 'sha1', 'sha256'].map((name) => createHash(name).update(lower).digest('hex')),
  }
}

async function openAll(raw: Buffer, texts: Set<string>, depth: number): Promise<void> {
  texts.add(raw.toString('latin1'))
  texts.add(raw.toString('utf8'))
  if (depth > 8) return
  const mail = await simpleParser(raw, { skipImageLinks: true })
  for (const { line } of mail.headerLines) texts.add(line)
  texts.add(JSON.stringify([...mail.headers]))
  for (const text of [mail.text, mail.html, mail.textAsHtml, mail.subject])
    if (text) texts.add(text)
  for (const { content, filename = '', contentType } of mail.attachments) {
    texts.add(filename)
    texts.add(content.toString('latin1'))
    texts.add(content.toString('utf16le'))
    if (/^(?:message|text)\//.test(contentType)) await openAll(content, texts, depth + 1)
  }
}

/** Adds to `seen` the text in lower case, and the results of decoding it in every way. */
function undo(text: string, seen: Set<string>, depth: number): void {
  const lower = text.toLowerCase()
  if (seen.has(lower) || text.length < 6) return
  seen.add(lower)
  if (depth > 3) return
  const next = new Set([
    text.replace(/\r?\n[ \t]+/g, ''),
    text.replace(/=\r?\n/g, '').replace(/=([0-9a-f]{2})/gi, byHex),
    text.replace(/%([0-9a-f]{2})/gi, byHex),
    text.replace(/&#x([0-9a-f]{1,4});?/gi, byHex).replace(/&#(\d{1,5});?/g, byNumber),
    text.replace(/&(?:amp|commat|period);/g, (name) =>
      name === '&amp;' ? '&' : name === '&period;' ? '.' : '@',
    ),
    text.replace(/\0/g, ''),
    text.replace(/\\u([0-9a-f]{4})/gi, byHex),
  ])
  next.delete(text)
  for (const one of next) undo(one, seen, depth + 1)
  const opened = [...runsOf(text)].join('\n')
  if (opened !== '') undo(opened, seen, depth + 2)
}

/** Yields the decoded base64 and hexadecimal runs of a text, from each of their first digits on. */
function* runsOf(text: string): Iterable<string> {
  const isTelling = (bytes: string) => /[\x20-\x7e]{6}/.test(bytes.replace(/\0/g, ''))
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{12,}/g)) {
    for (const offset of [0, 1, 2, 3]) {
      const bytes = Buffer.from(run.slice(offset), 'base64').toString('latin1')
      if (isTelling(bytes)) yield bytes
    }
  }
  for (const [run] of text.matchAll(/[0-9a-f]{12,}/gi)) {
    for (const offset of [0, 1]) yield Buffer.from(run.slice(offset), 'hex').toString('latin1')
  }
}

function byHex(_: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}

function byNumber(_: string, number: string): string {
  return String.fromCharCode(Number(number))
}
