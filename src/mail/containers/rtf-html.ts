import { deEncapsulateSync } from 'rtf-stream-parser'
import { readCompressedRtf } from './compressed-rtf.ts'

const rtfBytesMax = 2_000_000
/** Each level costs the library time for every byte; real mail has some ten. */
const nestingMax = 40

/**
 * The HTML that Outlook wrapped in RTF (MS-OXRTFEX), undefined where the RTF is of another making:
 * then nobody sent it, the reader's own program made it. Takes 0.5 s a megabyte. Never throws.
 */
export function htmlOfRtf(compressed: Buffer): string | undefined {
  const rtf = readCompressedRtf(compressed, rtfBytesMax)
  if (!rtf?.subarray(0, 200).includes('\\fromhtml') || isTooDeep(rtf)) return undefined
  try {
    const { mode, text } = deEncapsulateSync(rtf, { mode: 'html', prefix: false, decode })
    return mode === 'html' ? text.toString() : undefined
  } catch {
    return undefined
  }
}

function isTooDeep(rtf: Buffer): boolean {
  let depth = 0
  for (const byte of rtf) {
    if (byte === 0x7b) depth++
    else if (byte === 0x7d) depth--
    if (depth > nestingMax) return true
  }
  return false
}

function decode(bytes: Buffer, codepage: string): string {
  const name = codepage.toLowerCase().replace(/^cp(125\d|874)$/, 'windows-$1')
  const known = { cp932: 'shift_jis', cp936: 'gbk', cp949: 'euc-kr', cp950: 'big5' }[name] ?? name
  try {
    return new TextDecoder(known).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}
