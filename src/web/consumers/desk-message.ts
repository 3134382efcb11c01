import type { DeskCopy } from '../../feedback/desk-reports.ts'
import { shownBytes, shownText } from '../../mail/text.ts'

/** A piece of text, and whether it is a code in place of personal data. */
type Piece = { text: string; isRedacted: boolean }

/** A feedback report for `views/parts/desk-message.eta`. */
export type ShownMessage = {
  line: DeskCopy['line']
  /** The text of the reported message; undefined if there is none. */
  text: Piece[] | undefined
  source: Piece[]
  isCut: boolean
}

const SHOWN_BYTES_MAX = 128 * 1024
const code = /(redacted-[a-z2-7]{16})/

/** Prepares the redacted message in a feedback report to be shown as text. */
export async function shownMessage({ line, parts }: DeskCopy): Promise<ShownMessage> {
  const message = parts.message ?? Buffer.of()
  // Loaded on first use, because the parser of messages is large.
  const { messageText } = await import('../../verdict/advice.ts')
  const text = await messageText(message)
  return {
    line,
    text: text === undefined ? undefined : piecesOf(shownText(text, SHOWN_BYTES_MAX)),
    source: piecesOf(shownBytes(message, SHOWN_BYTES_MAX)),
    isCut: message.length > SHOWN_BYTES_MAX,
  }
}

function piecesOf(text: string): Piece[] {
  return text
    .split(code)
    .map((piece, at) => ({ text: piece, isRedacted: at % 2 === 1 }))
    .filter((piece) => piece.text !== '')
}
