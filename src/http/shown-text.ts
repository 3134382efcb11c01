/**
 * Characters that change what a reader sees without being seen: controls, bidirectional marks and
 * overrides, zero-width and invisible ones, line separators, tags, variation selectors. Not those
 * that make one picture of several, as of a family, or give it color: there they hide nothing.
 */
const unseen = new RegExp(
  `(?:${[
    '[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F]',
    '[\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u3164\\uFFA0]',
    '[\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u206F\\uFE00-\\uFE0F\\uFEFF\\uFFF9-\\uFFFB]',
    '[\\u{E0000}-\\u{E007F}\\u{E0100}-\\u{E01EF}]',
  ].join('|')})(?<!${[
    '\\p{ExtPict}\\uFE0F',
    '[#*0-9]\\uFE0F(?=\\u20E3)',
    '\\p{ExtPict}(?:\\uFE0F|\\p{EMod})?\\u200D(?=\\p{ExtPict})',
  ].join('|')})`,
  'gu',
)

/**
 * Text from a stranger as it may be shown: on one line, cut to `charsMax` characters, with what
 * cannot be seen spelled out (`‹U+202E›`), so that nothing can pose as something else.
 */
export function shownLine(text: string | null | undefined, charsMax = 300): string {
  return shown(
    (text ?? '')
      .slice(0, charsMax * 4)
      .replaceAll(/[\t\n\r ]+/g, ' ')
      .trim(),
    charsMax,
  )
}

/** The same for text of several lines: line ends and tabs stay. */
export function shownText(text: string, charsMax: number): string {
  return shown(text.replaceAll('\r\n', '\n'), charsMax)
}

/** The bytes of a message as text: UTF-8 where it is that, else Latin-1. */
export function shownBytes(raw: Buffer, bytesMax: number): string {
  const bytes = raw.subarray(0, bytesMax)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, {
      stream: bytes.length < raw.length,
    })
    return shownText(text, bytesMax)
  } catch {
    return shownText(bytes.toString('latin1'), bytesMax)
  }
}

function shown(text: string, charsMax: number): string {
  const whole = text.length > charsMax ? `${text.slice(0, charsMax).toWellFormed()}…` : text
  return whole.replaceAll(unseen, spelled)
}

function spelled(character: string): string {
  const code = character.codePointAt(0) ?? 0
  return `\u2039U+${code.toString(16).toUpperCase().padStart(4, '0')}\u203a`
}
