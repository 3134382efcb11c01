import type { MessageBody } from '../../mail/body.ts'
import { plainLine, withoutMarks, wordsOf } from '../disguise/plain-text.ts'
import type { PlainText } from '../disguise/word-scanner.ts'
import { htmlView } from './html-view.ts'
import type { HtmlView } from './html-view.ts'

/** The body of a message as its reader sees it; read once for all who ask. */
export type BodyView = {
  html: HtmlView
  /** The text that is shown, as it was written. */
  written: string
  /** The same without marks and compatibility forms. */
  text: string
  /** Its words. */
  shown: PlainText
  /** The words of the text/plain part as a line, where the HTML part is shown instead. */
  hidden: string
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
  if (html !== '' && (ofHtml.shown.wordEnds.length >= shownWordsMin || text.trim() === '')) {
    const hidden = text === '' ? '' : plainLine(text, hiddenWordsMax, hiddenCharsMax)
    return { html: view, ...ofHtml, hidden }
  }
  return { html: view, ...viewText(text), hidden: '' }
}

function viewText(whole: string) {
  const written = whole.slice(0, textCharsMax)
  const text = withoutMarks(written)
  return { written, text, shown: wordsOf(text, wordsMax) }
}
