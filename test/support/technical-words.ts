import type { Language } from '../../src/texts/messages.ts'

const formats = 'IP|ARF|XARF|MIME|SMTP|LMTP|DNS|DKIM|SPF|DMARC|ARC|RFC|CIDR|HELO|Received'

/** Words of mail technique, which pages of reporters have only in their technical details. */
export const technicalWords: Readonly<Record<Language, RegExp>> = {
  en: new RegExp(`\\b(?:${formats}|[Hh]eaders?|[Rr]elays?|[Hh]ops?)\\b`, 'u'),
  fr: new RegExp(`(?<!\\p{L})(?:${formats}|[Ee]n-têtes?|[Rr]elais)(?!\\p{L})`, 'u'),
  ru: new RegExp(`(?<!\\p{L})(?:${formats}|[Зз]аголов\\p{L}*|[Рр]елей|[Хх]оп)(?!\\p{L})`, 'u'),
}

/** The text of a page without technical details, quoted mail, and quoted names of menus. */
export function plainTextOf(html: string, technicalDetails: string): string {
  const details = new RegExp(
    `<details[^>]*>\\s*<summary>${technicalDetails}</summary>[^]*?</details>`,
    'g',
  )
  return html
    .replaceAll(details, '|')
    .replaceAll(/<(pre|title|bdi|blockquote|textarea|footer)\b[^]*?<\/\1>/g, '|')
    .replaceAll(/<(\w+)[^>]* class="stranger"[^>]*>[^]*?<\/\1>/g, '|')
    .replaceAll(/<[^>]*>/g, '|')
    .replaceAll(/“[^”]*”|«[^»]*»/g, '|')
}
