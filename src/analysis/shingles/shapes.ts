import type { IpAddress } from '../../mail/ip.ts'

const shapeCharsMax = 120
const tokenCharsMin = 6

/**
 * How a token is built, not what it says: `a` for a run of small letters, `A` for capitals, `x` for
 * hexadecimal digits of both kinds, `0` for digits; signs stay.
 */
export function shapeOf(token: string): string {
  return token.slice(0, shapeCharsMax).replace(/[a-z0-9]+/gi, (run) => {
    const width = Math.min(run.length, 40)
    if (/^\d+$/.test(run)) return `0${width}`
    if (/^[0-9a-f]+$/.test(run) && /\d/.test(run)) return `x${width}`
    if (/^[0-9A-F]+$/.test(run) && /\d/.test(run)) return `X${width}`
    if (/^[a-z]+$/.test(run)) return 'a'
    if (/^[A-Z]+$/.test(run)) return 'A'
    return /\d/.test(run) ? 'm' : 'Aa'
  })
}

/** In lower case, with numbers as 0 and what nobody would spell as `*`. */
export function withoutTokens(text: string): string {
  return text.toLowerCase().replace(/[a-z0-9]+/g, (run) => {
    if (!/\d/.test(run)) return run
    const isToken = run.length >= tokenCharsMin && /[a-z]/.test(run) && !/^[a-z]+\d+$/.test(run)
    return isToken ? '*' : run.replace(/\d+/g, '0')
  })
}

/** The /24 of an address, or the /48 for IPv6. */
export function networkOf({ family, text, groups }: IpAddress): string {
  if (family === 4) return `${text.slice(0, text.lastIndexOf('.'))}.0/24`
  const head = groups.slice(0, 3).map((group) => group.toString(16))
  return `${head.join(':')}::/48`
}
