/** Whether bytes are a message as Apple Mail keeps it: how long it is, then the message. */
export function looksEmlx(bytes: Buffer): boolean {
  return /^\d{1,9} {0,10}\r?\n[\x21-\x39\x3b-\x7e]{1,80}:/.test(bytes.toString('latin1', 0, 200))
}

/** The message of such a file, without its first line and the list of Apple's behind it. */
export function readEmlx(bytes: Buffer): Buffer {
  const start = bytes.indexOf(0x0a) + 1
  const length = Number.parseInt(bytes.toString('latin1', 0, 10), 10)
  return bytes.subarray(start, start + length)
}
