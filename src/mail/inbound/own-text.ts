import { withoutTags } from '../bounces/recipients-in-text.ts'
import { findLeaf, leafText, type MimeLeaf, type MimeMessage } from '../mime-leaves.ts'

const partCharsMax = 128 * 1024

/**
 * The text of a message for its reader: the first text/plain part if it is not blank, else the HTML
 * part without tags and quotations. Attached messages are left out.
 */
export function readableText(mail: MimeMessage): string {
  const plain = decoded(findLeaf(mail, 'text/plain'))
  if (plain.trim() !== '') return plain
  const html = decoded(findLeaf(mail, 'text/html'))
  return html === '' ? '' : shownText(html)
}

function decoded(part: MimeLeaf | undefined): string {
  return part ? leafText(part).slice(0, partCharsMax) : ''
}

const quotations = [
  'blockquote',
  'div[^<>]{0,200}\\b(?:gmail_quote|yahoo_quoted|moz-cite-prefix)',
  'div[^<>]{0,200}\\b(?:divRplyFwdMsg|OutlookMessageHeader)',
].join('|')
const firstQuotation = new RegExp(`<(?:${quotations})\\b`, 'i')

/**
 * The text that HTML shows before a quotation: mail programs put an answer above the quoted mail.
 */
function shownText(html: string): string {
  const body = html.slice(Math.max(0, html.search(/<body\b/i)))
  const at = firstQuotation.exec(body)?.index ?? body.length
  const own = withoutTags(withoutHidden(body.slice(0, at)))
  return own.trim() === '' ? withoutTags(withoutHidden(body)) : own
}

/** Removes style sheets, scripts and comments; an unclosed one extends to the end. */
function withoutHidden(html: string): string {
  const lower = html.toLowerCase()
  let text = ''
  let from = 0
  const opening = /<(style|script|title|head)\b|<!--/gi
  for (let found = opening.exec(html); found; found = opening.exec(html)) {
    text += html.slice(from, found.index)
    const name = found[1]?.toLowerCase()
    const close = name === undefined ? '-->' : `</${name}`
    const end = lower.indexOf(close, found.index)
    if (end < 0) return text
    from = end + close.length
    opening.lastIndex = from
  }
  return text + html.slice(from)
}

/** The text that a person wrote, and the signature at its end. */
export type OwnText = {
  /** Without quotations and signature. */
  words: string
  /** The first lines of the signature; empty without one. */
  signature: string
}

const readCharsMax = 256 * 1024
const lineCharsMax = 2000
const linesMax = 4000
const signatureLinesMax = 8

/**
 * Extracts the author's own words from an answer: without quoted lines, without the original
 * message that mail programs put below an answer, and without the signature. Keeps an answer that
 * is below or between quoted lines. Linear.
 */
export function ownTextOf(text: string): OwnText {
  const lines = text
    .slice(0, readCharsMax)
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .slice(0, linesMax)
    .map((line) => line.slice(0, lineCharsMax).trimEnd())
  const kept: string[] = []
  let signature: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (isQuoted(line)) continue
    const intro = introLength(lines, at)
    if (intro > 0) {
      // Quoted lines that follow are skipped one by one; otherwise everything that follows is
      // quoted.
      if (!isQuotedAfter(lines, at + intro)) break
      at += intro - 1
      continue
    }
    if (startsOriginal(lines, at)) break
    if (line === '--') {
      signature = lines.slice(at + 1, at + 1 + signatureLinesMax).filter((one) => !isQuoted(one))
      break
    }
    kept.push(line)
  }
  return { words: tidy(kept), signature: tidy(signature) }
}

function tidy(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

function isQuoted(line: string): boolean {
  return /^\s{0,3}(?:>|\|\s?>|&gt;)/.test(line)
}

function isQuotedAfter(lines: readonly string[], from: number): boolean {
  const next = lines.slice(from, from + 3).find((line) => line.trim() !== '')
  return next !== undefined && isQuoted(next)
}

// Introductions that mail programs put before a quotation, on one line or two.
const introEnds: readonly RegExp[] = [
  /^\W{0,3}on .{4,400}\bwrote\s*:$/i,
  /^\W{0,3}le .{4,400}\ba écrit\s*:$/i,
  /^\W{0,3}am .{4,400}\bschrieb\b.{0,200}:$/i,
  /^.{4,400}\b(?:schrieb|wrote|a écrit|ha scritto|escribió)\s*:$/i,
  /^.{4,400}\b(?:escreveu|schreef|skrev|napsala?|pisze)\s*:$/i,
  /^.{4,400}(?:написала?|написал\(а\)|пишет|пише)\s*:$/i,
  /^(?:el|il|em|op|dnia|den|dne) .{4,400}:$/i,
  /^.{4,400}(?:写道|のメール|さんは書きました)\s*[:：]$/,
]
const introStart =
  /^\W{0,3}(?:on|le|am|el|il|em|op|\d{1,4}[./-]\d{1,2})[ .,/\d]|^.{0,80}\d{4}.{0,80}$/i

/** The number of lines at a position that introduce a quotation: 0, 1 or 2. */
function introLength(lines: readonly string[], at: number): number {
  const line = (lines[at] ?? '').trim()
  if (line === '' || line.length > 400) return 0
  if (endsIntro(line) && hasDate(line) && introEnds.some((form) => form.test(line))) return 1
  if (!introStart.test(line)) return 0
  if (!endsIntro((lines[at + 1] ?? '').trim())) return 0
  const both = `${line} ${(lines[at + 1] ?? '').trim()}`.slice(0, 400)
  return hasDate(both) && introEnds.some((form) => form.test(both)) ? 2 : 0
}

function endsIntro(line: string): boolean {
  return line.endsWith(':') || line.endsWith('：')
}

function hasDate(line: string): boolean {
  return /\d/.test(line) || line.includes('@')
}

const originals: readonly RegExp[] = [
  /^[-_* ]{2,60}\s?(?:original message|message d['’]origine|message transféré)\b.{0,60}$/i,
  /^[-_* ]{2,60}\s?(?:ursprüngliche nachricht|originalnachricht)\b.{0,60}$/i,
  /^[-_* ]{2,60}\s?weitergeleitete nachricht\b.{0,60}$/i,
  /^[-_* ]{2,60}\s?(?:исходное сообщение|пересылаемое сообщение|mensaje original)[-_* ]{0,60}$/i,
  /^[-_* ]{2,60}\s?(?:messaggio originale|oorspronkelijk bericht|mensagem original)\b.{0,60}$/i,
  /^[-_* ]{2,60}\s?(?:forwarded message|reply message)\b.{0,60}$/i,
  /^(?:begin forwarded message|début du message (?:réexpédié|transféré))\s?:/i,
  /^anfang der weitergeleit\S{1,12} nachricht\s?:/i,
  /^_{20,}$/,
]
const headerNames = [
  'from|de|von|от|da|van|sent|envoyé|gesendet|отправлено|date|datum|дата',
  'to|à|an|кому|subject|objet|betreff|тема',
].join('|')
const headerLine = new RegExp(`^\\W{0,3}(?:${headerNames})\\s?:\\W{0,3}\\s?\\S`, 'i')
const authorLine = /^\W{0,3}(?:from|de|von|от|da|van)\s?:/i

/** Whether the original message begins at a line, in the forms that mail programs use. */
function startsOriginal(lines: readonly string[], at: number): boolean {
  const line = (lines[at] ?? '').trim()
  if (originals.some((form) => form.test(line))) return true
  if (!authorLine.test(line)) return false
  const next = lines.slice(at + 1, at + 5).filter((one) => headerLine.test(one.trim()))
  return next.length >= 2
}
