import { expect, test } from 'vitest'
import { composeFeedback } from '../../../src/parsing/compose-report.ts'
import { analyzePlainly } from '../../../src/pieces/analyze.ts'
import { copyIn } from '../../support/copied-message.ts'
import { contentOf } from '../../support/feedback-reports.ts'
import { composeParts } from '../../support/link-kinds.ts'
import { zipOf } from '../../support/packed-files.ts'

/** The text of a copy of a message with an attached archive. */
async function copyOf(archive: Buffer): Promise<string> {
  const header = [
    'Received: from mail.shop.example (mail.shop.example [192.0.2.44]) by mx.reporters.example',
    ' with ESMTPS id 4ABC; Tue, 3 Nov 2026 08:15:00 +0000',
    'From: "Great Offers" <offers@shop.example>',
    'To: "Zoe Quarry" <zoe.quarry4711@reporters.example>',
  ].join('\n')
  const raw = composeParts(header, [{ type: 'application/zip', name: 'a.zip', content: archive }])
  const analysis = await analyzePlainly(raw, { trustedRelays: [], ignoreStamps: false })
  const { text = '' } = await copyIn((await composeFeedback(raw, analysis, contentOf(1))).raw)
  return text
}

test.for([
  ['a program', zipOf({ 'invoice.exe': 'MZ' }), '; files in it that can run: "invoice.exe"'],
  ['a page', zipOf({ 'a.html': 'x' }), '; other files in it: "a.html"'],
  [
    'both',
    zipOf({ 'a.txt': 'x', 'b.js': 'x' }),
    '; files in it that can run: "b.js"; other files in it: "a.txt"',
  ],
  [
    'an encrypted program',
    zipOf({ 'a.scr': 'x' }, 1),
    '; encrypted; files in it that can run: "a.scr"',
  ],
  [
    'macros',
    zipOf({ '[Content_Types].xml': '', 'word/vbaProject.bin': 'x' }),
    '; with macros; files in it that can run: "word/vbaProject.bin"',
  ],
  [
    'many files',
    zipOf(Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`no-${at}.txt`, 'x']))),
    '; 60 more files in it',
  ],
] as const)('a copy tells what is in an archive: %s', async ([, bytes, expected]) => {
  const copy = await copyOf(bytes)
  expect(copy).toContain(expected)
})

test.for([
  'Invoice Zoe Quarry.exe',
  'zoe.quarry4711.js',
  'zoe.quarry4711@reporters.example/run.exe',
  'Users/Zoe Quarry/a.txt',
  'zoe_quarry.pdf.scr',
])('a copy names the files in an archive without the recipient: %s', async (name) => {
  const copy = await copyOf(zipOf({ [name]: 'MZ' }))
  expect(copy).toMatch(/files? in it/)
  expect(copy).not.toMatch(/zoe|quarry/i)
})
