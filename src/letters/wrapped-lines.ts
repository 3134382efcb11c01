const LINE_MAX = 78

/** A paragraph in lines that a mail program shows whole; a link is never broken. */
export function wrappedLines(text: string): string {
  let line = ''
  const lines: string[] = []
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > LINE_MAX) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}
