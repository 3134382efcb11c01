/** Why a password is not taken. */
export type PasswordFault = 'short' | 'long' | 'common' | 'own-name'

/** What a new password needs (NIST SP 800-63B: length, and nothing that is guessed first). */
export const PASSWORD_CHARS_MIN = 10
const PASSWORD_BYTES_MAX = 1_024
/** Part of an address that is too short to make a password guessable. */
const NAME_CHARS_MIN = 4

let common: Promise<ReadonlySet<string>> | undefined

/**
 * What is wrong with a new password, or undefined. Only its length counts, and that nobody would
 * try it among the first: it is none of the 49,000 that are most used, with or without digits and
 * signs behind it, nor the address or our name with nothing to speak of beside it.
 */
export async function passwordFault(
  password: string,
  email: string,
): Promise<PasswordFault | undefined> {
  if (Array.from(password).length < PASSWORD_CHARS_MIN) return 'short'
  if (Buffer.byteLength(password) > PASSWORD_BYTES_MAX) return 'long'
  const plain = password.toLowerCase()
  if (isOwnName(plain, email.toLowerCase())) return 'own-name'
  const known = await (common ??= readCommon())
  const word = plain.replace(/[^\p{L}]+$/u, '')
  if (known.has(plain) || isSequence(plain)) return 'common'
  return known.has(word) && plain.length - word.length < 5 ? 'common' : undefined
}

/** The most used passwords, loaded by the first who chooses one. */
async function readCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].map(String))
}

/** The address or our name, and little else. */
function isOwnName(plain: string, email: string): boolean {
  const [local = ''] = email.split('@')
  return [email, local, 'signalpost'].some(
    (name) =>
      name.length >= NAME_CHARS_MIN &&
      plain.includes(name) &&
      plain.length - name.length < NAME_CHARS_MIN + 1,
  )
}

/** One character over and over, two that take turns, or a run such as `abcdefghij`. */
function isSequence(plain: string): boolean {
  if (new Set(plain).size <= 2) return true
  const codes = Array.from(plain, (character) => character.codePointAt(0) ?? 0)
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)))
  return steps.size === 1
}
