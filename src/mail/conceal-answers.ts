const letter = '[a-z2-7](?:=\\r?\\n)?'
const token = new RegExp(
  `((?:answer/|re-)(?:=\\r?\\n)?(?:${letter}){28}-(?:=\\r?\\n)?)((?:${letter}){16})`,
  'gi',
)

/**
 * The copy of a feedback report for somebody who is not its consumer, such as the reporter: the
 * signatures of its answer links and of its answer address are blotted out, for who has them speaks
 * for the desk. Everything else, and its length, stays to the byte. It sees text in 7 bits and in
 * quoted-printable; not base64.
 */
export function concealAnswers(raw: Buffer): Buffer {
  const text = raw.toString('latin1')
  const blotted = text.replace(token, (_all, kept: string, signature: string) => {
    return kept + signature.replace(/[a-z2-7]/gi, '*')
  })
  return Buffer.from(blotted, 'latin1')
}
