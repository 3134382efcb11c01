import { parseBase64 } from '../bodies/body-tasks.ts'
import type { Form } from '../pages/form.ts'
import type { UploadedFile } from './take-upload.ts'

/** The field with the pasted message; older clients send it. */
export const pastedField = 'reporting[raw_email]'
const BLANK_START_MAX = 64_000

/** The field with a shared file in base64, and the one with its name. */
export const sharedField = { content: 'shared', name: 'shared_name' }

/** Returns the files of a report form: the pasted message, the shared file, then the others. */
export function filesOf(form: Form, pastedName: string): UploadedFile[] {
  const pasted = form.bytes(pastedField)
  // A message does not start with this much whitespace, so the rest need not be searched.
  const isPasted = pasted?.subarray(0, BLANK_START_MAX).some((byte) => byte > 0x20) ?? false
  const files = form.files('messages')
  return [
    ...(pasted && isPasted
      ? [{ name: pastedName, bytes: withoutBlankStart(pasted), isCut: form.isCut(pastedField) }]
      : []),
    ...sharedFiles(form),
    ...files.map(({ fileName, content, isCut }) => {
      return { name: fileName ?? '', bytes: content, isCut }
    }),
  ]
}

function sharedFiles(form: Form): UploadedFile[] {
  const bytes = parseBase64(form.bytes(sharedField.content)?.toString('latin1') ?? '')
  if (!bytes || bytes.length === 0) return []
  const isCut = form.isCut(sharedField.content)
  return [{ name: form.text(sharedField.name) ?? '', bytes, isCut }]
}

/**
 * Removes leading blank lines, which users may paste accidentally; a header does not start with
 * one.
 */
function withoutBlankStart(pasted: Buffer): Buffer {
  let start = 0
  while (pasted[start] === 0x0a || pasted[start] === 0x0d) start++
  return pasted.subarray(start)
}
