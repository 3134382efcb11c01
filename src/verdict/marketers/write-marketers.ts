import { stringify } from 'yaml'
import { type Marketer, writtenMarketer } from './marketer.ts'

/** Marketers as a file that can be read back: YAML for people, JSON lines for programs. */
export function writeMarketers(marketers: readonly Marketer[], format: 'yaml' | 'jsonl'): string {
  const written = marketers.map(writtenMarketer)
  if (format === 'jsonl') return written.map((one) => `${JSON.stringify(one)}\n`).join('')
  return written.length === 0 ? '[]\n' : stringify(written, { version: '1.2', lineWidth: 100 })
}
