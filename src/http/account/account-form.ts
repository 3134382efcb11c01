import type { Request } from 'express'
import { z } from 'zod'
import type { LetterLanguage } from '../../db/reporter-settings.ts'
import { passwordFault } from '../../intake/account/password-rules.ts'
import { visitOf } from '../pages/visit.ts'
import type { Form } from '../pages/form.ts'

/** What is wrong with which field, in words. */
export type Faults = Record<string, string>

const ADDRESS_CHARS_MAX = 254
/** What a letter can be written to; more may be valid, and is not ours to guess. */
const writable = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,189}$/

/** The mail address of a field in lower case; undefined when it is none. */
export function addressOf(form: Form, name: string): string | undefined {
  const text = form.text(name) ?? ''
  const isAddress = z.email().safeParse(text).success && writable.test(text)
  return isAddress && text.length <= ADDRESS_CHARS_MAX ? text.toLowerCase() : undefined
}

/** A new password, to the byte, or what is wrong with it. */
export async function newPasswordOf(
  req: Request,
  form: Form,
  email: string,
): Promise<{ password: string } | { fault: string }> {
  const password = form.bytes('password')?.toString('utf8') ?? ''
  const fault = await passwordFault(password, email)
  if (!fault) return { password }
  return { fault: visitOf(req).words.account.passwordFaults[fault] }
}

/** One of the languages that letters are written in. */
export function letterLanguageOf(value: unknown): LetterLanguage {
  return value === 'fr' || value === 'ru' ? value : 'en'
}

/** Puts what it is about into a sentence of a catalog. */
export function filled(sentence: string, what: Record<string, string>): string {
  return sentence.replace(/\{(\w+)\}/g, (hole, name: string) => what[name] ?? hole)
}
