import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { quadOf } from '../../src/mail/ip-blocks.ts'
import { chanceFrom } from '../../test/support/chance.ts'

/** Prefix lengths by frequency, about as in current routing tables. */
const lengths4 = [24, 24, 24, 24, 24, 24, 23, 22, 22, 21, 20, 19, 18]
const lengths6 = [48, 48, 48, 48, 46, 44, 40, 36, 32, 32, 32]
const FIRST_4 = 0x0100_0000
const LAST_4 = 0xdfff_ffff
/** The first 48 bits of 2400::. */
const FIRST_6 = 0x2400_0000_0000
const HOLES = 0.06
const ODD_RANGES = 0.08

/**
 * Writes an IP-to-AS table of consecutive ranges, a fifth of them IPv6, some of them not aligned to
 * blocks, and a registry's table of larger blocks around the IPv4 ones.
 */
export async function writeTables(
  files: { as: string; registry: string },
  ranges: number,
): Promise<void> {
  const chance = chanceFrom(4)
  const pick = (lengths: readonly number[]) => lengths[Math.floor(chance() * lengths.length)] ?? 24
  const as = createWriteStream(files.as)
  const put = async (first: string, last: string) => {
    const number = 1 + Math.floor(chance() * 90_000)
    const who = chance() < HOLES ? '0\tNone\tNot routed' : `${number}\tFR\tNETWORK-${number} Ltd.`
    if (!as.write(`${first}\t${last}\t${who}\n`)) await once(as, 'drain')
  }
  let at = FIRST_4
  for (let row = 0; row < ranges * 0.8 && at < LAST_4; row++) {
    const block = 2 ** (32 - pick(lengths4))
    at = Math.ceil(at / block) * block
    const size = block * (chance() < ODD_RANGES ? 1.5 : 1)
    await put(quadOf(at), quadOf(at + size - 1))
    at += size
  }
  for (let row = 0, from = FIRST_6; row < ranges * 0.2; row++) {
    const size = 2 ** (48 - pick(lengths6))
    from = Math.ceil(from / size) * size
    await put(`${six(from)}::`, `${six(from + size - 1)}:ffff:ffff:ffff:ffff:ffff`)
    from += size
  }
  as.end()
  await once(as, 'finish')
  const registry = createWriteStream(files.registry)
  for (let block = FIRST_4; block < at; block += 2 ** 14) {
    const line = `ripencc|FR|ipv4|${quadOf(block)}|${2 ** 14}|20200101|allocated|x\n`
    if (!registry.write(line)) await once(registry, 'drain')
  }
  registry.end()
  await once(registry, 'finish')
}

/** Returns random addresses in the part of the Internet that the tables cover. */
export function addresses(family: 4 | 6, count: number, seed: number): string[] {
  const chance = chanceFrom(seed)
  return Array.from({ length: count }, () => {
    if (family === 4) return quadOf(FIRST_4 + Math.floor(chance() * 0x6000_0000))
    return `${six(FIRST_6 + Math.floor(chance() * 2 ** 36))}::${Math.floor(chance() * 9_999)}`
  })
}

function six(top: number): string {
  return top
    .toString(16)
    .padStart(12, '0')
    .replace(/(.{4})(?=.)/g, '$1:')
}
