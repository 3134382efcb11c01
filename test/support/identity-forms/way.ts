import type { Category } from './identities.ts'

/**
 * Where a text is written: free text of a header field, an ASCII word of a structured one, plain
 * text, HTML text, a value of an attribute, a part of a link in HTML, or a file.
 */
export type Medium = 'field' | 'atom' | 'plain' | 'html' | 'attribute' | 'link' | 'file'

export type Way = {
  name: string
  media: readonly Medium[]
  categories: readonly Category[]
  /** Whether the result has the syntax of HTML already. */
  isMarkup?: boolean
  /** Undefined when the text cannot be written so. */
  write: (text: string) => string | undefined
}

export const everywhere = ['field', 'atom', 'plain', 'html', 'attribute', 'link', 'file'] as const

export function way(
  name: string,
  media: readonly Medium[],
  categories: readonly Category[],
  write: Way['write'],
): Way {
  return { name, media, categories, write }
}

/** A way that changes nothing is the same as another. */
export function changed(before: string, after: string): string | undefined {
  return before === after ? undefined : after
}

export function escapeHtml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (sign) => names[sign] ?? sign)
}

export function percents(text: string): string {
  return Buffer.from(text)
    .toString('hex')
    .replace(/../g, (digits) => `%${digits.toUpperCase()}`)
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** UTF-7 (RFC 2152) of a text, each character encoded. */
export function utf7(text: string): string {
  return `+${Buffer.from(text, 'utf16le').swap16().toString('base64').replace(/=+$/, '')}-`
}
