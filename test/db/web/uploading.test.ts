import { expect, test } from 'vitest'
import type { ReportJson } from '../../../src/web/api/reports.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { outlookFile, traveledHeader } from '../../support/containers/outlook-file.ts'
import { zipFile } from '../../support/containers/zip-file.ts'
import { signedInBrowser } from './browser.ts'
import { sampleMessage, startWebSite } from './web-site.ts'

const site = await closeAfterTests(startWebSite({ MESSAGE_BYTES_MAX: '1000000' }))
const ann = await site.addPerson('ann@reporters.example')
const browser = await signedInBrowser(site.url, ann)

type File = [name: string, content: Buffer<ArrayBuffer>, type?: string]

async function send(files: readonly File[], fields: Record<string, string> = {}) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  for (const [name, content, type = 'text/html'] of files) {
    form.append('messages', new Blob([content], { type }), name)
  }
  const answer = await browser.postForm('/report', form)
  return { status: answer.status, answer, page: await answer.text() }
}

/** Returns the lines of an answer as text: subject, author and state, or the reason of a refusal. */
function linesOf(page: string): string[] {
  const [, list = ''] = /<ul class="rows results">(.*?)<\/ul>/s.exec(page) ?? []
  return [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line = '']) =>
    line
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .replace(' :', ':')
      .trim(),
  )
}

const asFile = (bytes: Buffer) => Buffer.from(bytes)

test('each file has a line, and a refused file delays no other', async () => {
  const known = sampleMessage('known')
  await send([['known.eml', known]])
  const { status, page } = await send([
    ['one.eml', sampleMessage('one')],
    ['known.eml', known],
    ['big.eml', Buffer.concat([sampleMessage('big'), Buffer.alloc(1_000_000, 'x')])],
    ['picture.png', Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1')],
    ['sent.msg', asFile(outlookFile({ text: 'never traveled' }))],
    ['got.msg', asFile(outlookFile({ header: traveledHeader, text: 'Buy' }))],
    [
      'all.zip',
      asFile(
        zipFile([
          { name: 'in.eml', content: sampleMessage('zipped') },
          { name: 'locked.eml', content: sampleMessage('locked'), flags: 1 },
          { name: 'more.zip', content: zipFile([]) },
        ]),
      ),
    ],
    ['broken.zip', Buffer.from('PK\x03\x04 and no more', 'latin1')],
  ])
  expect(status).toBe(200)
  expect(page).toContain('Your report has been recorded')
  const lines = linesOf(page)
  const start = [
    'Cheap watches one offers@shop.example Being analyzed one.eml',
    'Cheap watches known offers@shop.example Being analyzed known.eml – you had reported this',
    'big.eml: It is too big. not recorded',
    'picture.png: This is not a complete mail message.',
    'sent.msg: This Outlook file does not show how the message reached you',
    'Cheap watches offers@shop.example Being analyzed got.msg',
    'Cheap watches zipped offers@shop.example Being analyzed all.zip › in.eml',
    'all.zip › locked.eml: The archive is protected by a password.',
    'all.zip › more.zip: It is an archive inside an archive.',
    'broken.zip: The file is damaged',
  ]
  expect(lines.map((line, at) => line.slice(0, start[at]?.length))).toEqual(start)
  expect(lines[5]).toContain('We cannot check who signed it.')
  expect(page).toContain('1 of these you had reported before.')
  expect(page).toContain('6 files could not be read')
  expect(page).toContain('href="/help/source/outlook-classic"')
})

test('a rebuilt message is marked as such wherever its report is shown', async () => {
  const header = traveledHeader.replace('Cheap watches', 'Rebuilt')
  const { page } = await send([['a.msg', asFile(outlookFile({ header, text: 'x' }))]])
  const [, id = ''] = /\/reports\/([0-9a-f-]{36})/.exec(page) ?? []
  const headers = { authorization: `Bearer ${ann.token}` }
  const answer = await fetch(`${site.url}/api/v1/reports/${id}`, { headers })
  expect(((await answer.json()) as ReportJson).rebuilt_from).toBe('msg')
  expect(await (await browser.get(`/reports/${id}`)).text()).toContain('so we rebuilt it')
})

test('a message reported before is not shown as recorded now', async () => {
  const known = sampleMessage('reported before')
  await send([['known.eml', known]])
  const again = await send([['known.eml', known]])
  const { page } = await send([
    ['known.eml', known],
    ['picture.png', Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1')],
  ])
  for (const { page: told } of [again, { page }]) {
    expect(told).toContain('<p>Nothing new: you had already reported this</p>')
    expect(told).not.toContain('Your report has been recorded')
  }
  expect(again.page).not.toContain('could not be read')
  expect(page).toContain('1 file could not be read: see below.')
})

test('if nothing was recorded, the answer has the status of the first refusal', async () => {
  const { status, page } = await send([['sent.msg', asFile(outlookFile({ text: 'x' }))]])
  expect(status).toBe(422)
  expect(page).toContain('Nothing could be recorded')
  expect(page).not.toContain('Votre signalement a été enregistré')
})

test('the unpacked size of all files of an upload is limited', async () => {
  const content = Buffer.concat([sampleMessage('full'), Buffer.alloc(900_000, 'x')])
  const archive = asFile(
    zipFile(
      ['a', 'b'].map((name) => ({ name, content: Buffer.concat([content, Buffer.from(name)]) })),
    ),
  )
  const { page } = await send([
    ['1.zip', archive],
    ['2.zip', archive],
  ])
  expect(linesOf(page)).toEqual([
    expect.stringMatching(/ 1\.zip › a$/),
    expect.stringMatching(/ 1\.zip › b$/),
    expect.stringMatching(/^2\.zip › a: .* not recorded$/),
    expect.stringMatching(/^2\.zip › b: .* not recorded$/),
  ])
})

test('entered text stays in the form when it was refused', async () => {
  const typed = { kind: 'phishing', comment: 'From <my> "bank"', 'reporting[raw_email]': ' ' }
  const { status, page } = await send([], typed)
  expect(status).toBe(422)
  expect(page).toContain('value="phishing" checked')
  expect(page).toContain('value="From &lt;my&gt; &quot;bank&quot;"')
  expect(page).toMatch(/aria-describedby="raw-help problem" aria-invalid="true"/)
  const two = ['a.eml', 'b.eml'].map((name): File => [name, sampleMessage(name)])
  const lost = await send(two, { kind: 'nonsense', comment: 'kept' })
  expect(lost.page).toContain('Please choose your files again')
  expect(lost.page).toContain('value="kept"')
})

test('a file name with markup or a path is shown without effect', async () => {
  const { page } = await send([['../../<script>alert(1)</script>.eml', sampleMessage('name')]])
  expect(page).not.toContain('<script>alert')
})

test('an uploaded file is only returned as a message to download, whatever its type', async () => {
  const { page } = await send([['a.html', sampleMessage('served'), 'text/html']])
  const [, id = ''] = /\/reports\/([0-9a-f-]{36})/.exec(page) ?? []
  const story = await (await browser.get(`/reports/${id}`)).text()
  const [, path = ''] = new RegExp(`href="(/reports/${id}/[^"]+\\.eml)"`).exec(story) ?? []
  const answer = await browser.get(path)
  expect(answer.headers.get('content-type')).not.toContain('html')
  expect(answer.headers.get('content-disposition')).toContain('attachment')
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
})

test.for(['en', 'fr', 'ru'])('the help pages in %s cover each mail program', async (language) => {
  const index = await (await browser.get(`/help?lang=${language}`)).text()
  const paths = [...index.matchAll(/href="(\/help\/source\/[a-z-]+)"/g)].map(
    ([, path = '']) => path,
  )
  expect(paths.length).toBe(20)
  for (const path of paths) {
    const answer = await browser.get(`${path}?lang=${language}`)
    expect([path, answer.status]).toEqual([path, 200])
    expect(await answer.text()).toContain('<ol>')
  }
  expect((await browser.get('/help/source/__proto__')).status).toBe(404)
})
