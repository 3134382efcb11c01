/** Whether a run of base64 digits may say one of some words; never no where it does. */
export type RunTest = (run: string) => boolean

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const valueOf = new Uint8Array(256)
for (const [value, digit] of [...digits].entries()) valueOf[digit.charCodeAt(0)] = value
for (const digit of '+-') valueOf[digit.charCodeAt(0)] = 62
for (const digit of '/_') valueOf[digit.charCodeAt(0)] = 63

/** Three letters, each as if in lower case: it is one bit of theirs. */
const lowerCase = 0x202020
const plainWord = /^[a-z0-9.-]{5,}$/
const bitsOfPlace = 14

/**
 * A test for those words in lower case, each at any place of a run and in either case. Four digits
 * are three letters wherever a word of five letters begins, so every four are looked up: a tenth
 * of what it costs to decode the run four times.
 */
export function base64Test(words: readonly string[]): RunTest {
  if (words.some((word) => !plainWord.test(word))) return () => true
  const places = new Uint8Array(1 << bitsOfPlace)
  for (const word of words) {
    for (const phase of [0, 1, 2]) {
      const [one, two, three] = [0, 1, 2].map((at) => word.charCodeAt(phase + at))
      places[placeOf(((one ?? 0) << 16) | ((two ?? 0) << 8) | (three ?? 0))] = 1
    }
  }
  return (run) => {
    let held = 0
    for (let at = 0; at < run.length; at++) {
      held = ((held << 6) | (valueOf[run.charCodeAt(at)] ?? 0)) & 0xffffff
      if (places[placeOf(held | lowerCase)] === 1) return true
    }
    // The end of a letter may be the padding that completes the last digits.
    return places[placeOf(((held << 6) & 0xffffff) | lowerCase)] === 1
  }
}

function placeOf(letters: number): number {
  return Math.imul(letters, 0x9e3779b1) >>> (32 - bitsOfPlace)
}
