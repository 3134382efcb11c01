import { expect, test } from 'vitest'
import { analyzeForCounting } from '../../../src/pieces/analyze.ts'
import { composeParts } from '../../support/link-kinds.ts'
import {
  type Files,
  gzipOf,
  lockedRar,
  officeFile,
  oldRarOf,
  rarOf,
  sevenZipOf,
  tarOf,
  zipOf,
} from '../../support/packed-files.ts'
import { readFiles } from '../../support/read-files.ts'

async function analyzed(name: string, content: Buffer, type = 'application/octet-stream') {
  const header = 'From: a@a.example\nSubject: x'
  const raw = composeParts(header, [
    { type: 'text/plain', content: 'See the file.' },
    { type, name, content },
  ])
  const options = { trustedRelays: [], ignoreStamps: true, readFiles }
  const { analysis, features } = await analyzeForCounting(raw, options)
  return { contents: analysis.attachments[0]?.contents, features: features.attachments }
}

const archives: readonly (readonly [name: string, compose: (files: Files) => Buffer])[] = [
  ['a.zip', zipOf],
  ['a.zip', (files) => Buffer.concat([Buffer.from('PK\x03\x04'), zipOf(files)])],
  ['after.zip', (files) => Buffer.concat([Buffer.from('MZ and more'), zipOf(files)])],
  ['cut.zip', (files) => zipOf({ ...files, 'z.txt': 'z'.repeat(50) }).subarray(0, -90)],
  ['a.tar', tarOf],
  ['a.tgz', (files) => gzipOf('a.tar', tarOf(files))],
  ['a.rar', rarOf],
  ['old.rar', oldRarOf],
  ['a.7z', sevenZipOf],
  ['in.zip', (files) => zipOf({ 'b.zip': zipOf(files) })],
  ['in.rar', (files) => rarOf({ 'b.7z': sevenZipOf(files) })],
  ['in.tgz', (files) => gzipOf('a.tar', tarOf({ 'b.zip': zipOf(files) }))],
]

const dangers = [
  ['invoice.exe', { executables: 1 }],
  ['x/y/run.SCR', { executables: 1 }],
  ['a.js', { scripts: 1 }],
  ['a.pdf.vbs', { scripts: 1, double_extensions: 1 }],
  ['Order.pdf.lnk', { shortcuts: 1, double_extensions: 1 }],
  ['a.iso', { disk_images: 1 }],
  ['a.img', { disk_images: 1 }],
  ['a.hta', { scripts: 1 }],
  ['a.docm', { macros: 1 }],
  ['a.html', { web_pages: 1 }],
  [`invoice.pdf${' '.repeat(60)}.exe`, { executables: 1, disguised_names: 1 }],
] as const

test.for(dangers)('a dangerous name in an archive counts: %s', async ([danger, expected]) => {
  const { contents, features } = await analyzed(
    'a.zip',
    zipOf({ 'readme.txt': 'x', [danger]: 'MZ' }),
  )
  expect(contents?.names?.some((one) => one.endsWith(danger))).toBe(true)
  expect(features).toMatchObject({ archives: 1, encrypted_archives: 0, ...expected })
})

test.for(archives)('all names in %s are known', async ([name, compose]) => {
  const names = dangers.map(([danger]) => danger)
  const files = Object.fromEntries(['readme.txt', ...names].map((one) => [one, 'MZ']))
  const { contents, features } = await analyzed(name, compose(files))
  for (const danger of names) {
    expect(
      contents?.names?.some((one) => one.endsWith(danger)),
      danger,
    ).toBe(true)
  }
  expect(features).toMatchObject({ archives: 1, encrypted_archives: 0, executables: 3 })
})

test('the name in a gzip file counts, or that of the file itself', async () => {
  expect((await analyzed('a.gz', gzipOf('run.exe', 'MZ'))).features.executables).toBe(1)
  const unnamed = gzipOf('', 'MZ')
  unnamed[3] = 0
  expect((await analyzed('run.vbs.gz', unnamed)).features.scripts).toBe(1)
})

test.for([
  ['a zip archive', 'a.zip', zipOf({ 'a.exe': 'x' }, 1)],
  [
    'a zip archive of which one file is',
    'a.zip',
    Buffer.concat([zipOf({ a: 'x' }), zipOf({ b: 'x' }, 1)]),
  ],
  ['a 7z archive', 'a.7z', sevenZipOf({ 'a.exe': 'x' }, true)],
  ['the names of a RAR archive', 'a.rar', lockedRar()],
  ['an archive in another', 'a.zip', zipOf({ 'b.7z': sevenZipOf({ 'a.exe': 'x' }, true) })],
] as const)('encryption is noticed: %s', async ([, name, content]) => {
  const { contents, features } = await analyzed(name, content)
  expect(contents?.isEncrypted).toBe(true)
  expect(features.encrypted_archives).toBe(1)
})

const ole = (name: string) =>
  Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(1_200_000),
    Buffer.from(`${name}\0`, 'utf16le'),
  ])

test.for([
  [
    'a document',
    'a.docx',
    officeFile('word/document.xml', '#x', 'x', { 'word/vbaProject.bin': 'x' }),
  ],
  [
    'a table',
    'a.xlsx',
    officeFile('xl/workbook.xml', '#x', 'x', { 'xl/macrosheets/sheet1.xml': 'x' }),
  ],
  [
    'a part with another name',
    'a.docx',
    officeFile('word/document.xml', 'x.bin', 'vbaProject', { 'word/x.bin': 'x' }),
  ],
  ['an older document', 'a.doc', ole('_VBA_PROJECT')],
  ['a document in an archive', 'a.zip', zipOf({ 'a.doc': 'x', 'b.xlsm': 'x' })],
  ['a document inside', 'a.zip', zipOf({ 'a.docx': zipOf({ 'word/vbaProject.bin': 'x' }) })],
] as const)('macros are noticed: %s', async ([, name, content]) => {
  const { contents, features } = await analyzed(name, content)
  expect(contents?.hasMacros).toBe(true)
  expect(features.macros).toBe(1)
})

test('a document without macros has no contents to tell', async () => {
  expect((await analyzed('a.docx', officeFile('word/document.xml', '#x'))).contents).toBeUndefined()
  expect((await analyzed('a.doc', ole('WordDocument'))).contents).toBeUndefined()
})

test('many names do not hide a program, and are counted', async () => {
  const decoys = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`${at}.txt`, '']))
  for (const compose of [zipOf, tarOf, rarOf]) {
    const { contents, features } = await analyzed('a.zip', compose({ ...decoys, 'z.exe': 'MZ' }))
    expect(contents?.names).toHaveLength(50)
    expect(contents?.names).toContain('z.exe')
    expect(contents?.more).toBe(2_951)
    expect(features.executables).toBe(1)
  }
})

test('an attached message tells the names of its files', async () => {
  const inner = composeParts('From: a@a.example\nSubject: x', [
    { type: 'application/zip', name: 'b.zip', content: zipOf({ 'c.exe': 'x' }) },
  ])
  const { contents, features } = await analyzed('a.eml', inner, 'message/rfc822')
  expect(contents?.names).toEqual(['b.zip', 'c.exe'])
  expect(features).toMatchObject({ messages: 1, executables: 1 })
})

test.for([
  ['zip', zipOf({ 'a.html': 'x'.repeat(60_000_000) })],
  ['gzip', gzipOf('a.html', Buffer.alloc(200_000_000, 'x'))],
  [
    'zip in zip',
    zipOf({ 'b.zip': zipOf({ 'c.zip': zipOf({ 'd.zip': zipOf({ 'e.zip': 'x' }) }) }) }),
  ],
  ['7z', sevenZipOf({ 'a.exe': 'x' }).subarray(0, 50)],
  ['RAR', rarOf({ 'a.exe': 'x' }).fill(0xff, 20, 40)],
  ['marks', Buffer.from('PK\x03\x04\x14\0\0\0\0\0'.repeat(200_000), 'latin1')],
  ['RTF', Buffer.from(`{\\rtf${"\\'\\u{\\*".repeat(300_000)}`)],
] as const)('a hostile file costs little: %s', async ([, content]) => {
  const start = process.cpuUsage()
  await analyzed('a.bin', content)
  expect(process.cpuUsage(start).user).toBeLessThan(2_000_000)
})
