const mask = (1n << 64n) - 1n
const rounds = 24
const rateBytes = 136

/** Keccak-256 as Ethereum has it: SHA-3 before NIST changed its padding. For short texts. */
export function keccak256(text: string): Uint8Array {
  const lanes = Array<bigint>(25).fill(0n)
  const padded = new Uint8Array(rateBytes * (Math.floor(text.length / rateBytes) + 1))
  padded.set(Buffer.from(text, 'latin1'))
  padded[text.length] = 0x01
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80
  const view = new DataView(padded.buffer)
  for (let block = 0; block < padded.length; block += rateBytes) {
    for (let lane = 0; lane < rateBytes / 8; lane++) {
      lanes[lane] = (lanes[lane] ?? 0n) ^ view.getBigUint64(block + lane * 8, true)
    }
    permute(lanes)
  }
  const digest = new DataView(new ArrayBuffer(32))
  for (let lane = 0; lane < 4; lane++) digest.setBigUint64(lane * 8, lanes[lane] ?? 0n, true)
  return new Uint8Array(digest.buffer)
}

/** Keccak-f[1600] (FIPS 202 §3.2). */
function permute(lanes: bigint[]): void {
  const at = (index: number) => lanes[index] ?? 0n
  let register = 1
  for (let round = 0; round < rounds; round++) {
    const columns = [0, 1, 2, 3, 4].map(
      (x) => at(x) ^ at(x + 5) ^ at(x + 10) ^ at(x + 15) ^ at(x + 20),
    )
    for (let x = 0; x < 5; x++) {
      const mixed = (columns[(x + 4) % 5] ?? 0n) ^ rotated(columns[(x + 1) % 5] ?? 0n, 1)
      for (let y = 0; y < 25; y += 5) lanes[x + y] = at(x + y) ^ mixed
    }
    let [x, y] = [1, 0]
    let current = at(1)
    for (let step = 0; step < 24; step++) {
      ;[x, y] = [y, (2 * x + 3 * y) % 5]
      const kept = at(x + 5 * y)
      lanes[x + 5 * y] = rotated(current, (((step + 1) * (step + 2)) / 2) % 64)
      current = kept
    }
    for (let row = 0; row < 25; row += 5) {
      const old = lanes.slice(row, row + 5)
      for (let column = 0; column < 5; column++) {
        const and = ~(old[(column + 1) % 5] ?? 0n) & mask & (old[(column + 2) % 5] ?? 0n)
        lanes[row + column] = (old[column] ?? 0n) ^ and
      }
    }
    for (let bit = 0; bit < 7; bit++) {
      if ((register & 1) === 1) lanes[0] = at(0) ^ (1n << BigInt((1 << bit) - 1))
      register = (register << 1) ^ (register >> 7 === 1 ? 0x171 : 0)
    }
  }
}

function rotated(lane: bigint, bits: number): bigint {
  const by = BigInt(bits)
  return ((lane << by) | (lane >> (64n - by))) & mask
}
