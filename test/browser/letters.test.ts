import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { allLetters } from '../support/all-letters.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { faultsOf } from './axe.ts'
import { openPage, startChromium } from './chromium.ts'

const browser = await closeAfterTests(startChromium())

/** Set to a folder, keeps the letters and their pictures there, for people who change letters. */
const folder = process.env['LETTERS_FOLDER']

/** Each pair of language, scheme and width occurs. */
const looks = (['en', 'fr', 'ru'] as const).flatMap((language, at) =>
  (['light', 'dark'] as const).map((colorScheme, other) => ({
    language,
    colorScheme,
    width: (at + other) % 2 === 0 ? 360 : 700,
  })),
)

/** Rules about pages of a site, which a mail is not. */
const siteRules = ['title', 'h1', 'document-title', 'landmark-one-main', 'region']
const others = [...siteRules, 'page-has-heading-one', 'heading-order', 'target-size', 'target']

test.for(looks)(
  'every letter is readable in $language, $colorScheme, at $width px',
  async (look) => {
    const { language, colorScheme, width } = look
    const viewport = { width, height: 800 }
    const { page, complaints } = await openPage(browser, { viewport, colorScheme })
    const requests: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    for (const { name, subject, text, html } of allLetters(language)) {
      await page.setContent(html)
      const found = (await faultsOf(page)).filter(({ rule }) => !others.includes(rule))
      expect([name, found]).toEqual([name, []])
      if (folder === undefined) continue
      await mkdir(folder, { recursive: true })
      const file = path.join(folder, `${name}.${language}`)
      await page.screenshot({ path: `${file}.${colorScheme}.${width}.png`, fullPage: true })
      await writeFile(`${file}.txt`, `${subject}\n\n${text}`)
    }
    expect(requests).toEqual([])
    expect(complaints).toEqual([])
  },
)
