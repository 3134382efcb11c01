import { viewBody } from '../analysis/pieces/body-view.ts'
import { parseBody } from '../mail/body.ts'
import { parseHeader } from '../mail/header.ts'
import { exceedsLimits } from '../mail/structure.ts'

/** Larger messages, and those with more parts, are not taken apart only to be shown. */
const BYTES_MAX = 512 * 1024
const limits = { headersMax: 1_000, partsMax: 100, nestingMax: 20 }

/**
 * The text of a message as its reader sees it, without its markup: a stranger's, to be shown as
 * text only. Undefined when it has none, or is too much to be read on the side.
 */
export async function readableText(raw: Buffer): Promise<string | undefined> {
  if (raw.length > BYTES_MAX || exceedsLimits(raw, limits) !== undefined) return undefined
  const body = await parseBody(raw, parseHeader(raw))
  const tidy = body && tidied(viewBody(body).written)
  return tidy === '' ? undefined : tidy
}

/** Without blanks at the ends of lines, and with one empty line at most where there are many. */
function tidied(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd())
  return lines
    .filter((line, index) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trim()
}
