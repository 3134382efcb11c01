import { readFileSync } from 'node:fs'
import path from 'node:path'

const file = path.join(import.meta.dirname, '..', '..', 'verdict', 'rules', 'shipped-rules.yaml')

let kept: string | undefined

/** The rules that the program brings: they act while nobody has applied others. */
export function shippedRules(): string {
  return (kept ??= readFileSync(file, 'utf8'))
}
