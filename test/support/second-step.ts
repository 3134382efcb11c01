/** Returns the secret on the page for two-step sign-in, from its HTML. */
export function secretOf(html: string): Buffer {
  const text = /<code class="stranger">([A-Z2-7 ]+)<\/code>/.exec(html)?.[1] ?? ''
  let bits = ''
  for (const letter of text.replaceAll(' ', '')) {
    bits += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0')
  }
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
}
