import { expect, test } from 'vitest'
import { parseImport, progressOn } from '../../../src/processes/import-networks.ts'

test('a terminal shows one updated line, a file one line per 100,000 ranges', () => {
  for (const isTTY of [true, false]) {
    const written: string[] = []
    const progress = progressOn({ isTTY, write: (text) => written.push(text) })
    for (let ranges = 0; ranges <= 250_000; ranges += 1_000) progress.tell(ranges)
    progress.end()
    if (isTTY) {
      expect(written.slice(-2)).toEqual(['\r250,000 ranges read', '\n'])
      expect(written.every((text) => text.startsWith('\r') || text === '\n')).toBe(true)
    } else expect(written).toEqual(['100,000 ranges read\n', '200,000 ranges read\n'])
  }
})

test('the command line has the file, and optionally a source and a format', () => {
  expect(parseImport(['networks', 'a.csv'])).toEqual({
    file: 'a.csv',
    source: undefined,
    format: 'auto',
  })
  expect(parseImport(['networks', 'a', '--as', 'b', '--format', 'rir'])).toEqual({
    file: 'a',
    source: 'b',
    format: 'rir',
  })
  for (const args of [[], ['networks'], ['things', 'a'], ['networks', 'a', 'b']]) {
    expect(() => parseImport(args)).toThrow(/Use "import networks FILE"/)
  }
  expect(() => parseImport(['networks', 'a', '--format', 'xml'])).toThrow(/--format must be/)
})
