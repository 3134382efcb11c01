const letter = '[a-z2-7](?:=\\r?\\n)?'
const token = new RegExp(
  `((?:answer/|re-)(?:=\\r?\\n)?(?:${letter}){28}-(?:=\\r?\\n)?)((?:${letter}){16})`,
  'gi',
)

const base64Lines = /(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/]{76}\r?\n)+[A-Za-z0-9+/]{0,76}={0,2}/g

/**
 * The copy of a feedback report for somebody who is not its consumer, such as the reporter: the
 * signatures of its answer links and of its answer address are blotted out, for who has them speaks
 * for the desk. Everything else, and its length, stays to the byte. It sees text in 7 bits, in
 * quoted-printable, and in lines of base64 as the JSON of XARF leaves.
 */
export function concealAnswers(raw: Buffer): Buffer {
  const text = blotted(raw.toString('latin1')).replace(base64Lines, (lines) => {
    const inside = Buffer.from(lines, 'base64').toString('latin1')
    const concealed = blotted(inside)
    if (concealed === inside) return lines
    const digits = Buffer.from(concealed, 'latin1').toString('base64')
    let at = 0
    return lines.replace(/[A-Za-z0-9+/=]/g, () => digits.charAt(at++))
  })
  return Buffer.from(text, 'latin1')
}

function blotted(text: string): string {
  return text.replace(token, (_all, kept: string, signature: string) => {
    return kept + signature.replace(/[a-z2-7]/gi, '*')
  })
}
