import { trimmedEnd } from '../mail/text.ts'

/** How many words of a text are looked at. */
export const CANDIDATES_MAX = 5_000

/** Returns the addresses with `http:`, `https:` or `www.` in a text. */
export function* writtenLinks(text: string): Generator<string> {
  const found = /(?:https?:\/{1,3}(?=[^/])|\bwww\.)[^\s<>"'\\\0]{1,2000}/gi
  for (const [url] of text.matchAll(found).take(CANDIDATES_MAX)) yield withoutPunctuation(url)
}

/** Returns the addresses in a script, also those in base64 and with percent-encoding. */
export function* linksInScript(script: string): Generator<string> {
  if (script === '') return
  yield* writtenLinks(script.replaceAll('\\/', '/'))
  for (const [found] of script.matchAll(/aHR0c[\w+/-]{4,2700}/g).take(CANDIDATES_MAX)) {
    yield* writtenLinks(Buffer.from(found, 'base64').toString())
  }
  if (/%3a%2f%2f/i.test(script)) {
    yield* writtenLinks(script.replaceAll(/%3a/gi, ':').replaceAll(/%2f/gi, '/'))
  }
}

/** Removes signs after an address that belong to the sentence around it. */
export function withoutPunctuation(url: string): string {
  // What is removed contains no opening one, so that one search is enough.
  return trimmedEnd(url, url.lastIndexOf('(') > 0 ? '.,;:!?]}*_' : '.,;:!?)]}*_')
}
