/**
 * The keys of ours that may occur in mail, and in texts about mail, each with what precedes it. The
 * group is the key, at the end. Each shape begins with a character that is rare in encoded files,
 * because a search for all of them at once takes several times as long.
 */
const shapes = [
  // The signature of a token: in answer links, links to a desk's page, links that turn letters off,
  // and addresses for answers and bounces. Relays change the case of addresses.
  /-(?:2D)?([a-z2-7]{16})(?<=[a-z2-7]{28}-(?:2D)?[a-z2-7]{16})/g,
  /-(?:2D)?([A-Z2-7]{16})(?<=[A-Z2-7]{28}-(?:2D)?[A-Z2-7]{16})/g,
  // The token of a link that sets a password, or confirms or changes an address.
  /\/account\/(?:confirm|reset|move)\/([\w-]{32})/g,
  // The token of a link that confirms an enrollment.
  /\/consumers\/enroll\/([\w-]{32})/g,
  // The token of the page about a delisting request or an erased account.
  /\/(?:delist|account\/erased)\/([\w-]{32})/g,
  // The same in the links of a gateway that writes `_` for `/`, `-2D` for `-` and `-5F` for `_`.
  /_(?:account_(?:confirm|reset|move|erased)|consumers_enroll|delist)_([\w-]{32,96})/g,
  // The secret of a reporter's address for reports by mail.
  /[Rr][Ee][Pp][Oo][Rr][Tt]-([a-z2-7]{26}|[A-Z2-7]{26})/g,
  // The secret of a webhook.
  /whsec_([A-Za-z0-9+/]{43}=?)/g,
  // The token of a program, or the key of a simulation.
  /sp(?:sim)?_([\w-]{43})/g,
]

/** What a text with a key has, to exclude most texts faster than the shapes do. */
const signs = /-(?:2D)?(?:[a-z2-7]{16}|[A-Z2-7]{16})|report-[a-z2-7]{26}/i
const beginnings = ['/account/', '/consumers/enroll/', '/delist/', '_account_', '_delist_'].concat(
  '_consumers_enroll_',
  'whsec_',
  'sp_',
  'spsim_',
)

/** Whether a text has a key that is not hidden by an encoding. */
export function hasPlainKey(text: string): boolean {
  const mayHave = signs.test(text) || beginnings.some((one) => text.includes(one))
  return mayHave && shapes.some((shape) => text.search(shape) >= 0)
}

/** Encodings within encodings are undone up to this depth. */
const DEPTH_MAX = 5

/**
 * Replaces our own keys in a text by asterisks, also where they are encoded in quoted-printable,
 * base64, percent-encoding, character references or UTF-16, or broken over several lines. The
 * length of the text, and every other character, stay the same. For mail that others wrote or
 * quoted, which is shown to other people than its owner; mail that we compose is masked when it is
 * composed. Linear time: base64 that is made to be expensive is masked whole.
 */
export function concealKeys(text: string): string {
  return conceal(text, 0, { left: 16 * text.length + 100_000, searched: new Set() })
}

/** How many characters may still be decoded, and base64 that was searched without result. */
type Effort = { left: number; searched: Set<string> }

function conceal(text: string, depth: number, effort: Effort): string {
  const plain = maskPlain(text)
  if (depth >= DEPTH_MAX) return plain
  const view = unescaped(plain)
  const masked = concealBase64(view === undefined ? plain : view.text, depth, effort)
  if (view === undefined) return masked
  const deep = conceal(masked, depth + 1, effort)
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
  return shapes.reduce(
    (shown, shape) =>
      shown.replace(
        shape,
        (all: string, key: string) => all.slice(0, all.length - key.length) + stars(key),
      ),
    text,
  )
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
 * quotation, the border of two encoded words or parts of a parameter, a place where a page may
 * break a word, the second byte of UTF-16, an octet in quoted-printable or percent-encoding, a
 * character reference, an escape of JSON. An empty line ends a text.
 */
const escape = new RegExp(
  [
    String.raw`\?=\s{1,9}=\?[\w*-]{1,40}\?[BbQq]\?`,
    String.raw`"?;\s{1,9}\w{1,20}\*\d{1,3}\*?="?`,
    String.raw`(?:=[ \t]{0,9})?\r?\n(?!\r?\n)(?:[>| \t]|&gt;)*`,
    // In JSON.
    String.raw`(?:=[ \t]{0,9})?(?:\\r)?\\n(?!(?:\\r)?\\n)(?:[>| ]|\\t)*|\\u[0-9A-Fa-f]{4}|\\/`,
    String.raw`\0|=[0-9A-Fa-f]{2}|%(?:25)*[0-9A-Fa-f]{2}`,
    '&#(?:[xX][0-9A-Fa-f]{2,6}|[0-9]{2,7});?|&(?:amp|gt|lt|quot|sol|commat|lowbar|plus|equals);',
    '<wbr ?/?>|&shy;',
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
  '&sol;': '/',
  '&commat;': '@',
  '&lowbar;': '_',
  '&plus;': '+',
  '&equals;': '=',
  '&shy;': '',
  '\\/': '/',
}

/** The character for an escape: '' for a break, undefined if it is none that a key may have. */
function characterOf(found: string): string | undefined {
  const known = named[found]
  if (known !== undefined) return known
  if (!/^(?:=[0-9A-Fa-f]|[%&]|\\u)/.test(found)) return ''
  const [, decimal, hex = ''] = /^&#(?:(\d+)|[xX]([0-9A-Fa-f]+))/.exec(found) ?? []
  const code = decimal
    ? Number(decimal)
    : Number.parseInt(hex || found.replace(/^\\u|^.*(?=..$)/, ''), 16)
  if (code === 0) return ''
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
  const [, start, digits = '', end = ''] = /^(&#[xX]?)([0-9A-Fa-f]+)(;?)/.exec(original) ?? []
  if (start === undefined) {
    const isNumber = /[0-9A-Fa-f]{2}$/.test(original)
    return isNumber ? `${original.slice(0, -2)}2A` : stars(original)
  }
  return `${start}${(start === '&#' ? '42' : '2A').padStart(digits.length, '0')}${end}`
}

const base64Run = /[A-Za-z0-9+/_-]{32,}/g
/** What every encoded key has: decoded text without it is not searched. */
const hint = /[a-z2-7]{8}|[A-Z2-7]{8}|[\w+/-]{20}|(?:[\w/-]\0){8}/

/** Conceals keys in base64. Text before the first line may shift it, so each shift is tried. */
function concealBase64(text: string, depth: number, effort: Effort): string {
  return text.replace(base64Run, (run) => {
    if (effort.searched.has(run)) return run
    if (effort.left < 0) return stars(run)
    let shown = run
    for (let shift = 0; shift < 4; shift++) {
      const decoded = Buffer.from(shown.slice(shift), 'base64').toString('latin1')
      effort.left -= decoded.length
      if (!hint.test(decoded)) continue
      const concealed = conceal(decoded, depth + 1, effort)
      if (concealed !== decoded) shown = reencoded(shown, shift, decoded, concealed)
    }
    if (shown === run) effort.searched.add(run)
    return shown
  })
}

/** Puts what was changed into base64 of either alphabet. */
function reencoded(run: string, shift: number, before: string, after: string): string {
  const [old, changed] = [before, after].map((text) =>
    Buffer.from(text, 'latin1').toString('base64').replace(/=+$/, ''),
  ) as [string, string]
  const part = Array.from(changed, (digit, at) => (digit === old[at] ? run[shift + at] : digit))
  return run.slice(0, shift) + part.join('') + run.slice(shift + changed.length)
}
