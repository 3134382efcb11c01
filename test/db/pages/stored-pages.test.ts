import { expect, test } from 'vitest'
import { deleteExpiredRows } from '../../../src/db/expired-rows.ts'
import {
  listPageReports,
  loadPage,
  lockPage,
  type Page,
  type PageReport,
  putPageReports,
  readSharedPages,
  removePage,
  removePageReports,
  type SeenPage,
  touchPages,
  updatePage,
} from '../../../src/db/pages.ts'
import { uuidv7 } from '../../../src/world.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { freshDatabase } from '../../support/database.ts'

const { pool } = await closeAfterTests(freshDatabase())
const noon = new Date('2026-11-22T12:00:00Z')
const hours = (count: number) => new Date(noon.getTime() + count * 3_600_000)

async function touch(key: string, change: Partial<SeenPage> = {}): Promise<Page> {
  const [page] = await touchPages(pool, [
    {
      ...{ id: uuidv7(noon), key, url: `https://${key}`, host: key.split('/')[0] ?? '' },
      ...{ scope: 'host', type: 'phishing', imitates: null, through: [], lastSeen: noon },
      ...change,
    },
  ])
  if (!page) throw new Error('The page is missing.')
  return page
}

function confirm(page: Page, at: Date, change: Partial<Page> = {}): Promise<void> {
  const confirmed = { state: 'confirmed', confirmedBy: 'person', confirmedAt: at } as const
  return updatePage(pool, { ...page, ...confirmed, shared: true, ...change })
}

function reportOf({ id }: Page, change: Partial<PageReport> = {}): PageReport {
  return {
    ...{ pageId: id, reportId: uuidv7(noon), url: 'https://a.example/1', seenAt: noon },
    ...{ campaignId: null, reporterId: uuidv7(noon), isVouched: false, isProven: false },
    ...{ isYoung: false, circle: 0, recipient: Buffer.alloc(8), isAccusing: true },
    ...{ isSupported: true, decision: null, signs: ['brand', 'foreign'] },
    ...change,
  }
}

test('a page keeps its id, and knows when it was first and last seen', async () => {
  const first = await touch('twice.example/login', { lastSeen: hours(1), imitates: 'Bank' })
  const second = await touch('twice.example/login', { lastSeen: hours(3), scope: 'path' })
  await touch('twice.example/login', { lastSeen: hours(-2) })
  expect(second.id).toBe(first.id)
  expect(await loadPage(pool, first.id)).toMatchObject({
    ...{ firstSeen: hours(-2), lastSeen: hours(3), imitates: 'Bank', state: 'seen' },
    ...{ url: 'https://twice.example/login', confirmedAt: null, reports: 0 },
  })
})

test('the same page of two messages is one row', async () => {
  const page = {
    ...({ host: 'b.example', scope: 'host', type: 'phishing' } as const),
    ...{ imitates: null, through: [] },
  }
  const seen = [2, 1].map((at) => {
    return { ...page, id: uuidv7(noon), key: 'b.example/', url: `https://b.example/?${at}` }
  })
  const found = await touchPages(
    pool,
    seen.map((one, at) => ({ ...one, lastSeen: hours(at) })),
  )
  expect(found).toMatchObject([{ url: 'https://b.example/?1' }])
})

test('confirmed pages are read if reporters share the URL', async () => {
  const early = await touch('early.feed.example/')
  const late = await touch('late.feed.example/')
  const coded = await touch('coded.feed.example/')
  await touch('seen.feed.example/')
  await confirm(early, hours(1))
  await confirm(late, hours(5))
  await confirm(coded, hours(5), { shared: false })
  const read = async (which: Partial<Parameters<typeof readSharedPages>[1]>) => {
    const pages = await readSharedPages(pool, { limit: 10, ...which })
    return pages.map(({ id }) => id)
  }
  expect(await read({})).toEqual([early.id, late.id].toSorted())
  const [first = ''] = await read({ limit: 1 })
  expect(await read({ after: first })).toEqual([early.id, late.id].filter((id) => id !== first))
})

test('what a report said is stored once, and taken back', async () => {
  const page = await touch('reported.example/')
  const row = reportOf(page)
  await putPageReports(pool, [row])
  await putPageReports(pool, [{ ...row, isSupported: false }])
  expect(await listPageReports(pool, page.id, 10)).toEqual([{ ...row, isSupported: false }])
  expect(await removePageReports(pool, [row.reportId])).toEqual([page.id])
  expect(await listPageReports(pool, page.id, 10)).toEqual([])
})

test('pages and what reports said about them expire', async () => {
  const old = await touch('old.example/', { lastSeen: hours(-48) })
  const page = await touch('current.example/')
  const gone = reportOf(page, { reportId: uuidv7(hours(-48)) })
  const kept = reportOf(page)
  await putPageReports(pool, [reportOf(old), gone, kept])
  await deleteExpiredRows(pool, { page_reports: hours(-24), pages: hours(-24) })
  expect(await loadPage(pool, old.id)).toBeUndefined()
  expect(await listPageReports(pool, page.id, 10)).toEqual([kept])
  expect(await lockPage(pool, old.id)).toBeUndefined()
  expect(await lockPage(pool, page.id)).toMatchObject({ id: page.id })
  await removePage(pool, page.id)
  expect(await listPageReports(pool, page.id, 10)).toEqual([])
})
