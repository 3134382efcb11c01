/** Which way somebody spoke of a campaign; withdrawn: not any more. */
export type Side = 'good' | 'bad' | 'withdrawn'

/** Who reported a campaign, and whether his karma has changed by it. */
export type Witness = {
  reporterId: string
  side: Side
  isProven: boolean
  isSettled: boolean
}

/** What somebody says of a campaign. */
export type Testimony = Omit<Witness, 'isSettled'>

/** The witnesses of a campaign after a testimony, and whose karma changes. */
export type Settled = { witnesses: Witness[]; agreed: string[]; contradicted: string[] }

/** Later ones are not kept: who came first is whom the others agree with. */
export const WITNESSES_MAX = 32
/** One may err, or have been bought to raise a crowd. */
const CONTRADICTORS_MIN = 2
const AGREEING_MIN = { proven: 1, newcomer: 2 }

/**
 * Hears one more witness. Karma is settled once for each reporter and campaign: he gains when
 * other proven reporters say the same and none the opposite, a newcomer when two do, and loses
 * when two say the opposite and none the same. So a crowd of newcomers gains nothing by agreeing
 * with itself, nor with one whom somebody proved for it.
 */
export function testify(before: readonly Witness[], testimony: Testimony): Settled {
  const { reporterId } = testimony
  const old = before.find((one) => one.reporterId === reporterId)
  const witness: Witness = { ...testimony, isSettled: old?.isSettled ?? false }
  const witnesses = before.filter((one) => one !== old).map((one) => ({ ...one }))
  witnesses.push(witness)
  const agreed: string[] = []
  const contradicted: string[] = []
  for (const one of witnesses) {
    if (one.isSettled || one.side === 'withdrawn') continue
    const others = witnesses.filter(
      (other) => other !== one && other.isProven && other.side !== 'withdrawn',
    )
    const same = others.filter(({ side }) => side === one.side).length
    const opposite = others.length - same
    const enough = one.isProven ? AGREEING_MIN.proven : AGREEING_MIN.newcomer
    if (same >= enough && opposite === 0) agreed.push(one.reporterId)
    else if (same === 0 && opposite >= CONTRADICTORS_MIN) contradicted.push(one.reporterId)
    else continue
    one.isSettled = true
  }
  return { witnesses: roomFor(witnesses), agreed, contradicted }
}

/** Without one that is too many: one withdrawn, else the last not proven, else the last. */
function roomFor(witnesses: Witness[]): Witness[] {
  if (witnesses.length <= WITNESSES_MAX) return witnesses
  const withdrawn = witnesses.findIndex(({ side }) => side === 'withdrawn')
  const unproven = witnesses.findLastIndex(({ isProven }) => !isProven)
  const gone = [withdrawn, unproven, witnesses.length - 1].find((index) => index >= 0)
  return witnesses.filter((_, index) => index !== gone)
}

const sides: readonly Side[] = ['good', 'bad', 'withdrawn']
const WITNESS_BYTES = 17
const PROVEN = 4
const SETTLED = 8

/** Witnesses in bytes, 17 each. */
export function packWitnesses(witnesses: readonly Witness[]): Buffer {
  const bytes = Buffer.alloc(witnesses.length * WITNESS_BYTES)
  for (const [index, { reporterId, side, isProven, isSettled }] of witnesses.entries()) {
    const at = index * WITNESS_BYTES
    bytes.write(reporterId.replaceAll('-', ''), at, 'hex')
    const flags = (isProven ? PROVEN : 0) | (isSettled ? SETTLED : 0)
    bytes.writeUInt8(sides.indexOf(side) | flags, at + 16)
  }
  return bytes
}

/** Reads what `packWitnesses` wrote. */
export function unpackWitnesses(bytes: Buffer): Witness[] {
  return Array.from({ length: Math.floor(bytes.length / WITNESS_BYTES) }, (_, index) => {
    const at = index * WITNESS_BYTES
    const flags = bytes.readUInt8(at + 16)
    return {
      reporterId: uuidAt(bytes, at),
      side: sides[flags & 3] ?? 'withdrawn',
      isProven: (flags & PROVEN) !== 0,
      isSettled: (flags & SETTLED) !== 0,
    }
  })
}

/** The 16 bytes there, written as a UUID. */
export function uuidAt(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + 16)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
