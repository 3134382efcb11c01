import type { PlainText } from '../disguise/plain-text.ts'
import { plainLine } from '../disguise/plain-text.ts'
import type { BodyView } from '../pieces/body-view.ts'
import type { HtmlView } from '../pieces/html-view.ts'
import type { ShingleList } from './shingle-list.ts'

const passageWordsMin = 5
const passageWordsMax = 200
const passagesMax = 6
const edgeWords = 12
const edgesWordsMin = 30
const longWords = 10
const longWordCharsMin = 8
const longWordsAmong = 150
const runWords = 5
const runsMax = 8
const startTags = 40

/** Adds the text as a whole, and how its HTML is built. */
export function addWholeText(list: ShingleList, { shown, hidden, html }: BodyView): void {
  const { words } = shown
  if (words.length > 0) {
    list.add('text', words.join(' '))
    list.add('text-letters', words.join('').replaceAll('0', ''))
  }
  if (hidden && hidden.words.length > 0) list.add('text-plain-part', hidden.words.join(' '))
  if (html.tags.length > 0) addHtml(list, html)
}

function addHtml(list: ShingleList, html: HtmlView): void {
  list.add('html-structure', html.tags.join(' '))
  if (html.tags.length > startTags) list.add('html-start', html.tags.slice(0, startTags).join(' '))
  list.add('html-counts', countsOf(html.tags))
  list.add('html-title', plainLine(html.title))
  for (const comment of html.comments.slice(0, 4)) list.add('html-comment', plainLine(comment))
  list.add('html-style-sheet', html.styleSheet.slice(0, 4000).replaceAll(/\s+/g, ''))
}

/** How often each element comes, by powers of two, so that one row more makes no difference. */
function countsOf(tags: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const sizes = [...counts].map(([tag, count]) => `${tag}${31 - Math.clz32(count)}`)
  return sizes.sort().join(' ')
}

/** Adds passages of the text, and a sample of its runs of words. */
export function addPassages(list: ShingleList, { shown, hashes }: BodyView): void {
  const { words, paragraphEnds, sentenceEnds } = shown
  if (words.length < passageWordsMin) return
  if (words.length >= edgesWordsMin) {
    list.add('text-start', words.slice(0, edgeWords).join(' '))
    list.add('text-end', words.slice(-edgeWords).join(' '))
  }
  list.add('long-words', longestWords(words))
  for (const passage of passages(shown, paragraphEnds)) list.add('paragraph', passage)
  for (const passage of passages(shown, sentenceEnds)) list.add('sentence', passage)
  for (const at of sampledRuns(hashes)) {
    list.add('words', words.slice(at, at + runWords).join(' '))
  }
}

function longestWords(words: readonly string[]): string | undefined {
  const first = words.slice(0, longWordsAmong)
  const long = [...new Set(first.filter(({ length }) => length >= longWordCharsMin))]
  if (long.length < longWords) return undefined
  const longest = long.sort((a, b) => b.length - a.length || (a < b ? -1 : 1)).slice(0, longWords)
  return longest.sort().join(' ')
}

function* passages({ words }: PlainText, ends: readonly number[]): Generator<string> {
  let start = 0
  let count = 0
  for (const end of [...ends, words.length]) {
    if (end - start >= passageWordsMin) {
      if (++count > passagesMax) return
      yield words.slice(start, Math.min(end, start + passageWordsMax)).join(' ')
    }
    start = end
  }
}

/** Where the runs begin whose hashes are the least: messages that share runs share these. */
function sampledRuns(hashes: Int32Array): number[] {
  const runs: { at: number; hash: number }[] = []
  let greatest = 0xffffffff
  for (let at = 0; at + runWords <= hashes.length; at++) {
    let hash = 0
    for (let next = at; next < at + runWords; next++) {
      hash = Math.imul(hash ^ (hashes[next] ?? 0), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    hash >>>= 0
    if (runs.length >= runsMax && hash >= greatest) continue
    runs.push({ at, hash })
    if (runs.length >= runsMax * 2) {
      runs.sort((a, b) => a.hash - b.hash).length = runsMax
      greatest = runs.at(-1)?.hash ?? greatest
    }
  }
  return runs
    .sort((a, b) => a.hash - b.hash)
    .slice(0, runsMax)
    .map(({ at }) => at)
}
