import type { HeaderField } from '../mail/header.ts'

const names = new Set([
  'x-sender-ip',
  'authentication-results',
  'received-spf',
  'x-incomingtopheadermarker',
  'x-originating-ip',
])
const prefixes = ['arc-', 'x-ms-', 'x-microsoft-', 'x-forefront-', 'x-google-', 'x-pm-']

/** The fields without the verdicts that a receiving provider stamped on the message. */
export function withoutStamps(fields: readonly HeaderField[]): HeaderField[] {
  return fields.filter(
    ({ key }) => !names.has(key) && !prefixes.some((prefix) => key.startsWith(prefix)),
  )
}
