/**
 * The keys of ours that may occur in mail, and in texts about mail, each with what precedes it. The
 * last group is the key.
 */
const shapes = {
  /**
   * The signature of a token: in answer links, links to a desk's page, links that turn letters off,
   * and addresses for answers and bounces.
   */
  signature: '[a-z2-7]{28}-([a-z2-7]{16})',
  /** Like `signature`: relays change the case of addresses. */
  upperSignature: '[A-Z2-7]{28}-([A-Z2-7]{16})',
  /** The token of a link that sets a password, or confirms or changes an address. */
  account: '/account/(?:confirm|reset|move)/([\\w-]{32})',
  /** The token of a link that confirms an enrollment. */
  enrollment: '/consumers/enroll/([\\w-]{32})',
  /** The token of the page about a delisting request or an erased account. */
  statePage: '/(?:delist|account/erased)/([\\w-]{32})',
  /** The secret of a reporter's address for reports by mail. */
  mailIn: '[Rr][Ee][Pp][Oo][Rr][Tt]-([a-z2-7]{26}|[A-Z2-7]{26})@',
  webhookSecret: 'whsec_([A-Za-z0-9+/]{43}=?)',
  apiToken: 'sp_([\\w-]{43})',
} satisfies Record<string, string>

const anyKey = new RegExp(Object.values(shapes).join('|'), 'g')
const anyKeyOnce = new RegExp(anyKey.source)

/** Whether a text has a key that is not hidden by an encoding. */
export function hasPlainKey(text: string): boolean {
  return anyKeyOnce.test(text)
}

/** Encodings within encodings are undone up to this depth. */
const DEPTH_MAX = 5

/**
 * Replaces our own keys in a text by asterisks, also where they are encoded in quoted-printable,
 * base64, percent-encoding, character references or UTF-16, or broken over several lines. The
 * length of the text, and every other character, stay the same. For mail that others wrote or
 * quoted, which is shown to other people than its owner; mail that we compose is masked when it is
 * composed. Linear time.
 */
export function concealKeys(text: string, depth = 0): string {
  const plain = maskPlain(text)
  if (depth >= DEPTH_MAX) return plain
  const view = unescaped(plain)
  const masked = concealBase64(view === undefined ? plain : view.text, depth)
  if (view === undefined) return masked
  const deep = concealKeys(masked, depth + 1)
  return deep === view.text ? plain : withMasks(plain, view, deep)
}

/** Like `concealKeys`, for the bytes of a mail. */
export function concealKeysIn(raw: Buffer): Buffer {
  const text = raw.toString('latin1')
  const concealed = concealKeys(text)
  return concealed === text ? raw : Buffer.from(concealed, 'latin1')
}

/** Sizes of the steps in which a long mail is searched, and of what each sees of its neighbors. */
const STEP_BYTES = 128 * 1024
const BESIDE_BYTES = 4 * 1024

/**
 * Like `concealKeysIn`, for a mail of any size, in steps with a `pause` between them. A key that
 * lies in two steps is seen whole in both.
 */
export async function concealKeysInSteps(
  raw: Buffer,
  pause: () => Promise<unknown>,
): Promise<Buffer> {
  const parts: Buffer[] = []
  for (let at = 0; at < raw.length; at += STEP_BYTES) {
    const from = Math.max(0, at - BESIDE_BYTES)
    const seen = raw.subarray(from, at + STEP_BYTES + BESIDE_BYTES)
    parts.push(concealKeysIn(seen).subarray(at - from, at - from + STEP_BYTES))
    if (at + STEP_BYTES < raw.length) await pause()
  }
  return Buffer.concat(parts)
}

function maskPlain(text: string): string {
  return text.replace(anyKey, (all: string, ...groups: (string | undefined)[]) => {
    const key = groups.slice(0, Object.keys(shapes).length).find((group) => group !== undefined)
    const at = key === undefined ? -1 : all.lastIndexOf(key)
    return key === undefined ? all : `${all.slice(0, at)}${stars(key)}${all.slice(at + key.length)}`
  })
}

function stars(text: string): string {
  return '*'.repeat(text.length)
}

/**
 * A text in which escapes are undone. Each piece begins at `at`, and stands for `length` characters
 * from `from` in the original.
 */
type View = { text: string; pieces: { at: number; from: number; length: number }[] }

/**
 * What may stand between two characters of a key, or for one: a line break with the marks of a
 * quotation, the second byte of UTF-16, an octet in quoted-printable or percent-encoding, a
 * character reference. An empty line ends a text.
 */
const escape = new RegExp(
  [
    String.raw`(?:=[ \t]{0,9})?\r?\n(?!\r?\n)(?:[>| \t]|&gt;)*`,
    // In JSON.
    String.raw`(?:=[ \t]{0,9})?(?:\\r)?\\n(?!(?:\\r)?\\n)(?:[>| ]|\\t)*`,
    String.raw`\0|=[0-9A-Fa-f]{2}|%(?:25)*[0-9A-Fa-f]{2}`,
    '&#x?[0-9A-Fa-f]{2,3};|&(?:amp|gt|lt|quot);',
  ].join('|'),
  'g',
)

/** Undoes one level of escapes; undefined if there are none. */
function unescaped(text: string): View | undefined {
  const pieces: View['pieces'] = []
  const parts: string[] = []
  let length = 0
  const add = (from: number, part: string, original: number) => {
    if (part === '') return
    pieces.push({ at: length, from, length: original })
    parts.push(part)
    length += part.length
  }
  let from = 0
  for (const { 0: found, index } of text.matchAll(escape)) {
    const character = characterOf(found)
    if (character === undefined) continue
    add(from, text.slice(from, index), index - from)
    add(index, character, found.length)
    from = index + found.length
  }
  if (from === 0) return undefined
  add(from, text.slice(from), text.length - from)
  return { text: parts.join(''), pieces }
}

const named: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&gt;': '>',
  '&lt;': '<',
  '&quot;': '"',
}

/** The character for an escape: '' for a break, undefined if it is none that a key may have. */
function characterOf(found: string): string | undefined {
  if (found.startsWith('&') && !found.startsWith('&#')) return named[found]
  if (!/^(?:=[0-9A-Fa-f]|[%&])/.test(found)) return ''
  const isDecimal = /^&#\d/.test(found)
  const digits = found.replace(/;$/, '')
  const code = isDecimal ? Number(digits.slice(2)) : Number.parseInt(digits.slice(-2), 16)
  return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : undefined
}

/** Puts the asterisks of a view into the original text. */
function withMasks(text: string, { text: before, pieces }: View, after: string): string {
  const parts: string[] = []
  let from = 0
  for (const [index, piece] of pieces.entries()) {
    const end = pieces[index + 1]?.at ?? before.length
    const shown = after.slice(piece.at, end)
    if (shown === before.slice(piece.at, end)) continue
    const isPlain = end - piece.at === piece.length
    parts.push(text.slice(from, piece.from))
    parts.push(isPlain ? shown : escapedStar(text.slice(piece.from, piece.from + piece.length)))
    from = piece.from + piece.length
  }
  return parts.join('') + text.slice(from)
}

/** An asterisk in the form and length of another escaped character. */
function escapedStar(original: string): string {
  if (!original.startsWith('&')) return `${original.slice(0, -2)}2A`
  const isHex = /^&#x/i.test(original)
  const digits = original.length - (isHex ? 4 : 3)
  return `${isHex ? '&#x' : '&#'}${(isHex ? '2A' : '42').padStart(digits, '0')};`
}

const base64Run = /[A-Za-z0-9+/]{32,}/g
/** What every encoded key has: decoded text without it is not searched. */
const hint = /[a-z2-7]{8}|[A-Z2-7]{8}|[\w+/-]{20}|(?:[\w/-]\0){8}/

/** Conceals keys in base64. Text before the first line may shift it, so each shift is tried. */
function concealBase64(text: string, depth: number): string {
  return text.replace(base64Run, (run) => {
    let shown = run
    for (let shift = 0; shift < 4; shift++) {
      const decoded = Buffer.from(shown.slice(shift), 'base64').toString('latin1')
      if (!hint.test(decoded)) continue
      const concealed = concealKeys(decoded, depth + 1)
      if (concealed === decoded) continue
      const encoded = Buffer.from(concealed, 'latin1').toString('base64').replace(/=+$/, '')
      shown = shown.slice(0, shift) + encoded + shown.slice(shift + encoded.length)
    }
    return shown
  })
}
