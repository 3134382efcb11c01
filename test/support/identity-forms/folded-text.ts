/** Letters that look like a Latin one, or that Unicode does not take apart. */
const lookalikes: Readonly<Record<string, string>> = {
  ...pairs('АВЕКМНОРСТХІЅЈҺУԌԚԜ', 'ABEKMHOPCTXISJHYGQW'),
  ...pairs('ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'ABEZHIKMNOPTYX'),
  ...pairs('ıłøđħŧȷ', 'ilodhtj'),
  ς: 'σ',
  ß: 'ss',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
}

/**
 * Returns a text in the form in which texts are compared: compatibility forms, look-alikes, accents
 * and digits of all scripts are made plain, and characters that cannot be seen are removed. The
 * case is kept.
 */
export function foldText(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}\u115f\u1160\u3164\uffa0]/gu, '')
    .normalize('NFKC')
    .replace(/[^\x00-\x7f]/gu, (letter) => lookalikes[letter] ?? digitOf(letter) ?? letter)
}

/** Returns the letters and digits of a folded text, in lower case. */
export function squeezeText(text: string): string {
  return foldText(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** The decimal digits of a script are ten consecutive characters that begin at a multiple of ten. */
function digitOf(letter: string): string | undefined {
  if (!/^\p{Nd}$/u.test(letter)) return undefined
  let zero = letter.codePointAt(0) ?? 0
  const value = zero
  while (value - zero < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero--
  return String(value - zero)
}

/** Pairs of letters, in both cases: texts are compared in small letters after they were folded. */
function pairs(from: string, to: string): Record<string, string> {
  const plain = [...to]
  const both = [...from].map((letter, index) => [letter, plain[index] ?? letter] as const)
  return Object.fromEntries([
    ...both,
    ...both.map(([letter, one]) => [letter.toLowerCase(), one.toLowerCase()]),
    ...both.map(([letter, one]) => [letter.toUpperCase(), one.toUpperCase()]),
  ])
}
