import type { MessageBody } from '../../mail/body.ts'
import { plainText, withoutMarks, wordsOf } from '../disguise/plain-text.ts'
import type { PlainText } from '../disguise/plain-text.ts'
import { htmlView } from './html-view.ts'
import type { HtmlView } from './html-view.ts'
import { wordHashes } from './word-hashes.ts'

/** The body of a message as its reader sees it; read once for all who ask. */
export type BodyView = {
  html: HtmlView
  /** The text that is shown, as it was written. */
  written: string
  /** The same without marks and compatibility forms. */
  text: string
  /** Its words. */
  shown: PlainText
  /** A hash of each of them, see `wordHashes`. */
  hashes: Int32Array
  /** The words of the text/plain part, where the HTML part is shown instead. */
  hidden: PlainText | undefined
}

const textCharsMax = 64 * 1024
const wordsMax = 4000
const hiddenWordsMax = 300
const hiddenCharsMax = 4096
/** With fewer words the HTML part is a picture, and programs that cannot show it show the text. */
const shownWordsMin = 4

/** Reads the body: the HTML part is what is shown, unless it has no words. */
export function viewBody({ text, html }: Pick<MessageBody, 'text' | 'html'>): BodyView {
  const view = htmlView(html)
  const ofHtml = viewText(view.text)
  if (html !== '' && (ofHtml.shown.words.length >= shownWordsMin || text.trim() === '')) {
    const hidden =
      text === '' ? undefined : plainText(text.slice(0, hiddenCharsMax), hiddenWordsMax)
    return { html: view, ...ofHtml, hidden }
  }
  return { html: view, ...viewText(text), hidden: undefined }
}

function viewText(whole: string) {
  const written = whole.slice(0, textCharsMax)
  const text = withoutMarks(written)
  const shown = wordsOf(text, wordsMax)
  return { written, text, shown, hashes: wordHashes(shown.words) }
}
