const runBytesMax = 256
const space = 0x20
const tab = 0x09

/**
 * A body whose runs of spaces and tabs have at most 256 bytes. RFC 2045 §6.7 knows no line of
 * quoted-printable with so many, and its decoder takes time by the square of a run: 100 KB of
 * blanks would cost six seconds. The same buffer where no run is longer; linear.
 */
export function withShortBlankRuns(body: Buffer): Buffer {
  const pieces: Buffer[] = []
  let kept = 0
  // A longer run covers at least one of these places.
  for (let at = runBytesMax - 1; at < body.length; at += runBytesMax) {
    if (at < kept || !isBlank(body[at])) continue
    let start = at
    while (start > kept && isBlank(body[start - 1])) start--
    let end = at
    while (isBlank(body[end])) end++
    if (end - start <= runBytesMax) continue
    pieces.push(body.subarray(kept, start + runBytesMax))
    kept = end
  }
  if (pieces.length === 0) return body
  return Buffer.concat([...pieces, body.subarray(kept)])
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === tab
}
