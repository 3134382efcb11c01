import type { Attachment } from '../attachments.ts'
import { plainLine } from '../disguise/plain-text.ts'
import { withoutTokens } from './shapes.ts'
import type { ShingleList } from './shingle-list.ts'

/** What is smaller is a signature's dot or an empty part. */
const bytesMin = 20

/** Adds what is attached or embedded. */
export function addFiles(list: ShingleList, attachments: readonly Attachment[]): void {
  const types = new Set<string>()
  for (const { name, type, bytes, sha256 } of attachments) {
    if (bytes < bytesMin) continue
    if (type.startsWith('image/')) {
      list.add('image', sha256)
      list.add('image-type-and-size', `${type} ${bytes}`)
      continue
    }
    types.add(type)
    list.add('attachment', sha256)
    list.add('attachment-type-and-size', `${type} ${bytes}`)
    if (name !== null) addName(list, name, type)
  }
  list.add('attachment-set', [...types].sort().join(' '))
}

function addName(list: ShingleList, name: string, type: string): void {
  const dot = name.lastIndexOf('.')
  const extension = dot < 0 ? '' : name.slice(dot + 1, dot + 12).toLowerCase()
  const stem = dot < 0 ? name : name.slice(0, dot)
  list.add('attachment-extension', `${extension} ${type}`)
  list.add('attachment-name', `${plainLine(stem)}.${extension}`)
  list.add('attachment-name-shape', `${withoutTokens(stem)}.${extension}`)
}
