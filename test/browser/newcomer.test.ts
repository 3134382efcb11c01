import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { importNetworks } from '../../src/processes/import-networks.ts'
import { createParserPool } from '../../src/parsing/parser-pool.ts'
import { type Language, textsIn } from '../../src/texts/messages.ts'
import { startWebSite } from '../db/web/web-site.ts'
import { closeAfterTests } from '../support/after-tests.ts'
import { linkTo } from '../support/letters.ts'
import { sampleNetworks, spamMessage } from '../support/messages.ts'
import { createSentFeedback } from '../support/sent-feedback.ts'
import { openPage, signInHere, startChromium } from './chromium.ts'

const site = await closeAfterTests(startWebSite())
/** Behind a proxy, as on a real site: above the pages of a trial is a band. */
const behindProxy = { extraHTTPHeaders: { forwarded: 'for=192.0.2.1' } }
const parser = await closeAfterTests(createParserPool(1))
const browser = await closeAfterTests(startChromium())
await importNetworks(sampleNetworks, site.app)

const telephone = { width: 360, height: 700 }
const languages = [
  ['en', 'en-GB'],
  ['fr', 'fr-FR'],
  ['ru', 'ru-RU'],
] as const satisfies readonly (readonly [Language, string])[]

/** Words read per second by adults, without skipping (Brysbaert, 2019), and seconds per action. */
const WORDS_PER_SECOND = 238 / 60
const SECONDS_PER_ACTION = 3

/** The seconds in which a newcomer must get there, without the delivery of the letter. */
const SECONDS_MAX = 120

/**
 * The words that a page shows outside folded details, without what is marked as unimportant; of the
 * page of a report, the first sentence is enough.
 */
const visibleWords = `(() => {
  const last = document.querySelector('main:has(.stages) .headline')
  const main = (last ?? document.querySelector('main')).cloneNode(true)
  const left = 'details:not([open]) > :not(summary), .quiet, small, .unseen, option, script'
  for (const one of main.querySelectorAll(left)) one.remove()
  return main.textContent.split(/\\s+/).filter((word) => /\\p{L}/u.test(word)).length
})()`

/** Presses Tab until the element has the focus. */
async function reach(page: Page, selector: string): Promise<void> {
  const target = page.locator(`${selector}:focus`)
  for (let presses = 0; presses < 60 && (await target.count()) === 0; presses++) {
    await page.keyboard.press('Tab')
  }
  expect([selector, await target.count()]).toEqual([selector, 1])
}

async function press(page: Page, selector: string): Promise<void> {
  await reach(page, selector)
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
}

test.for(languages)(
  'a newcomer in %s gets from the first page to a told company in two minutes, by keyboard',
  async ([language, locale]) => {
    const texts = textsIn(language)
    const options = { locale, viewport: telephone, javaScriptEnabled: false, ...behindProxy }
    const { page } = await openPage(browser, options)
    // Counts words by the browser's own tools, because the page has no JavaScript.
    const tools = await page.context().newCDPSession(page)
    let [words, actions] = [0, 0]
    const arrive = async (sentence: string) => {
      expect(await page.textContent('main')).toContain(sentence)
      const { result } = await tools.send('Runtime.evaluate', { expression: visibleWords })
      words += Number(result.value)
      actions++
      const { result: wide } = await tools.send('Runtime.evaluate', {
        expression: 'document.documentElement.scrollWidth',
      })
      expect(wide.value).toBe(telephone.width)
    }
    const email = `newcomer-${language}@reporters.example`
    await page.goto(site.url)
    await arrive(texts('home.title'))
    await press(page, 'main a[href="/sign-up"]')
    await arrive(texts('account.signUp.lead'))
    await reach(page, '#email')
    await page.keyboard.type(email)
    await reach(page, '#agree')
    await page.keyboard.press('Space')
    await press(page, 'main button[type=submit]')
    await arrive(texts('account.written.title'))
    await page.goto(`${site.url}${await linkTo(site.app.pool, email)}`)
    await arrive(texts('account.confirm.title'))
    await reach(page, '#password')
    await page.keyboard.type('green lamp over water')
    await press(page, 'main button[type=submit]')
    await arrive(texts('report.lead'))
    const raw = clearSpam(`newcomer ${language}`)
    const file = { name: 'spam.eml', mimeType: 'message/rfc822', buffer: raw }
    await page.setInputFiles('#messages', [file])
    await press(page, '#report button[type=submit]')
    await arrive(texts('sent.recorded'))
    const { rows } = await site.app.pool.query<{ id: string }>(
      'select reports.id from reports join reporters on reporters.id = reporter_id where email = $1',
      [email],
    )
    await createSentFeedback(site.app, parser, rows[0]?.id ?? '')
    await press(page, 'main .results a[href^="/reports/"]')
    await arrive(texts('outcome.told', { desk: 'Example Access Two' }))
    const seconds = words / WORDS_PER_SECOND + actions * SECONDS_PER_ACTION
    expect(actions).toBeLessThanOrEqual(7)
    expect(seconds).toBeLessThan(SECONDS_MAX)
  },
)

/** Composes spam that speaks against itself: the word of a newcomer alone is not forwarded. */
function clearSpam(mark: string): Buffer {
  const link = '<p>Buy <a href="http://watches.example/only-today/from-your-friends">here</a>.</p>'
  const text = spamMessage(mark).toString().replace('text/plain', 'text/html')
  return Buffer.from(text.replace(/^Buy at .*$/m, link))
}

/** The questions of a reader, and the words that answer each, in any language. */
function answersOf(language: Language): Record<string, string> {
  const texts = textsIn(language)
  const country = new Intl.DisplayNames([language], { type: 'region' }).of('DE') ?? ''
  return {
    'Which message is it?': 'Cheap watches ten',
    'Did it arrive?': texts('stages.arrived'),
    'What is it?': texts('story.verdicts.spam'),
    'Was anybody told, and did they answer?': texts('outcome.told', { desk: 'Example Access Two' }),
    'What should I do now?': texts('todo.spam'),
    'Was it dangerous?': texts('danger.spam'),
    'Does anybody learn who I am?': texts('story.anonymous'),
    'What did you write?': texts('story.readMail'),
    'Did others report it too?': texts('story.fewPeople'),
    'Where did it come from?': country,
    'Who does it claim to be?': 'offers@shop.example',
  }
}

const ann = await site.addPerson('ann@reporters.example')
const told = await site.report(ann, spamMessage('ten'))
await createSentFeedback(site.app, parser, told)

test.for(languages)('the questions of a reader in %s are answered at first sight', async (one) => {
  const [language, locale] = one
  for (const javaScriptEnabled of [true, false]) {
    const options = { locale, viewport: telephone, javaScriptEnabled, ...behindProxy }
    const { page } = await openPage(browser, options)
    await page.goto(`${site.url}/sign-in?next=/reports/${told}`)
    await signInHere(page, ann)
    const late: { question: string; bottom: number }[] = []
    for (const [question, answer] of Object.entries(answersOf(language))) {
      const place = page.locator(':not(details *)').getByText(answer).first()
      const box = await place.boundingBox()
      const bottom = box ? box.y + box.height : Number.POSITIVE_INFINITY
      if (bottom > telephone.height) late.push({ question, bottom })
    }
    expect(late).toEqual([])
    await page.context().close()
  }
})

test('the form shows what it understood, and after sending, the row updates itself', async () => {
  const { page, complaints } = await openPage(browser, { viewport: telephone })
  await page.goto(`${site.url}/sign-in?next=/report`)
  await signInHere(page, ann)
  const haste = 'Your account is suspended. Verify your password immediately.'
  const raw = Buffer.from(`${spamMessage('alive').toString()}\r\n${haste}\r\n`)
  await page.setInputFiles('#messages', [
    { name: 'spam.eml', mimeType: 'message/rfc822', buffer: raw },
  ])
  await page.waitForSelector('#understood .verdict.good')
  expect(await page.textContent('#understood')).toContain('Cheap watches alive')
  expect(await page.isChecked('input[value=phishing]')).toBe(true)
  await page.check('input[value=spam]')
  await page.click('#report button[type=submit]')
  await page.waitForSelector('.results .badge.wait')
  const path = (await page.getAttribute('.results a[href^="/reports/"]', 'href')) ?? ''
  await createSentFeedback(site.app, parser, path.replace('/reports/', ''))
  await site.app.pool.query("update reports set state = 'forwarded' where id = $1", [
    path.replace('/reports/', ''),
  ])
  await page.waitForSelector('.results .badge.good')
  expect(await page.textContent('.results')).toContain('Abuse team notified')
  expect(complaints).toEqual([])
})

test('the page of a report updates itself until the report is forwarded', async () => {
  const { page, complaints } = await openPage(browser, { viewport: telephone })
  const id = await site.report(ann, spamMessage('live story'))
  await page.goto(`${site.url}/sign-in?next=/reports/${id}`)
  await signInHere(page, ann)
  expect(await page.textContent('.headline')).toContain('Your report has arrived.')
  await createSentFeedback(site.app, parser, id)
  await page.waitForSelector('.headline.good')
  expect(await page.textContent('.headline')).toContain('We notified Example Access Two')
  expect(await page.getAttribute('#now', 'data-live')).toBe('')
  expect(complaints).toEqual([])
})
