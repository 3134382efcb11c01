import { type AskedPiece, pieceAsWritten } from '../../analysis/questions/asked-pieces.ts'
import { guessKind } from '../../analysis/questions/guess-kind.ts'
import {
  askedPieces,
  questionKinds,
  type QuestionName,
} from '../../analysis/questions/question-kinds.ts'
import { pieceTypes, type PieceName } from '../../analysis/shingles/piece-types.ts'

/** What somebody asks, as it was understood. */
export type Question =
  | { kind: QuestionName; isGuessed: boolean; value: string }
  /** A piece as it is hashed, by the name of its type. */
  | { type: PieceName; value: string }
  /** The hash of a piece: 16 hexadecimal digits. */
  | { hash: string }

/** What was given; empty texts are absent. */
export type Given = Readonly<Partial<Record<'kind' | 'value' | 'type' | 'hash', string>>>

/** What the pieces of a question are, of a hash without their types; or what is wrong, in words. */
export type ReadQuestion =
  { question: Question; pieces: readonly (AskedPiece | { hash: string })[] } | { fault: string }

/** The kinds one may ask about, those asked most first. */
export const kindNames: readonly string[] = questionKinds.map(({ name }) => name)

/** The kinds with what a value of each is, and an example. */
export const kindsForPeople: readonly { name: string; is: string; example: string }[] =
  questionKinds.map(({ name, is, example }) => ({ name, is, example }))

/** Longer ones are not read. */
export const VALUE_CHARS_MAX = 8_000

/**
 * Reads a question: a value with its kind, or without one, which is then guessed; a piece as it is
 * written with its type; or a hash.
 */
export function readQuestion({ kind, value, type, hash }: Given): ReadQuestion {
  if ([kind, type, hash].filter(Boolean).length > 1) {
    return { fault: 'Say only one of kind, type and hash.' }
  }
  if (hash) return readHash(hash)
  if (!value?.trim()) return { fault: `Say the value that you ask about. ${kindsSentence()}` }
  if (value.length > VALUE_CHARS_MAX) {
    return { fault: `The value is longer than ${VALUE_CHARS_MAX} characters.` }
  }
  if (type) return readTyped(type, value)
  if (!kind && /^[0-9a-f]{16}$/i.test(value.trim())) return readHash(value)
  const known = questionKinds.find(({ name }) => name === (kind || guessKind(value)))
  if (!known) return { fault: `There is no kind "${kind?.slice(0, 40)}". ${kindsSentence()}` }
  const pieces = askedPieces(known.name, value)
  if (pieces.length === 0 && !kind) {
    return { fault: `There is nothing in this that could be counted. ${kindsSentence()}` }
  }
  if (pieces.length === 0) {
    return { fault: `This is not ${known.is}, like ${known.example}` }
  }
  return { question: { kind: known.name, isGuessed: !kind, value }, pieces }
}

function readHash(hash: string): ReadQuestion {
  const digits = hash.trim().toLowerCase()
  if (!/^[0-9a-f]{16}$/.test(digits)) return { fault: 'A hash has 16 hexadecimal digits.' }
  return { question: { hash: digits }, pieces: [{ hash: digits }] }
}

function readTyped(type: string, value: string): ReadQuestion {
  const known = Object.values(pieceTypes).find(({ name }) => name === type)
  if (!known) {
    const names = Object.keys(pieceTypes).join(', ')
    return { fault: `There is no type "${type.slice(0, 40)}". The types are ${names}.` }
  }
  return { question: { type: known.name, value }, pieces: [pieceAsWritten(known.name, value)] }
}

function kindsSentence(): string {
  return `The kinds are ${kindNames.join(', ')}.`
}
