const ownLine = /^X-Mozilla-(Status2?|Keys):/i
const LONGEST_NAME = 'X-Mozilla-Status2:'.length
const LF = 0x0a

/**
 * Removes the lines that Thunderbird stores above a message (`X-Mozilla-Status`, `-Status2` and
 * `-Keys`, with CRLF or LF). Lines with these names further down belong to the message.
 */
export function withoutOwnLines(raw: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  let start = 0
  while (ownLine.test(String.fromCharCode(...raw.subarray(start, start + LONGEST_NAME)))) {
    const end = raw.indexOf(LF, start)
    if (end < 0) break
    start = end + 1
  }
  return raw.subarray(start)
}
